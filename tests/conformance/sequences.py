"""Whole sequences of operations, done on our log from nothing. What is compared after each is what is stored and seen.

Once a difference that is meant has changed the history, later answers are those to another history; from then on
everything that must hold of any history is checked after each step. Steps are a minute apart: the data's clock
would have the guards against running in circles see them all at once.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from roo_tui.context.history.effective import active_markers, effective_history, hidden_ids
from roo_tui.context.history.log import Log
from roo_tui.context.window.guards import Guards
from roo_tui.domain.blocks import tool_results
from roo_tui.domain.entries import AssistantMessage, Body, Entry, Noted, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.store.exchange.roo_code import from_tagged, to_tagged
from tests.conformance.condensing import Outcome, end_of, path_with, run, same_end
from tests.conformance.managing import inputs_of, outcome_of, reduced
from tests.conformance.rewinding import head_before, is_persons, takes_no_more
from tests.conformance.rule import FakeModel, RuleCounter
from tests.conformance.tagged import Json, append, json_of, of_visible, plain_blocks
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

    `taken` are the times of messages a rewind of ours took and the recorded one left, `kept` the other way round.
    """

    found: Findings
    log: Log = field(default_factory=Log)
    events: list[Json] = field(default_factory=list)
    step: int = 0
    taken: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    counter: RuleCounter = field(default_factory=RuleCounter)

    def __post_init__(self) -> None:
        self.guards = Guards(lambda: self.step * _MINUTE_S)

    @property
    def diverged(self) -> bool:
        """Whether the history is another one by now than the recorded one."""
        return bool(self.taken or self.kept or self.found.reasons.keys() - {"late-result-goes-as-text"})


def sequence(given: Json, recorded: Any, found: Findings) -> None:
    """Do all steps; after each one that has an answer, compare what is stored and what is seen."""
    results = {result["step"]: result for result in recorded["results"]}
    steps = given["steps"]
    here = _Run(found)
    for number, step in enumerate(steps):
        here.step = number
        match step["op"]:
            case "ui":
                here.events.append(step["message"])
            case "api":
                ((body, at_ms),) = from_tagged([step["message"]])
                append(here.log, body, at_ms)
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
    given["messages"] = to_tagged(path, active_markers(path))
    visible = effective_history(path)
    if step["op"] == "summarizeConversation":
        tokens = here.counter.count_request((given["systemPrompt"],), (), visible)
        inputs, model = inputs_of(given, path, tokens, trigger="manual", environment="")
        outcome = run(inputs, model, given, here.counter)
        bodies: Sequence[Body] = [body for body in (outcome.marker, outcome.failure) if body is not None]
    else:
        tokens = given["totalTokens"] + here.counter.count_messages(visible[-1:])
        trigger = "forced" if step["forced"] else "automatic"
        inputs, model = inputs_of(given, path, tokens, trigger=trigger)
        bodies = asyncio.run(reduced(inputs, model, given, here.guards))
        outcome = _outcome(bodies, model)
    _compare_ends(given, recorded, inputs, outcome, bodies, here)
    _compare_truncation(recorded, path, bodies, here)
    for body in bodies:
        append(here.log, body, at_ms)


def _outcome(bodies: Sequence[Body], model: FakeModel) -> Outcome:
    summaries = [body for body in bodies if isinstance(body, Condense)]
    failures = [body for body in bodies if isinstance(body, CondenseFailed)]
    if summaries or failures:
        return outcome_of(summaries, failures, model)
    held = any(isinstance(body, Noted) for body in bodies)
    return Outcome("held back" if held else "not asked for")


def _compare_ends(
    given: Json, recorded: Json, inputs: Any, outcome: Outcome, bodies: Sequence[Body], here: _Run
) -> None:
    truncated_only = "error" not in recorded and "condenseId" not in recorded
    expected = "not asked for" if truncated_only else end_of(recorded)
    if outcome.kind == expected:
        return
    if outcome.kind == "held back":
        here.found.better("guards")
        return
    trial = Findings()
    same_end(given, expected, inputs, outcome, trial)
    if trial.wrong and here.diverged:
        # The history is another one by now.
        told = outcome.kind != "failed" or outcome.message == given["handler"].get("raises", {}).get("message")
        here.found.check(told, f"{expected} was recorded, ours: {outcome.message}")
        return
    here.found.reasons.update(trial.reasons)
    here.found.wrong += trial.wrong


def _compare_truncation(recorded: Json, path: Sequence[Entry], bodies: Sequence[Body], here: _Run) -> None:
    marker = next((body for body in bodies if isinstance(body, Truncation)), None)
    for body in bodies:
        if isinstance(body, Condense):
            path = path_with(path, body)
    if marker is not None:
        is_sound(path, marker, here.counter, here.found)
        if "truncationId" not in recorded:
            here.found.check(here.diverged, "ours was truncated too")
    elif "truncationId" in recorded:
        nothing_can_go(path, here.counter, here.found)
        here.found.better("truncation-must-free")


def _compare(here: _Run, recorded: Json) -> None:
    """Compare the messages stored, and those of them that are in the request."""
    path, found = here.log.path(), here.found
    stored = [one["ts"] for one in recorded["api_state"] if not _is_marked(one)]
    own = [entry.at_ms for entry in path if _is_message(entry)]
    ours = [at_ms for at_ms in own if at_ms not in here.kept]
    found.expect("messages stored", [at_ms for at_ms in stored if at_ms not in here.taken], ours)
    visible = effective_history(path)
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
    more = [
        by_id[one.entry_id].body for one in visible if one.source == "entry" and one.entry_id not in _ids(path, seen)
    ]
    if set(seen) <= set(shown) and all(isinstance(body, UserMessage) for body in more):
        for body in more:
            found.better("late-result-goes-as-text" if tool_results(body.blocks) else "open-question-stays")
    else:
        found.check(here.diverged, f"seen: {seen} was recorded, ours is {shown}")


def _compare_end(here: _Run, recorded: Sequence[Json]) -> None:
    """Compare the last request, as long as both are of the same messages: then each message's blocks are in it."""
    visible, found = effective_history(here.log.path()), here.found
    all_is_sent(visible, found)
    left = [block for message in recorded for block in plain_blocks(message["content"])]
    for entry in here.log.entries:
        if _is_message(entry) and entry.at_ms in here.taken:
            left = [block for block in left if block not in json_of(entry.body.blocks)]
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
    shown, hidden = {one.entry_id for one in visible}, hidden_ids(path)
    messages: set[EntryId] = {entry.id for entry in path if _is_message(entry)}
    found.expect("messages neither seen nor hidden", set(), messages - shown - hidden)
    found.expect("messages seen and hidden", set(), shown & hidden)


def _ids(path: Sequence[Entry], times: Sequence[int]) -> set[EntryId]:
    return {entry.id for entry in path if _is_message(entry) and entry.at_ms in times}


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


def _is_message(entry: Entry) -> bool:
    return isinstance(entry.body, UserMessage | AssistantMessage)


def _is_marked(message: Json) -> bool:
    return bool(message.get("isSummary") or message.get("isTruncationMarker"))
