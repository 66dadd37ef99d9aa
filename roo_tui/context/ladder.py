"""The ladder: the reductions tried, in order, when the context must shrink automatically.

    lossless         masks duplicates; used only if that alone reaches the target
    condense         asks the model, in parts if the history is too long for one request; skipped if switched off or
                     blocked by a guard
    outline          writes a summary from the log, without a model
    sliding window   hides the oldest messages

The last two run only above the allowed tokens or after the provider refused the request as too long, and only if the
fallback setting allows it. A condense that is merely due and fails ends there and leaves the history unchanged. Each
rung that lowers the raw count adds a body, and the caller appends the bodies in order.

What a provider refuses for another reason than its length has a rung of its own, `refused_content`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from roo_tui.context.condense.steps import condense, outlined
from roo_tui.context.guards import Guards
from roo_tui.context.history.log import appended
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.context.sliding_window import slide_window_to
from roo_tui.context.window.policy import Limits, decide
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.entries import Body, Noted
from roo_tui.domain.errors import CondenseError, CondenseRefused
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Trigger, Truncation

__all__ = ["Guards", "reduce", "target_tokens"]

FORCED_TARGET_PERCENT = 75

Strategy = Callable[[ReductionInput, ReductionServices, ContextOptions], Awaitable[tuple[Body, ...]]]
"""The model rung: a condense, or another strategy's markers in order. It raises the errors of `condense`."""

Prelude = Callable[[ReductionInput, TokenCounter], Mask | None]
"""The lossless rung: the possible mask with its figures, None if there is none. Called in a thread."""


OnFallback = Callable[[str, str], Awaitable[None]]
"""Called with the reason and the next rung when the model rung did not help."""


async def _ignore_fallback(message: str, next_rung: str) -> None:
    """Do nothing."""


async def native(given: ReductionInput, services: ReductionServices, options: ContextOptions) -> tuple[Body, ...]:
    """Return the bodies of the native strategy: one condense."""
    return (await condense(given, services, options),)


async def reduce(
    given: ReductionInput,
    services: ReductionServices,
    options: ContextOptions,
    guards: Guards | None = None,
    *,
    strategy: Strategy = native,
    prelude: Prelude | None = None,
    on_fallback: OnFallback = _ignore_fallback,
    min_gain: int = 0,
    due: bool = False,
) -> tuple[Body, ...]:
    """Return the bodies to append, in order; empty if nothing is due or nothing can be done.

    Possible are `(Mask,)`, `(Condense,)`, `(Condense, Truncation)` if the condense was not enough, `(CondenseFailed,)`
    and `(Truncation,)`; above the allowed tokens also `(CondenseFailed, Condense)` with an outline and
    `(CondenseFailed, Truncation)`. A `Noted` comes first if a guard blocked the condense for a new reason. The trigger
    `forced` reduces whatever the counts are, to at most 75 % of the window. `due` means that a strategy's own trigger
    is reached. A reduction should free at least `min_gain` tokens. After a cancel, `services` holds the cost so far.
    """
    forced = given.trigger == "forced"
    decision = "over" if forced else decide(given.context_tokens, given.limits)
    if decision == "nothing" and due:
        decision = "due"
    if decision == "nothing":
        return ()
    target = target_tokens(given.limits, given.trigger, min_gain)
    if prelude is not None and options.auto_condense:
        mask = await asyncio.to_thread(prelude, given, services.counter)
        if mask is not None and mask.figures.tokens_after <= target:
            return (mask,)
    bodies, reason = await _condensed(given, services, options, guards or Guards(), strategy, decision == "due")
    if decision == "due":
        return bodies
    if isinstance(_last(bodies), CondenseFailed):
        if options.fallback == "error":
            return bodies
        if options.fallback == "outline" and (marker := await _outline(given, services, options)) is not None:
            await on_fallback(reason, "outline")
            bodies = (*bodies, marker)
    last = _last(bodies)
    if isinstance(last, Condense | Mask | Truncation):
        if last.figures.tokens_after <= _most_left(given):
            return bodies
        reason = "The summary alone did not free enough."
        given = replace(
            given,
            path=appended(given.path, *bodies),
            context_tokens=last.figures.tokens_after,
        )
    truncation = await asyncio.to_thread(slide_window_to, given, services.counter, target, reason)
    if truncation is None:
        return bodies
    if options.auto_condense:
        await on_fallback(reason, "sliding window")
    return (*bodies, truncation)


def target_tokens(limits: Limits, trigger: Trigger = "automatic", min_gain: int = 0) -> int:
    """Return the context tokens a reduction aims at: a tenth of the window, or `min_gain` if larger, below the trigger.

    At least half of the trigger, so that a low threshold keeps a useful target; if forced, at most 75 % of the window.
    """
    below = limits.trigger_tokens - max(limits.window // 10, min_gain)
    target = max(below, limits.trigger_tokens // 2)
    return min(target, limits.window * FORCED_TARGET_PERCENT // 100) if trigger == "forced" else target


async def _condensed(
    given: ReductionInput,
    services: ReductionServices,
    options: ContextOptions,
    guards: Guards,
    strategy: Strategy,
    may_wait: bool,
) -> tuple[tuple[Body, ...], str]:
    """Return the bodies of the condense, and why the next rung is needed.

    If the condense `may_wait`, a refusal is reported once, not at every request.
    """
    if not options.auto_condense:
        return (), "Automatic condensing is off. For a summary instead, undo this and condense."
    if objection := await asyncio.to_thread(guards.objection, given, services.counter):
        notice = Noted("warning", "Condense held back", objection)
        return (notice,) if guards.is_news(objection) else (), objection
    try:
        bodies = await strategy(given, services, options)
    except CondenseRefused as refusal:
        guards.wait_for_new_content(given.path)
        message = str(refusal)
        reported = may_wait and not guards.is_news(message)
        return () if reported else (failed(given, services, message),), message
    except CondenseError as error:
        guards.attempted(given.path)
        return (error.body,), error.body.message
    guards.attempted(given.path)
    last = _last(bodies)
    if isinstance(last, Condense | Mask | Truncation) and last.figures.tokens_after < given.limits.trigger_tokens:
        guards.succeeded()
    return bodies, ""


async def _outline(given: ReductionInput, services: ReductionServices, options: ContextOptions) -> Condense | None:
    """Return a condense made without a model, None if it would free nothing."""
    try:
        return await outlined(given, services, options)
    except (CondenseRefused, CondenseError):
        return None


def _most_left(given: ReductionInput) -> int:
    """Return the most context tokens that may be left without the next rung."""
    if given.trigger == "forced":
        return given.limits.window * FORCED_TARGET_PERCENT // 100
    return given.limits.allowed_tokens


def _last(bodies: Sequence[Body]) -> Body | None:
    return bodies[-1] if bodies else None
