"""Condense: what the model is asked, what the summary message holds, what is hidden, what is counted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from roo_tui.context.condense.request import instruction
from roo_tui.context.condense.steps import condense
from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.policy import limits
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.errors import CondenseError, CondenseRefused
from roo_tui.domain.markers import Condense, CondenseFailed
from roo_tui.domain.requests import Request
from tests.conformance import words
from tests.conformance.accounting import account
from tests.conformance.attachments import attached_is_due, more_than_recorded
from tests.conformance.due import End, answer_of, end_due
from tests.conformance.histories import (
    Json,
    Plain,
    commands_in,
    is_hidden,
    overhead_tokens,
    parted,
    seen,
    since_summary,
    text_tokens,
    tokens_of_all,
)
from tests.conformance.rule import FakeModel, RuleCounter, options_of, tools_of
from tests.conformance.tagged import log_of, of_request, of_visible, plain_all, tagged_whole
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent
from tests.support.api_rules import violations

_REFUSED = {"common:errors.condense_not_enough_messages", "common:errors.condensed_recently"}
_DEFERRED = "Context condensation triggered. Tool execution deferred."
_PICTURE = "[Referenced image in conversation]"
_PICTURED = {"type": "text", "text": "[Image]"}
# The least room for an answer that is worth asking for.
_LEAST_ANSWER = 2_000
_MORE = tuple(kind((Text(f"More {'words ' * 100}"),)) for kind in (UserMessage, AssistantMessage) * 2)


@dataclass
class Outcome:
    """How a condense ended: `condensed`, `failed` (the model was asked) or `refused` (it was not)."""

    kind: str
    marker: Condense | None = None
    failure: CondenseFailed | None = None
    message: str = ""


def summarize(given: Json, recorded: Any, found: Findings) -> None:
    """A condense by hand, or an automatic one, without any limit on the context."""
    counter, model = RuleCounter(), FakeModel(given["handler"])
    path = log_of(given["messages"]).path()
    system, tools = (given["systemPrompt"],), tools_of(given)
    tokens = overhead_tokens(given) + tokens_of_all(in_our_words(given["messages"], path, found))
    automatic = bool(given.get("isAutomaticTrigger"))
    inputs = ReductionInput(
        path=path,
        system=system,
        tools=tools,
        model=model.info,
        limits=limits(model.info),
        context_tokens=tokens,
        ratio=1.0,
        trigger="automatic" if automatic else "manual",
        environment=given.get("environmentDetails") or "",
        read_files=tuple(given.get("filesReadByRoo") or ()),
    )
    outcome = run(inputs, model, given, counter)
    compare(given, recorded, inputs, outcome, model, found)
    if outcome.marker is not None:
        _condense_again(given, outcome.marker, inputs, found)


def _condense_again(given: Json, first: Condense, inputs: ReductionInput, found: Findings) -> None:
    """After some more words another condense is as right as the first: what a summary keeps, the next one keeps on."""
    path = path_with(inputs.path, first)
    for body in _MORE:
        path = (*path, Entry(path[-1].id + 1, path[-1].id, path[-1].at_ms, body))
    given = {**given, "messages": tagged_whole(path)}
    tokens = overhead_tokens(given) + tokens_of_all(in_our_words(given["messages"], path, found))
    inputs = replace(inputs, path=path, context_tokens=tokens)
    outcome = run(inputs, FakeModel(given["handler"]), given, RuleCounter())
    found.expect("the end of another condense", end_due(given, answer_of(given["handler"])).kind, outcome.kind)
    if outcome.marker is not None:
        summary_is_right(given, outcome.marker, inputs, found)


def run(inputs: ReductionInput, model: FakeModel, given: Json, counter: RuleCounter) -> Outcome:
    """Return what the engine's condense makes of a inputs."""
    try:
        marker = asyncio.run(condense(inputs, model.services(given, counter), options_of(given)))
    except CondenseRefused as refusal:
        return Outcome("refused", message=str(refusal))
    except CondenseError as error:
        return Outcome("failed", failure=error.body, message=error.body.message)
    return Outcome("condensed", marker)


def compare(
    given: Json,
    recorded: Any,
    inputs: ReductionInput,
    outcome: Outcome,
    model: FakeModel,
    found: Findings,
) -> None:
    """Compare a condense with the recorded one: how it ended, and what came of it."""
    result = recorded["result"]
    instructions_are(given, found)
    same_end(given, end_of(result), outcome, found)
    if outcome.kind != end_of(result):
        return
    if any(_is_of_a_part(request) for request in model.requests):
        whole = _to_summarise(given, recorded["requests"][0], inputs, found)
        size = inputs.ratio * (tokens_of_all(whole) + text_tokens(options_of(given).condense_prompt))
        found.check(size + _LEAST_ANSWER > inputs.limits.window, f"summarised in parts: {size:.0f} tokens")
        found.better("too-long-to-summarise-whole")
    elif model.requests and recorded["requests"]:
        same_request(given, recorded["requests"][0], inputs, model.requests[0], found)
    if outcome.kind == "failed" and outcome.failure is not None:
        same_failure(given, result, outcome.failure, found)
    if outcome.marker is not None:
        same_summary(given, result, outcome.marker, inputs, found)
        cost = float(result.get("cost") or 0) * len(model.requests)
        found.expect("cost", round(cost, 9), round(outcome.marker.figures.cost_usd or 0.0, 9))


def _is_of_a_part(request: Request) -> bool:
    last = request.messages[-1].blocks[-1]
    return isinstance(last, Text) and last.text.startswith(words.of_parts())


def end_of(result: Json) -> str:
    """Return how a recorded condense ended."""
    error = result.get("error")
    return "condensed" if not error else "refused" if error in _REFUSED else "failed"


def same_end(given: Json, recorded: str, outcome: Outcome, found: Findings) -> None:
    """Check that a condense ended as the case asks for, and say why where the recorded one ended in another way."""
    due = end_due(given, answer_of(given["handler"]))
    if not found.expect("the end of a condense", due.kind, outcome.kind) or due.kind == recorded:
        return
    if reason := _why_another_end(given, due):
        found.better(reason)
    else:
        found.fail(f"{recorded} was recorded, ours {outcome.kind}: {outcome.message}")


def _why_another_end(given: Json, due: End) -> str:
    """Return the reason for an end that differs from the recorded one, empty if there is none."""
    since = since_summary(given["messages"])
    hidden, kept = parted(seen(given["messages"]))
    if due.why in ("no gain", "growth"):
        return "condense-must-shrink"
    if due.kind == "refused" and kept and len(hidden) < 2:
        return "open-question-stays"
    if due.kind == "refused" and any(is_hidden(message, given["messages"]) for message in since):
        return "hidden-messages-stay-out"
    if due.kind == "refused" and any(message["content"] == [] for message in since):
        return "nothing-empty-is-sent"
    return ""


def in_our_words(messages: Sequence[Json], path: Sequence[Entry], found: Findings) -> list[Plain]:
    """Return what is seen of tagged messages, with our words for a truncation, and check that ours shows the same."""
    ours = of_visible(effective_history(path))
    own = seen(messages)
    if found.expect("how much is seen", len(own), len(ours)):
        both = zip(own, ours, strict=True)
        own = [replace(one, blocks=our.blocks) if one.kind == our.kind == "truncation" else one for one, our in both]
        found.expect("what is seen", own, ours)
    return own


def instructions_are(given: Json, found: Findings) -> None:
    """The custom prompt replaces ours; a blank one does not."""
    custom = given.get("customCondensingPrompt") or ""
    expected = custom.strip() or words.default_instruction()
    found.expect("the instruction", expected, instruction(ContextOptions(condense_prompt=custom), ""))


def same_request(given: Json, recorded: Json, inputs: ReductionInput, asked: Request, found: Findings) -> None:
    """Compare what the model was asked: visible messages up to the cut, then the instruction."""
    found.expect("refusals", [], violations(asked.messages))
    found.check(bool(asked.system) and not asked.tools, "the request has no system prompt, or has tools")
    ours = of_request(asked.messages)
    told = options_of(given).condense_prompt.strip()
    found.expect("the instruction", {"type": "text", "text": told}, ours[-1].blocks[-1])
    last = ours.pop()
    if last.blocks[:-1]:
        ours.append(Plain(last.role, last.blocks[:-1]))
    account(_to_summarise(given, recorded, inputs, found), ours, found)


def _to_summarise(given: Json, recorded: Json, inputs: ReductionInput, found: Findings) -> list[Plain]:
    """Return the recorded messages without what is hidden, what an open question is, and the results put in."""
    plain = plain_all(recorded["messages"])[:-1]
    since = since_summary(given["messages"])
    if len(plain) > len(since):
        found.check(all(_DEFERRED in block["text"] for block in plain[-1].blocks), f"no such message: {plain[-1]}")
        found.better("calls-as-text-need-no-results")
        plain = plain[: len(since)]
    pairs = list(zip(plain, since, strict=True))
    for _ in parted(seen(given["messages"]))[1]:
        while pairs and (pairs[-1][1]["content"] == [] or is_hidden(pairs[-1][1], given["messages"])):
            pairs.pop()
        pairs.pop()
        found.better("open-question-stays")
    kept = [one for one, message in pairs if not is_hidden(message, given["messages"])]
    if len(kept) < len(pairs):
        found.better("hidden-messages-stay-out")
    lines = [one.text for one in _lines(inputs)]
    shown = [(one, message) for one, message in pairs if not is_hidden(message, given["messages"])]
    return [_in_our_words(one, message, lines, found) for one, message in shown]


def _lines(inputs: ReductionInput) -> list[Text]:
    visible = effective_history(inputs.path)
    return [block for one in visible if one.source == "truncation" for block in one.blocks if isinstance(block, Text)]


def _in_our_words(recorded: Plain, message: Json, lines: list[str], found: Findings) -> Plain:
    """Return a recorded message with our words for a picture, and for a truncation, of which ours has no empty ones."""
    if message.get("isTruncationMarker"):
        found.better("own-words")
        return Plain(recorded.role, ({"type": "text", "text": lines.pop(0) if lines else ""},))
    if not any(block.get("text") == _PICTURE for block in recorded.blocks):
        return recorded
    found.better("own-words")
    return Plain(recorded.role, tuple(_PICTURED if one.get("text") == _PICTURE else one for one in recorded.blocks))


def same_failure(given: Json, result: Json, failure: CondenseFailed, found: Findings) -> None:
    """Compare what a failure tells: message, status, code and body of the provider."""
    raises = given["handler"].get("raises")
    if raises and not given["handler"].get("no_create_message"):
        told = (failure.message, failure.status, failure.code)
        found.expect("the error", (raises["message"], raises.get("status") or 0, raises.get("code") or ""), told)
        if raises.get("response") or raises.get("body"):
            found.check(bool(failure.body) and failure.body in result["errorDetails"], "the body is not told")
    found.expect("cost", float(result.get("cost") or 0), round(failure.cost_usd or 0.0, 9))


def same_summary(given: Json, result: Json, marker: Condense, inputs: ReductionInput, found: Findings) -> None:
    """Compare the summary message block by block, what it hides, and what is counted."""
    recorded = next(one for one in reversed(result["messages"]) if one.get("isSummary"))["content"]
    texts = [block.text for block in marker.summary if isinstance(block, Text)]
    found.expect("the answer", recorded[0]["text"], texts[0])
    summary_is_right(given, marker, inputs, found)
    _more_commands(recorded, texts, found)
    _other_outlines(given, recorded, texts, found)
    if more_than_recorded(given, seen(given["messages"])):
        found.better("summary-keeps-more")
    if parted(seen(given["messages"]))[1]:
        found.better("open-question-stays")
    all_is_sent(with_marker(inputs.path, marker), found)


def summary_is_right(given: Json, marker: Condense, inputs: ReductionInput, found: Findings) -> None:
    """Check a condense against the case alone: what it hides, what its message holds, what it says it frees."""
    texts = [block.text for block in marker.summary if isinstance(block, Text)]
    found.check(len(texts) == len(marker.summary), "a block is no text")
    found.expect("the answer", words.answer_block(answer_of(given["handler"]) or ""), texts[0])
    history = in_our_words(given["messages"], inputs.path, found)
    hidden, kept = parted(history)
    ids = [one.entry_id for one in effective_history(inputs.path)]
    found.expect("what is hidden", set(ids[: len(hidden)]), set(marker.hides))
    details = (given.get("environmentDetails") or "") if inputs.trigger != "manual" else ""
    attached_is_due(given, texts, inputs.limits.window, inputs.ratio, details if details.strip() else "", found)
    summary = Plain("user", tuple({"type": "text", "text": text} for text in texts), "summary")
    found.expect("what is left", [summary, *kept], of_visible(with_marker(inputs.path, marker)))
    freed = tokens_of_all(hidden) - tokens_of_all([summary])
    found.check(freed > 0, "nothing is freed")
    found.expect("tokens after", inputs.context_tokens - round(inputs.ratio * freed), marker.figures.tokens_after)


def _more_commands(recorded: Sequence[Json], texts: Sequence[str], found: Findings) -> None:
    """Say why ours has other commands; `attached_is_due` has checked that each is due."""
    theirs = [command for block in recorded[1:] for command in commands_in(block["text"])]
    kept = [text for text in texts[1:] if words.kind_of(text) == words.COMMANDS]
    ours = [command for text in kept for command in commands_in(text)]
    if theirs != ours:
        found.check(set(theirs) <= set(ours), f"commands are lost: {theirs}, ours are {ours}")
        found.better("commands-of-summaries-stay")
    elif theirs:
        found.better("own-words")


def _other_outlines(given: Json, recorded: Sequence[Json], texts: Sequence[str], found: Findings) -> None:
    """Say why ours has outlines of other files; `attached_is_due` has checked which there must be."""
    files = given.get("filesReadByRoo") or ()
    theirs = {path for path in files if any(words.is_section_of(block["text"], path) for block in recorded[1:])}
    ours = {path for path in files if any(words.is_section_of(text, path) for text in texts[1:])}
    if theirs != ours:
        found.better("outlines-by-our-grammars")
    elif ours:
        found.better("own-words")


def path_with(path: Sequence[Entry], marker: Condense) -> tuple[Entry, ...]:
    """Return the path once the marker is appended."""
    return (*path, Entry(max(entry.id for entry in path) + 1, path[-1].id, path[-1].at_ms, marker))
