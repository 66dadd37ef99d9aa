"""Whole sequences of operations, done on our log from nothing. What is compared after each is what is stored and seen.

Once a difference that is meant has changed the history, later answers are those to another history; from then on
everything that must hold of any history is checked after each step.

Each sequence is done twice. Once its steps are more than a minute apart, so that no guard counts attempts; once all of
them are made at one moment, where guards must hold condenses back and nothing is compared with the recorded answers.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from roo_tui.context.guards import Guards
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.domain.blocks import Block, tool_results
from roo_tui.domain.entries import AssistantMessage, Body, Entry, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.store.exchange.roo_code import from_tagged
from tests.conformance.condensing import Outcome, end_of, in_our_words, path_with, run, same_end, summary_is_right
from tests.conformance.due import FORCED_PERCENT, GuardRule, answer_of, end_due
from tests.conformance.histories import Json, overhead_tokens, plain_blocks, tokens_of_all
from tests.conformance.managing import (
    bounds_are_right,
    guard_due,
    guards_hold,
    inputs_of,
    is_due,
    outcome_of,
    reduced,
)
from tests.conformance.rewinding import head_before, is_persons, takes_no_more
from tests.conformance.rule import FakeModel, RuleCounter
from tests.conformance.tagged import append, json_of, of_visible, tagged_whole
from tests.conformance.truncating import is_sound, nothing_can_go
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent

_MINUTE_S = 61.0
_MANUAL: Json = {
    "contextWindow": 200_000,
    "autoCondenseContext": True,
    "autoCondenseContextPercent": 100,
    "profileThresholds": {},
    "currentProfileId": "",
}


@dataclass
class _Run:
    """A sequence under way.

    `said` are the messages imported so far. `taken` are the times of messages a rewind of ours took and the recorded
    one left, `kept` the other way round.
    """

    found: Findings
    log: Log = field(default_factory=Log)
    events: list[Json] = field(default_factory=list)
    said: list[Json] = field(default_factory=list)
    step: int = 0
    step_s: float = _MINUTE_S
    taken: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    counter: RuleCounter = field(default_factory=RuleCounter)

    def __post_init__(self) -> None:
        self.guards = Guards(self.clock)
        self.guard_rule = GuardRule()

    def clock(self) -> float:
        """Return the seconds at this step."""
        return self.step * self.step_s

    def newest_content(self) -> EntryId | None:
        """Return the newest message, None where a condense or its failure came after it."""
        for entry in reversed(self.log.path()):
            if _is_message(entry):
                return entry.id
            if isinstance(entry.body, Condense | CondenseFailed):
                break
        return None

    def imported(self, message: Json) -> tuple[Body, int]:
        """Return a message as the importer reads it after those on the path, whose calls tell what a result is of."""
        times = {entry.at_ms for entry in self.log.path()}
        self.said = [*(one for one in self.said if one["ts"] in times), message]
        return from_tagged(self.said)[-1]

    @property
    def diverged(self) -> bool:
        """Whether the history is another one by now than the recorded one."""
        return bool(self.taken or self.kept or self.found.reasons.keys() - {"late-result-goes-as-text"})


def sequence(given: Json, recorded: Any, found: Findings) -> None:
    """Do all steps; after each one that has an answer, compare what is stored and what is seen."""
    _do(_Run(found), given["steps"], recorded)
    # Another history from the first guard on: what must hold of any is all that counts.
    at_once = Findings({"guards": "attempts at one moment"})
    _do(_Run(at_once, step_s=0.0), given["steps"], recorded)
    found.wrong += [f"all at once: {wrong}" for wrong in at_once.wrong]


def _do(here: _Run, steps: Sequence[Json], recorded: Any) -> None:
    results = {result["step"]: result for result in recorded["results"]}
    for number, step in enumerate(steps):
        here.step = number
        match step["op"]:
            case "ui":
                here.events.append(step["message"])
            case "api":
                append(here.log, *here.imported(step["message"]))
            case "drop_last_api":
                here.log.move(_newest_message(here.log).parent_id)
            case "rewindToTimestamp":
                _rewind(here, step, results[number])
            case _:
                _change(here, step, _told_at(steps, number), results[number]["result"])
        if number in results:
            _compare(here, results[number])
    _compare_end(here, recorded["final_request"])


def _rewind(here: _Run, step: Json, recorded: Json) -> None:
    place = next(at for at, event in enumerate(here.events) if event.get("ts") == step["ts"])
    keep_it = bool(step.get("includeTargetMessage"))
    before = here.log.path()
    here.log.move(head_before(here.log, here.events, place, keep_it=keep_it))
    event = here.events[place]
    theirs = {one["ts"] for one in recorded["api_state"]}
    left = {entry.at_ms for entry in here.log.path()}
    more = {
        entry.at_ms
        for entry in here.log.entries
        if _is_message(entry) and entry.at_ms in theirs - left - here.taken and entry.at_ms >= event["ts"]
    }
    gone = [entry for entry in before if entry not in here.log.path()]
    more_is_right = takes_no_more(event, place, here.log.path(), gone)
    if more and here.found.check(more_is_right, f"a rewind to {event} takes too much"):
        here.taken |= more
        here.found.better("rewind-takes-the-answer")
    answers = [one.at_ms for one in here.log.path() if isinstance(one.body, AssistantMessage)]
    for at_ms in left - theirs - here.kept:
        early = is_persons(event, place) and at_ms in answers and at_ms >= event["ts"]
        if early and here.found.check(at_ms == max(left), f"a rewind to {event} leaves too much"):
            here.kept.add(at_ms)
            here.found.better("early-words-keep-the-answer")
    del here.events[place + keep_it :]


def _change(here: _Run, step: Json, at_ms: int, recorded: Json) -> None:
    """Run a condense by hand, or what is done about a context that is too full, and append what comes of it."""
    path = here.log.path()
    given = {**_MANUAL, **step["options"], "handler": step["handler"]}
    given["messages"] = tagged_whole(path)
    history = in_our_words(given["messages"], path, here.found)
    if step["op"] == "summarizeConversation":
        tokens = overhead_tokens(given) + tokens_of_all(history)
        inputs, model = inputs_of(given, path, tokens, trigger="manual", environment="")
        outcome = run(inputs, model, given, here.counter)
        bodies: Sequence[Body] = [body for body in (outcome.marker, outcome.failure) if body is not None]
        _compare_ends(given, recorded, outcome, here)
    else:
        tokens = given["totalTokens"] + tokens_of_all(history[-1:])
        trigger = "forced" if step["forced"] else "automatic"
        inputs, model = inputs_of(given, path, tokens, trigger=trigger)
        bodies = asyncio.run(reduced(inputs, model, given, here.guards))
        _manage(here, given, recorded, inputs, model, bodies)
    for body in bodies:
        if isinstance(body, Condense):
            summary_is_right(given, body, inputs, here.found)
        append(here.log, body, at_ms)


def _manage(
    here: _Run, given: Json, recorded: Json, inputs: ReductionInput, model: FakeModel, bodies: Sequence[Body]
) -> None:
    """Check what is done about a context against what is due: guards, condense, truncation."""
    bounds = bounds_are_right(given, inputs.limits, inputs.context_tokens, here.found)
    forced = inputs.trigger == "forced"
    if not forced and not is_due(inputs.context_tokens, bounds, given):
        here.found.expect("what is done", (), tuple(bodies))
        return
    content, now_s = here.newest_content(), here.clock()
    guard = guard_due(given, inputs, bounds, here.guard_rule, content, now_s)
    tried = guards_hold(given, guard, bodies, model, here.found)
    if guard:
        here.found.better("guards")
    summaries = [body for body in bodies if isinstance(body, Condense)]
    failures = [body for body in bodies if isinstance(body, CondenseFailed)]
    if tried:
        due = end_due(given, answer_of(given["handler"]))
        if summaries or failures:
            _compare_ends(given, recorded, outcome_of(summaries, failures, model), here)
        else:
            here.found.expect("a refusal told before", "refused", due.kind)
        left = summaries[0].figures.tokens_after if summaries else inputs.context_tokens
        here.guard_rule.note(due.kind, content, now_s, enough=bool(summaries) and left < bounds.trigger)
    most = bounds.window * FORCED_PERCENT // 100 if forced else bounds.allowed
    over = forced or bounds.decide(inputs.context_tokens) == "over"
    enough = bool(summaries) and summaries[0].figures.tokens_after <= most
    _compare_truncation(here, recorded, inputs.path, bodies, may=over and not enough)


def _compare_ends(given: Json, recorded: Json, outcome: Outcome, here: _Run) -> None:
    """Check how a condense ended; why the recorded one ended differently only counts for the same history."""
    trial = Findings()
    truncated_only = "error" not in recorded and "condenseId" not in recorded
    due = end_due(given, answer_of(given["handler"]))
    same_end(given, due.kind if truncated_only or here.diverged else end_of(recorded), outcome, trial)
    here.found.reasons.update(trial.reasons)
    here.found.wrong += trial.wrong


def _compare_truncation(
    here: _Run, recorded: Json, path: Sequence[Entry], bodies: Sequence[Body], *, may: bool
) -> None:
    marker = next((body for body in bodies if isinstance(body, Truncation)), None)
    for body in bodies:
        if isinstance(body, Condense):
            path = path_with(path, body)
    here.found.check(marker is None or may, "truncated though there is room")
    if marker is not None:
        is_sound(path, marker, here.found)
        if "truncationId" not in recorded:
            here.found.check(here.diverged, "ours was truncated too")
    elif may:
        nothing_can_go(of_visible(effective_history(path)), here.found)
    if marker is None and "truncationId" in recorded:
        here.found.better("truncation-must-free")


def _compare(here: _Run, recorded: Json) -> None:
    """Compare the messages stored, and those of them that are in the request."""
    path, found = here.log.path(), here.found
    stored = [one["ts"] for one in recorded["api_state"] if not _is_marked(one)]
    own = [entry.at_ms for entry in path if _is_message(entry)]
    ours = [at_ms for at_ms in own if at_ms not in here.kept]
    found.expect("messages stored", [at_ms for at_ms in stored if at_ms not in here.taken], ours)
    visible = effective_history(path)
    in_our_words(tagged_whole(path), path, found)
    all_is_sent(visible, found)
    _nothing_is_lost(path, visible, found)
    seen = [at_ms for at_ms in recorded["effective_ts"] if at_ms in ours]
    by_id = {entry.id: entry for entry in path}
    shown = [by_id[one.entry_id].at_ms for one in visible if one.source == "entry"]
    shown = [at_ms for at_ms in shown if at_ms not in here.kept]
    if seen == shown:
        return
    if any(isinstance(entry.body, Truncation) for entry in path):
        found.better("legal-cut-at-half")
        return
    more = [entry for one in visible if (entry := by_id[one.entry_id]).at_ms in shown and entry.at_ms not in seen]
    if set(seen) <= set(shown) and all(isinstance(entry.body, UserMessage) for entry in more):
        for entry in more:
            found.better("late-result-goes-as-text" if tool_results(_blocks(entry)) else "open-question-stays")
    else:
        found.check(here.diverged, f"seen: {seen} was recorded, ours is {shown}")


def _compare_end(here: _Run, recorded: Sequence[Json]) -> None:
    """Compare the last request, as long as both are of the same messages: then each message's blocks are in it."""
    visible, found = effective_history(here.log.path()), here.found
    all_is_sent(visible, found)
    left = [block for message in recorded for block in plain_blocks(message["content"])]
    for entry in here.log.entries:
        if _is_message(entry) and entry.at_ms in here.taken:
            left = [block for block in left if block not in json_of(_blocks(entry))]
    for one, message in zip(visible, of_visible(visible), strict=True):
        for block in message.blocks if one.source == "entry" else ():
            if block in left:
                left.remove(block)
            else:
                late = block["type"] == "tool_result"
                found.check(late or here.diverged, f"not in the recorded request: {block}")
                if late and not here.diverged:
                    found.better("late-result-goes-as-text")
    texts = [block.get("text", "") for block in left]
    extra = [text for text in texts if not text.startswith(("## Conversation Summary", "[Sliding", "<"))]
    found.check(not extra or here.diverged, f"only in the recorded request: {extra}")


def _nothing_is_lost(path: Sequence[Entry], visible: Sequence[Any], found: Findings) -> None:
    """Each message on the path is in the effective history or hidden by a marker that is on, never both."""
    shown = {one.entry_id for one in visible}
    hidden = {one for entry in path if isinstance(entry.body, Condense | Truncation) for one in entry.body.hides}
    messages: set[EntryId] = {entry.id for entry in path if _is_message(entry)}
    found.expect("messages neither seen nor hidden", set(), messages - shown - hidden)
    found.expect("messages seen and hidden", set(), shown & hidden)


def _told_at(steps: Sequence[Json], number: int) -> int:
    """Return when the interface told of a step: the time of the last event made of it."""
    at_ms = int(steps[number]["now"])
    for step in steps[number + 1 :]:
        if step["op"] != "ui" or not step.get("derived"):
            break
        at_ms = step["message"]["ts"]
    return at_ms


def _newest_message(log: Log) -> Entry:
    return next(entry for entry in reversed(log.path()) if _is_message(entry))


def _blocks(entry: Entry) -> tuple[Block, ...]:
    return entry.body.blocks if isinstance(entry.body, UserMessage | AssistantMessage) else ()


def _is_message(entry: Entry) -> bool:
    return isinstance(entry.body, UserMessage | AssistantMessage)


def _is_marked(message: Json) -> bool:
    return bool(message.get("isSummary") or message.get("isTruncationMarker"))
