"""Condense: what the model is asked, what the summary message holds, what is hidden, what is counted."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from roo_tui.context.condense.attachments import allowance
from roo_tui.context.condense.condense import condense
from roo_tui.context.condense.cut_point import command_blocks, cut
from roo_tui.context.condense.request import instruction
from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.policy import limits
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import Entry
from roo_tui.domain.errors import CondenseError, CondenseRefused
from roo_tui.domain.markers import Condense, CondenseFailed
from roo_tui.domain.requests import Request
from roo_tui.prompt_files import render
from tests.conformance.accounting import account
from tests.conformance.rule import FakeModel, RuleCounter, fold_of, options_of, own_instructions, tools_of
from tests.conformance.tagged import Json, Plain, log_of, of_request, plain_all
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent, is_hidden
from tests.support.api_rules import violations

_LEAST_OUTLINE = 400
# The system prompt's stand-in, and the line that begins a history whose first message is an answer.
_PUT_IN = 20
_REFUSED = {"common:errors.condense_not_enough_messages", "common:errors.condensed_recently"}
_DEFERRED = "Context condensation triggered. Tool execution deferred."
_PICTURE = "[Referenced image in conversation]"
_PICTURED = {"type": "text", "text": "[Image]"}


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
    tokens = counter.count_request(system, tools, effective_history(path))
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
    compare(given, recorded, inputs, outcome, model, counter, found)


def run(inputs: ReductionInput, model: FakeModel, given: Json, counter: RuleCounter) -> Outcome:
    """Return what the engine's condense makes of a situation."""
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
    counter: RuleCounter,
    found: Findings,
) -> None:
    """Compare a condense with the recorded one: how it ended, and what came of it."""
    result = recorded["result"]
    expected = end_of(result)
    instructions_are(given, found)
    if outcome.kind != expected:
        same_end(given, expected, inputs, outcome, found)
        return
    if any(_is_of_a_part(request) for request in model.requests):
        found.better("too-long-to-summarise-whole")
    elif model.requests and recorded["requests"]:
        same_request(given, recorded["requests"][0], inputs, model.requests[0], found)
    if outcome.kind == "failed" and outcome.failure is not None:
        same_failure(given, result, outcome.failure, found)
    if outcome.marker is not None:
        same_summary(given, result, outcome.marker, inputs, counter, found)
        cost = float(result.get("cost") or 0) * len(model.requests)
        found.expect("cost", round(cost, 9), round(outcome.marker.figures.cost_usd or 0.0, 9))


def _is_of_a_part(request: Request) -> bool:
    last = request.messages[-1].blocks[-1]
    return isinstance(last, Text) and last.text.startswith(own_instructions())


def end_of(result: Json) -> str:
    """Return how a recorded condense ended."""
    error = result.get("error")
    return "condensed" if not error else "refused" if error in _REFUSED else "failed"


def same_end(given: Json, expected: str, inputs: ReductionInput, outcome: Outcome, found: Findings) -> None:
    """Say why a condense ended in another way than the recorded one, and check that it is so."""
    if outcome.kind == "refused" and (reason := _why_refused(given, inputs, outcome)):
        found.better(reason)
    elif outcome.failure is not None and "get no shorter" in outcome.message:
        found.better("too-long-to-summarise-whole")
    elif outcome.failure is not None and "not smaller" in outcome.message:
        found.check(outcome.failure.tokens_after >= outcome.failure.tokens_before, "it is smaller")
        found.better("condense-must-shrink")
    else:
        found.fail(f"{expected} was recorded, ours {outcome.kind}: {outcome.message}")


def _why_refused(given: Json, inputs: ReductionInput, outcome: Outcome) -> str:
    """Return the reason for which a condense was refused that was recorded to go on, empty if there is none."""
    visible, where = effective_history(inputs.path), cut(inputs.path)
    since = _since_summary(given["messages"])
    if where.kept and len(where.hidden) < 2:
        return "open-question-stays"
    if len(visible) < len([one for one in since if one["content"]]) and len(visible) < 3:
        return "hidden-messages-stay-out"
    if len(visible) < min(len(since), 3):
        return "nothing-empty-is-sent"
    if "Nothing would be freed" in outcome.message:
        return "condense-must-shrink"
    words = RuleCounter().count_text(options_of(given).condense_prompt) + RuleCounter().count_messages(where.hidden)
    window = inputs.limits.window
    if "too long" in outcome.message and inputs.ratio * (words + _PUT_IN) > window // 2:
        return "too-long-to-summarise-whole"
    return ""


def instructions_are(given: Json, found: Findings) -> None:
    """The custom prompt replaces ours; a blank one does not."""
    custom = given.get("customCondensingPrompt") or ""
    expected = custom.strip() or render("condense/request")
    found.expect("the instruction", expected, instruction(ContextOptions(condense_prompt=custom), ""))


def same_request(given: Json, recorded: Json, inputs: ReductionInput, asked: Request, found: Findings) -> None:
    """Compare what the model was asked: visible messages up to the cut, then the instruction."""
    found.expect("refusals", [], violations(asked.messages))
    found.check(bool(asked.system) and not asked.tools, "the request has no system prompt, or has tools")
    ours = of_request(asked.messages)
    words = options_of(given).condense_prompt.strip()
    found.expect("the instruction", {"type": "text", "text": words}, ours[-1].blocks[-1])
    last = ours.pop()
    if last.blocks[:-1]:
        ours.append(Plain(last.role, last.blocks[:-1]))
    account(_to_summarise(given, recorded, inputs, found), ours, found)


def _to_summarise(given: Json, recorded: Json, inputs: ReductionInput, found: Findings) -> list[Plain]:
    """Return the recorded messages without what is hidden, what an open question is, and the results put in."""
    plain = plain_all(recorded["messages"])[:-1]
    since = _since_summary(given["messages"])
    if len(plain) > len(since):
        found.check(all(_DEFERRED in block["text"] for block in plain[-1].blocks), f"no such message: {plain[-1]}")
        found.better("calls-as-text-need-no-results")
        plain = plain[: len(since)]
    pairs = list(zip(plain, since, strict=True))
    for _ in cut(inputs.path).kept:
        while pairs and (pairs[-1][1]["content"] == [] or is_hidden(pairs[-1][1], given["messages"])):
            pairs.pop()
        found.check(_is_question(pairs.pop()[1]), "what stays is not a question")
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


def same_summary(
    given: Json, result: Json, marker: Condense, inputs: ReductionInput, counter: RuleCounter, found: Findings
) -> None:
    """Compare the summary message block by block, what it hides, and what is counted."""
    recorded = next(one for one in reversed(result["messages"]) if one.get("isSummary"))["content"]
    texts = [block.text for block in marker.summary if isinstance(block, Text)]
    found.check(len(texts) == len(marker.summary), "a block is no text")
    found.expect("the answer", recorded[0]["text"], texts[0])
    _same_commands(recorded, texts, found)
    _same_environment(given, recorded, texts, inputs, marker, found)
    _same_outlines(recorded, texts, inputs, given, counter, found)
    _the_rest(given, texts, found)
    after = with_marker(inputs.path, marker)
    where = cut(inputs.path)
    found.expect("what stays", [one.entry_id for one in where.kept], [one.entry_id for one in after[1:]])
    found.check(after[0].source == "summary", "the summary is not first")
    if where.kept:
        found.better("open-question-stays")
    freed = counter.count_messages(effective_history(inputs.path)) - counter.count_messages(after)
    found.expect(
        "tokens after",
        inputs.context_tokens - round(inputs.ratio * freed),
        marker.figures.tokens_after,
    )
    found.check(freed > 0, "nothing is freed")
    all_is_sent(after, found)


def _same_commands(recorded: Sequence[Json], texts: Sequence[str], found: Findings) -> None:
    theirs = [command for block in recorded[1:] for command in command_blocks(block["text"])]
    ours = [command for text in texts[1:] for command in command_blocks(text)]
    if theirs != ours:
        found.check(set(theirs) <= set(ours), f"commands are lost: {theirs}, ours are {ours}")
        found.better("commands-of-summaries-stay")
    elif theirs:
        found.better("own-words")


def _same_environment(
    given: Json,
    recorded: Sequence[Json],
    texts: Sequence[str],
    inputs: ReductionInput,
    marker: Condense,
    found: Findings,
) -> None:
    details = given.get("environmentDetails") or ""
    shown = len(recorded) > 1 and recorded[-1]["text"] == details
    if not shown:
        found.check(not details or details not in texts[1:], "environment details are there unasked")
    elif texts[-1] != details:
        found.check(any("Environment details" in remark for remark in marker.figures.remarks), "no environment details")
        found.better("extras-share-a-budget")


def _same_outlines(
    recorded: Sequence[Json],
    texts: Sequence[str],
    inputs: ReductionInput,
    given: Json,
    counter: RuleCounter,
    found: Findings,
) -> None:
    """Every file that we can outline is in our summary, in the order given, as far as the budget goes."""
    sections = {path: text for path, text in asyncio.run(_sections(given)).items() if text}
    theirs = {path for path in given.get("filesReadByRoo") or () if _names(path, [one["text"] for one in recorded[1:]])}
    ours = [path for path in sections if _names(path, texts[1:])]
    found.check(ours == list(sections)[: len(ours)], f"the order of outlines: {ours}")
    if len(ours) < len(sections):
        hidden = counter.count_messages(cut(inputs.path).hidden)
        left = allowance(inputs.limits.window, hidden - counter.count_text(texts[0]))
        extras = [*texts[1:], next(text for path, text in sections.items() if path not in ours)]
        characters, tokens = sum(map(len, extras)), sum(map(counter.count_text, extras))
        scarce = characters > left.characters - _LEAST_OUTLINE or tokens > left.tokens - _LEAST_OUTLINE // 4
        found.check(scarce, f"an outline is left out: {characters} characters, {tokens} tokens of {left}")
        found.better("extras-share-a-budget")
    if theirs != sections.keys():
        found.better("outlines-by-our-grammars")
    elif ours:
        found.better("own-words")


def _the_rest(given: Json, texts: Sequence[str], found: Findings) -> None:
    """What else the summary message holds (the open request, facts of the log) stands in a reminder of its own."""
    files = given.get("filesReadByRoo") or ()
    known = [
        given.get("environmentDetails") or None,
        *(text for file in files for text in texts if _names(file, [text])),
    ]
    rest = [text for text in texts[1:] if text not in known and not command_blocks(text)]
    wrapped = (text.startswith("<system-reminder>") and text.endswith("</system-reminder>") for text in rest)
    found.check(all(wrapped), f"a block of the summary is no reminder: {rest}")
    if rest:
        found.better("summary-keeps-more")


async def _sections(given: Json) -> dict[str, str]:
    return dict(await fold_of(given)(tuple(dict.fromkeys(given.get("filesReadByRoo") or ()))))


def _names(path: str, texts: Sequence[str]) -> bool:
    return any(line.endswith(f": {path}") for text in texts for line in text.split("\n")[:2])


def _since_summary(messages: Sequence[Json]) -> list[Json]:
    start = max((at for at, message in enumerate(messages) if message.get("isSummary")), default=0)
    return list(messages[start:])


def _is_question(message: Json) -> bool:
    content = message["content"]
    results = [block for block in content if block["type"] == "tool_result"] if isinstance(content, list) else []
    return bool(message["role"] == "user" and not results)


def path_with(path: Sequence[Entry], marker: Condense) -> tuple[Entry, ...]:
    """Return the path once the marker is appended."""
    return (*path, Entry(max(entry.id for entry in path) + 1, path[-1].id, path[-1].at_ms, marker))
