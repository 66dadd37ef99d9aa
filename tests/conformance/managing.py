"""When the context is reduced, and by what: the policy and the ladder.

A case's total is what the provider reported. Our raw count of a history is much smaller than the totals made up for it;
as in the engine, the calibration ratio makes the two meet. A provider never reports more than fitted, so the ratio is
taken of at most what may be used of the window.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from roo_tui.context.history.effective import effective_history
from roo_tui.context.ladder import reduce
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.guards import Guards
from roo_tui.context.window.policy import HIGHEST_THRESHOLD, INHERIT, LOWEST_THRESHOLD, Limits, decide, limits
from roo_tui.domain.entries import Body, Entry, Noted
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.domain.requests import ModelInfo
from tests.conformance.condensing import Outcome, compare, path_with
from tests.conformance.rule import CANNOT_BE_CALLED, FakeModel, RuleCounter, options_of, tools_of
from tests.conformance.tagged import Json, log_of
from tests.conformance.truncating import compare as compare_hidden
from tests.conformance.truncating import is_sound, newly_hidden, nothing_can_go
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent

_ASSUMED_OUTPUT = 8192
_NOISE = 1e-6


def will_manage(given: Json, recorded: Any, found: Findings) -> None:
    """Whether a reduction is due is told from the same numbers."""
    figures = limits_of(given)
    tokens = given["totalTokens"] + given["lastMessageTokens"]
    if is_due(tokens, figures, given) != recorded:
        limits_differ(tokens, given, figures, recorded, found)


def manage(given: Json, recorded: Any, found: Findings) -> None:
    """The same is done about a context that is too full, as far as it can and should be."""
    if not given["messages"]:
        found.check("raises" in recorded, "an empty history does not raise")
        found.expect("an empty history", (), asyncio.run(reduced(*inputs_of(given, (), 0), given)))
        found.better("empty-history-is-fine")
        return
    path, counter = log_of(given["messages"]).path(), RuleCounter()
    last = log_of(given["messages"][-1:]).path()
    tokens = given["totalTokens"] + counter.count_messages(effective_history(last))
    inputs, model = inputs_of(given, path, tokens)
    bodies = asyncio.run(reduced(inputs, model, given))
    compare_bodies(given, recorded, inputs, bodies, model, counter, found)


def limits_of(given: Json) -> Limits:
    """Return the limits of a case: its window, the output asked for, the profile's threshold and the general one."""
    return limits(
        ModelInfo("fake", "", max_output=0),
        window=given["contextWindow"],
        max_output=given.get("maxTokens") or 0,
        profile_percent=given["profileThresholds"].get(given["currentProfileId"], INHERIT),
        global_percent=given["autoCondenseContextPercent"],
    )


def limits_differ(tokens: int, given: Json, figures: Limits, recorded: bool, found: Findings) -> None:
    """Say why a reduction is due in one and not in the other: the space kept for the answer, or the percentage."""
    window, percent = given["contextWindow"], given["autoCondenseContextPercent"]
    reserved = given.get("maxTokens") or _ASSUMED_OUTPUT
    allowed = window * 0.9 - reserved
    if window <= 0:
        found.better("no-window-is-unknown")
    elif figures.reserved < reserved and recorded and allowed < tokens <= figures.allowed_tokens:
        found.better("answer-takes-a-fifth-at-most")
    elif not LOWEST_THRESHOLD <= percent <= HIGHEST_THRESHOLD:
        found.better("threshold-is-clamped")
    elif recorded and abs(tokens - allowed) < _NOISE:
        found.better("limits-are-whole-numbers")
    else:
        found.fail(f"{recorded} was recorded at {tokens} tokens, ours: {figures}")


def compare_bodies(
    given: Json,
    recorded: Any,
    inputs: ReductionInput,
    bodies: Sequence[Body],
    model: FakeModel,
    counter: RuleCounter,
    found: Findings,
) -> None:
    """Compare what was done: nothing, condensed, failed, truncated."""
    result = recorded["result"]
    condensed = "condenseId" in result
    removed = newly_hidden(given["messages"], result["messages"])
    expected = bool(condensed or result.get("error") or "truncationId" in result)
    if is_due(inputs.context_tokens, inputs.limits, given) != expected:
        limits_differ(inputs.context_tokens, given, inputs.limits, expected, found)
        return
    if not expected:
        found.expect("nothing is done", (), tuple(bodies))
        return
    held_back = any(isinstance(body, Noted) for body in bodies)
    if held_back:
        found.better("guards")
        found.check(not model.requests, "a model was asked")
        bodies = [body for body in bodies if not isinstance(body, Noted)]
    summaries = [body for body in bodies if isinstance(body, Condense)]
    failures = [body for body in bodies if isinstance(body, CondenseFailed)]
    if (condensed or result.get("error")) and (summaries or failures):
        compare(given, recorded, inputs, outcome_of(summaries, failures, model), model, counter, found)
    elif (condensed or result.get("error")) and not held_back:
        found.fail(f"a condense was recorded, ours: {[body.kind for body in bodies]}")
    elif not held_back:
        found.check(not summaries and not failures and not model.requests, "a model was asked")
    _compare_truncation(given, recorded, inputs, bodies, removed, counter, found)


def outcome_of(summaries: Sequence[Condense], failures: Sequence[CondenseFailed], model: FakeModel) -> Outcome:
    if summaries:
        return Outcome("condensed", summaries[0])
    # The ladder tells a refusal, which asks no model, as a failure; a model that cannot be called is no refusal.
    asked = model.requests or failures[0].message == CANNOT_BE_CALLED
    return Outcome("failed" if asked else "refused", None, failures[0], failures[0].message)


def _compare_truncation(
    given: Json,
    recorded: Any,
    inputs: ReductionInput,
    bodies: Sequence[Body],
    removed: Sequence[Any],
    counter: RuleCounter,
    found: Findings,
) -> None:
    over = decide(inputs.context_tokens, inputs.limits) == "over"
    marker = next((body for body in bodies if isinstance(body, Truncation)), None)
    path = inputs.path
    for body in bodies:
        if isinstance(body, Condense):
            path = path_with(path, body)
    reported = recorded["result"].get("messagesRemoved") is not None
    if marker is not None:
        found.check(over, "truncated below the limit")
        is_sound(path, marker, counter, found)
        if not reported:
            # Only what the summary left could still go.
            found.better("condense-must-reach-its-target")
        else:
            compare_hidden(removed, effective_history(path), marker, found)
    elif reported and over:
        nothing_can_go(path, counter, found)
        found.better("truncation-must-free")
    elif reported:
        found.better("answer-takes-a-fifth-at-most")
        found.check(inputs.limits.reserved < (given.get("maxTokens") or _ASSUMED_OUTPUT), "it is not over the limit")
    _same_count(inputs, path, marker, counter, found)


def _same_count(
    inputs: ReductionInput,
    path: Sequence[Entry],
    marker: Truncation | None,
    counter: RuleCounter,
    found: Findings,
) -> None:
    """What a truncation reports is the count of the next request: system prompt, tools and its messages."""
    if marker is None:
        return
    after = path_after(path, marker)
    all_is_sent(effective_history(after), found)
    raw = counter.count_request(inputs.system, inputs.tools, effective_history(after))
    raw_before = counter.count_request(inputs.system, inputs.tools, effective_history(path))
    before, left = marker.figures.tokens_before, marker.figures.tokens_after
    steps = len(marker.hides)
    found.check(
        abs(before - left - inputs.ratio * (raw_before - raw)) <= steps + 1,
        f"{before} → {left} tokens is not {inputs.ratio} x ({raw_before} - {raw})",
    )


def path_after(path: Sequence[Entry], body: Body) -> tuple[Entry, ...]:
    return (*path, Entry(max(entry.id for entry in path) + 1, path[-1].id, path[-1].at_ms, body))


def inputs_of(given: Json, path: tuple[Entry, ...], tokens: int, **changes: Any) -> tuple[ReductionInput, FakeModel]:
    counter, model, figures = RuleCounter(), FakeModel(given["handler"]), limits_of(given)
    system, tools = (given["systemPrompt"],), tools_of(given)
    raw = counter.count_request(system, tools, effective_history(path))
    fitted = min(tokens, max(figures.allowed_tokens, 1))
    fields: dict[str, Any] = {
        "path": path,
        "system": system,
        "tools": tools,
        "model": model.info,
        "limits": figures,
        "context_tokens": tokens,
        "ratio": fitted / raw if raw else 1.0,
        "trigger": "automatic",
        "environment": given.get("environmentDetails") or "",
        "read_files": tuple(given.get("filesReadByRoo") or ()),
    }
    return ReductionInput(**(fields | changes)), model


async def reduced(
    inputs: ReductionInput, model: FakeModel, given: Json, guards: Guards | None = None
) -> tuple[Body, ...]:
    options = options_of(given, auto_condense=given["autoCondenseContext"])
    return await reduce(inputs, model.services(given, RuleCounter()), options, guards)


def is_due(tokens: int, figures: Limits, given: Json) -> bool:
    decision = decide(tokens, figures)
    return decision == "over" or (decision == "due" and bool(given["autoCondenseContext"]))
