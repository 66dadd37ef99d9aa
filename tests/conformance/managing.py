"""When the context is reduced, and by what: the policy and the ladder.

A case's total is what the provider reported. Our raw count of a history is much smaller than the totals made up for it;
as in the engine, the calibration ratio makes the two meet. A provider never reports more than fitted, so the ratio is
taken of at most what may be used of the window.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from roo_tui.context.guards import Guards
from roo_tui.context.history.effective import effective_history
from roo_tui.context.ladder import reduce
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.policy import INHERIT, Limits, decide, limits
from roo_tui.domain.entries import Body, Entry, Noted
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.domain.requests import ModelInfo
from tests.conformance.condensing import Outcome, compare, path_with
from tests.conformance.due import ASSUMED_OUTPUT, HIGHEST_PERCENT, LOWEST_PERCENT, Bounds, GuardRule, bounds_of
from tests.conformance.histories import Json, overhead_tokens, plain, tokens_of_all
from tests.conformance.rule import CANNOT_BE_CALLED, FakeModel, RuleCounter, options_of, tools_of
from tests.conformance.tagged import log_of, of_visible
from tests.conformance.truncating import compare as compare_hidden
from tests.conformance.truncating import is_sound, newly_hidden, nothing_can_go
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent

_NOISE = 1e-6


def will_manage(given: Json, recorded: Any, found: Findings) -> None:
    """Whether a reduction is due is told from the same numbers."""
    tokens = given["totalTokens"] + given["lastMessageTokens"]
    bounds = bounds_are_right(given, limits_of(given), tokens, found)
    limits_differ(tokens, given, bounds, recorded, found)


def manage(given: Json, recorded: Any, found: Findings) -> None:
    """The same is done about a context that is too full, as far as it can and should be."""
    if not given["messages"]:
        found.check("raises" in recorded, "an empty history does not raise")
        found.expect("an empty history", (), asyncio.run(reduced(*inputs_of(given, (), 0), given)))
        found.better("empty-history-is-fine")
        return
    path = log_of(given["messages"]).path()
    tokens = given["totalTokens"] + tokens_of_all([plain(given["messages"][-1])])
    inputs, model = inputs_of(given, path, tokens)
    bodies = asyncio.run(reduced(inputs, model, given))
    compare_bodies(given, recorded, inputs, bodies, model, found)


def limits_of(given: Json) -> Limits:
    """Return our limits of a case: its window, the output asked for, the profile's threshold and the general one."""
    return limits(
        ModelInfo("fake", "", max_output=0),
        window=given["contextWindow"],
        max_output=given.get("maxTokens") or 0,
        profile_percent=given["profileThresholds"].get(given["currentProfileId"], INHERIT),
        global_percent=given["autoCondenseContextPercent"],
    )


def bounds_are_right(given: Json, figures: Limits, tokens: int, found: Findings) -> Bounds:
    """Return the limits that a case asks for, and check that ours are the same and decide the same."""
    bounds = bounds_of(given)
    own = Bounds(figures.window, figures.reserved, figures.allowed_tokens, figures.trigger_tokens)
    found.expect("limits", bounds, own)
    found.expect(f"what {tokens} tokens ask for", bounds.decide(tokens), decide(tokens, figures))
    return bounds


def limits_differ(tokens: int, given: Json, bounds: Bounds, recorded: bool, found: Findings) -> None:
    """Say why a reduction is due in one and not in the other: the space kept for the answer, or the percentage."""
    if is_due(tokens, bounds, given) == recorded:
        return
    window, percent = given["contextWindow"], given["autoCondenseContextPercent"]
    reserved = given.get("maxTokens") or ASSUMED_OUTPUT
    allowed = window * 0.9 - reserved
    if window <= 0:
        found.better("no-window-is-unknown")
    elif bounds.reserved < reserved and recorded and allowed < tokens <= bounds.allowed:
        found.better("answer-takes-a-fifth-at-most")
    elif not LOWEST_PERCENT <= percent <= HIGHEST_PERCENT:
        found.better("threshold-is-clamped")
    elif recorded and abs(tokens - allowed) < _NOISE:
        found.better("limits-are-whole-numbers")
    else:
        found.fail(f"{recorded} was recorded at {tokens} tokens, ours: {bounds}")


def compare_bodies(
    given: Json,
    recorded: Any,
    inputs: ReductionInput,
    bodies: Sequence[Body],
    model: FakeModel,
    found: Findings,
) -> None:
    """Compare what was done: nothing, condensed, failed, truncated."""
    result = recorded["result"]
    bounds = bounds_are_right(given, inputs.limits, inputs.context_tokens, found)
    expected = bool("condenseId" in result or result.get("error") or "truncationId" in result)
    limits_differ(inputs.context_tokens, given, bounds, expected, found)
    if not is_due(inputs.context_tokens, bounds, given):
        found.expect("what is done", (), tuple(bodies))
        return
    if not expected:
        return
    newest = None if plain(given["messages"][-1]).kind == "summary" else len(given["messages"])
    guard = guard_due(given, inputs, bounds, GuardRule(), newest, 0.0)
    tried = guards_hold(given, guard, bodies, model, found)
    if guard:
        found.better("guards")
    summaries = [body for body in bodies if isinstance(body, Condense)]
    failures = [body for body in bodies if isinstance(body, CondenseFailed)]
    if tried and (summaries or failures):
        found.check("condenseId" in result or bool(result.get("error")), "no condense was recorded")
        compare(given, recorded, inputs, outcome_of(summaries, failures, model), model, found)
    _compare_truncation(given, recorded, inputs, bounds, bodies, found)


def guard_due(
    given: Json, inputs: ReductionInput, bounds: Bounds, rule: GuardRule, content: object, now_s: float
) -> str:
    """Return which guard must hold a condense back, empty where none must."""
    over = inputs.trigger == "forced" or bounds.decide(inputs.context_tokens) == "over"
    overhead = inputs.ratio * overhead_tokens(given)
    return rule.why(overhead, bounds.allowed if over else bounds.trigger, content, now_s)


def guards_hold(given: Json, guard: str, bodies: Sequence[Body], model: FakeModel, found: Findings) -> bool:
    """Check that a condense is tried where it is due and not held back, and only there; return whether it is."""
    tried = bool(given["autoCondenseContext"]) and not guard
    noted = [body.title for body in bodies if isinstance(body, Noted)]
    ends = [body.kind for body in bodies if isinstance(body, Condense | CondenseFailed)]
    if tried:
        found.expect("held back", [], noted)
    else:
        found.check(not model.requests, f"a model was asked though {guard or 'condensing is off'}")
        found.expect(f"condenses ({guard or 'off'})", [], ends)
    return tried


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
    bounds: Bounds,
    bodies: Sequence[Body],
    found: Findings,
) -> None:
    marker = next((body for body in bodies if isinstance(body, Truncation)), None)
    condense = next((body for body in bodies if isinstance(body, Condense)), None)
    path = inputs.path if condense is None else path_with(inputs.path, condense)
    history = of_visible(effective_history(path))
    over = bounds.decide(inputs.context_tokens) == "over"
    enough = condense is not None and condense.figures.tokens_after <= bounds.allowed
    reported = recorded["result"].get("messagesRemoved") is not None
    if not over or enough:
        found.check(marker is None, "truncated though there is room")
    elif marker is None:
        nothing_can_go(history, found)
    if marker is not None:
        is_sound(path, marker, found)
        _same_count(inputs, path, marker, found)
        if not reported:
            # Only what the summary left could still go.
            found.better("condense-must-reach-its-target")
        else:
            compare_hidden(newly_hidden(given["messages"], recorded["result"]["messages"]), path, marker, found)
    elif reported and over:
        found.better("truncation-must-free")
    elif reported:
        found.better("answer-takes-a-fifth-at-most")
        found.check(bounds.reserved < (given.get("maxTokens") or ASSUMED_OUTPUT), "it is not over the limit")


def _same_count(inputs: ReductionInput, path: Sequence[Entry], marker: Truncation, found: Findings) -> None:
    """What a truncation reports is what the next request has less, by the ratio of the moment."""
    visible = effective_history(path_after(path, marker))
    all_is_sent(visible, found)
    freed = tokens_of_all(of_visible(effective_history(path))) - tokens_of_all(of_visible(visible))
    before, left = marker.figures.tokens_before, marker.figures.tokens_after
    steps = len(marker.hides)
    found.check(
        abs(before - left - inputs.ratio * freed) <= steps + 1,
        f"{before} → {left} tokens is not {inputs.ratio} x {freed}",
    )


def path_after(path: Sequence[Entry], body: Body) -> tuple[Entry, ...]:
    return (*path, Entry(max(entry.id for entry in path) + 1, path[-1].id, path[-1].at_ms, body))


def inputs_of(given: Json, path: tuple[Entry, ...], tokens: int, **changes: Any) -> tuple[ReductionInput, FakeModel]:
    model, figures = FakeModel(given["handler"]), limits_of(given)
    system, tools = (given["systemPrompt"],), tools_of(given)
    raw = overhead_tokens(given) + tokens_of_all(of_visible(effective_history(path)))
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


def is_due(tokens: int, bounds: Bounds, given: Json) -> bool:
    """Say whether a reduction must run by itself: over the limit always, else where condensing is on."""
    decision = bounds.decide(tokens)
    return decision == "over" or (decision == "due" and bool(given["autoCondenseContext"]))
