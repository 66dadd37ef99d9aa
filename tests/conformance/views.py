"""What the model sees of a history: effective history, requests, repairs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from roo_tui.context.condense.cut_point import command_blocks, messages_since_summary, standing_commands
from roo_tui.context.condense.request import fresh
from roo_tui.context.history.effective import Visible, active_markers, effective_history
from roo_tui.context.history.pairing import open_calls
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import AssistantMessage, UserMessage
from roo_tui.domain.requests import ModelInfo
from tests.conformance.accounting import account, is_synthetic, text_of
from tests.conformance.histories import Json, Plain, is_hidden, plain, seen
from tests.conformance.placing import results_stand_right
from tests.conformance.tagged import (
    log_of,
    next_request,
    of_request,
    of_visible,
    plain_all,
    sent,
    untagged,
)
from tests.conformance.verdict import Findings
from tests.conformance.words import late_result
from tests.support.api_rules import violations
from tests.support.tagged_export import to_tagged

_LIKE_A_COMMAND = re.compile(r"<command[^>]*>")
_COMMAND = re.compile(r"<command[\s>]")
_INSTRUCTION = "Write it down."


def effective(given: Json, recorded: Any, found: Findings) -> None:
    """The effective history has the same messages, and the request made of it has all of them."""
    visible = effective_history(log_of(given["messages"]).path())
    same_history(plain_all(recorded), visible, found)


def since_summary(given: Json, recorded: Any, found: Findings) -> None:
    """What a condense starts from is the part since the last summary, without what is hidden in it."""
    messages = given["messages"]
    visible = effective_history(log_of(messages).path())
    own = seen(messages)
    first = max((at for at, one in enumerate(own) if one.kind == "summary"), default=None)
    since = None if first is None else len(own) - first - 1
    found.expect("messages since the summary", since, messages_since_summary(visible))
    start = first or 0
    shown = [message for message in recorded["messages"] if not is_hidden(message, messages)]
    if len(shown) < len(recorded["messages"]):
        found.better("hidden-messages-stay-out")
    same_history(plain_all(shown), visible[start:], found)


def merge(given: Json, recorded: Any, found: Findings) -> None:
    """The request has the same content in the same order; tags play no part in it."""
    visible = effective_history(log_of(untagged(given["messages"])).path())
    account(plain_all(recorded), sent(visible), found)
    results_stand_right(seen(untagged(given["messages"])), sent(visible), found)


def cleanup(given: Json, recorded: Any, found: Findings) -> None:
    """After a rewind the same messages are hidden: those whose marker is still there."""
    path = log_of(given["messages"]).path()
    same_tags(recorded, to_tagged(path, active_markers(path)), found)


def synthetic_results(given: Json, recorded: Any, found: Findings) -> None:
    """The same calls get a result that says there is none, as far as they are sent, ours right after its call."""
    path = log_of(given["messages"]).path()
    visible = effective_history(path)
    added = [] if recorded["same_list"] else recorded["messages"][-1]["content"]
    wanted = [block["tool_use_id"] for block in added]
    sent_calls = [block["id"] for message in of_visible(visible) for block in message.blocks if _is(block, "tool_use")]
    if any(call_id not in sent_calls for call_id in wanted):
        found.better("hidden-messages-stay-out")
    results = [block for message in sent(visible) for block in message.blocks if _is(block, "tool_result")]
    answered = {block["tool_use_id"] for block in results}
    lost = [call_id for call_id in wanted if call_id in sent_calls and call_id not in answered]
    found.check(not lost, f"calls without a result: {lost}")
    ours = [block["tool_use_id"] for block in results if is_synthetic(block)]
    if answered & (set(wanted) - set(ours)):
        found.better("results-keep-their-place")
    if set(ours) - set(wanted):
        # Their result is somewhere else than right after them; `account` says where it is found again.
        found.better("every-call-has-a-result")
    elif ours:
        found.better("own-words")
    waiting = {call.id for call in open_calls(path)} & set(sent_calls)
    found.check(waiting <= {*wanted, *answered}, f"calls that are not open: {waiting}")
    all_is_sent(visible, found)


def as_text(given: Json, recorded: Any, found: Findings) -> None:
    """Calls and results read the same in the request that asks for a summary."""
    visible = effective_history(log_of(untagged(given["messages"])).path())
    model = ModelInfo("any", "", supports_images=True)
    asked = of_request(fresh(visible, _INSTRUCTION, model, 1000).messages)
    last = asked.pop()
    found.expect("the instruction", {"type": "text", "text": _INSTRUCTION}, last.blocks[-1])
    if last.blocks[:-1]:
        asked.append(Plain(last.role, last.blocks[:-1]))
    account(plain_all(recorded), asked, found)


def commands(given: Json, recorded: Any, found: Findings) -> None:
    """The same command blocks are found."""
    path = log_of(untagged([given["message"]])).path()
    texts = [block.text for entry in path for block in _blocks(entry.body) if isinstance(block, Text)]
    every = [command for text in texts for command in command_blocks(text)]
    ours = "\n".join(every)
    if ours != recorded:
        odd = [tag for tag in _LIKE_A_COMMAND.findall(recorded) if not _COMMAND.match(tag)]
        found.check(bool(odd), f"{recorded!r} was recorded, ours is {ours!r}")
        found.check(all(command in recorded for command in every), f"ours is {ours!r}, recorded was {recorded!r}")
        found.better("only-command-tags")
    if given["message"]["role"] == "user":
        found.expect("commands kept", tuple(dict.fromkeys(every)), standing_commands(path))


def repaired_ids(given: Json, recorded: Any, found: Findings) -> None:
    """Each call of the last answer gets the result recorded for it, and nothing that was told is lost."""
    before, told = plain_all(given["history"]), plain(given["userMessage"])
    visible = effective_history(log_of([*untagged(given["history"]), given["userMessage"]]).path())
    ours = sent(visible)
    all_is_sent(visible, found)
    turn = ours[-1].blocks if ours else ()
    for block in plain(recorded).blocks:
        if _is(block, "tool_result"):
            _same_result(block, told, before, turn, found)


def _same_result(block: Any, told: Plain, before: Sequence[Plain], turn: Sequence[Any], found: Findings) -> None:
    """Find a recorded result in our turn. Roo Code gives a result whose id it does not know to a call by its place."""
    call_id, words = block["tool_use_id"], text_of(block)
    results = [one for one in turn if _is(one, "tool_result")]
    ours = next((one for one in results if one["tool_use_id"] == call_id), None)
    if ours is not None and text_of(ours) == words:
        return
    if words not in [text_of(one) for one in told.blocks if _is(one, "tool_result")]:
        # Nobody told this: it was put in for a call without a result.
        if ours is not None and is_synthetic(ours):
            found.better("own-words")
        elif found.check(ours is not None, f"the call {call_id} has no result"):
            found.better("results-keep-their-ids")
        return
    late = late_result(words.strip())
    same = any(text_of(one) == words for one in results) or any(
        text_of(one) == words for message in before for one in message.blocks if _is(one, "tool_result")
    )
    if found.check(late in turn or same or not words.strip(), f"the result {block} is lost"):
        found.better("results-keep-their-ids")


def same_history(expected: Sequence[Plain], visible: Sequence[Visible], found: Findings) -> None:
    """Compare an effective history message by message, and see that the request made of ours has all of it."""
    ours = of_visible(visible)
    calls = {block["id"] for message in ours for block in message.blocks if _is(block, "tool_use")}
    rest = [message for message in expected if message.blocks]
    if len(rest) < len(expected):
        found.better("nothing-empty-is-sent")
    for message in ours:
        if rest and _same(rest[0], message, found):
            rest.pop(0)
            continue
        kept = tuple(block for block in message.blocks if not _is_late(block, calls))
        if kept == message.blocks or (kept and not (rest and rest.pop(0).blocks == kept)):
            found.fail(f"ours is {message}, recorded is {rest[:1]}")
            return
        found.better("late-result-goes-as-text")
    found.check(not rest, f"not in our history: {rest[:1]}")
    all_is_sent(visible, found)


def all_is_sent(visible: Sequence[Visible], found: Findings) -> None:
    """See that the request made of an effective history is accepted and has all of it."""
    repairs = Findings()
    account(of_visible(visible), sent(visible), repairs)
    results_stand_right(of_visible(visible), sent(visible), repairs)
    found.wrong += [*repairs.wrong, *violations(next_request(visible))]


def same_tags(recorded: Sequence[Json], ours: Sequence[Json], found: Findings) -> None:
    """Compare stored histories: contents and roles of messages and summaries, and which of them are in the request.

    Where a truncation's line stands is compared in the effective history.
    """
    expected, stored = _with_visibility(recorded), _with_visibility(ours)
    if found.expect("messages stored", len(expected), len(stored)):
        for (message, shown), (own, own_shown) in zip(expected, stored, strict=True):
            found.expect("a stored message", message, own)
            found.expect(f"in the request: {message}", shown, own_shown)


def _with_visibility(messages: Sequence[Json]) -> list[tuple[Plain, bool]]:
    """Return messages and summaries, and whether they are in the request: not tagged, nor before the last summary."""
    start = max((at for at, message in enumerate(messages) if message.get("isSummary")), default=0)
    kept = [(at, message) for at, message in enumerate(messages) if not message.get("isTruncationMarker")]
    return [(plain(one), at >= start and not _has_parent(one)) for at, one in kept if plain(one).blocks]


def _same(expected: Plain, ours: Plain, found: Findings) -> bool:
    if expected.kind == ours.kind == "truncation":
        if expected.blocks != ours.blocks:
            found.better("own-words")
        return True
    return expected == ours


def _is(block: Any, kind: str) -> bool:
    return isinstance(block, Mapping) and block.get("type") == kind


def _is_late(block: Any, calls: set[str]) -> bool:
    return _is(block, "tool_result") and block["tool_use_id"] not in calls


def _has_parent(message: Json) -> bool:
    return bool(message.get("condenseParent") or message.get("truncationParent"))


def _blocks(body: object) -> tuple[Any, ...]:
    return body.blocks if isinstance(body, UserMessage | AssistantMessage) else ()
