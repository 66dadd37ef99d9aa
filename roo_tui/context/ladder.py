"""The ladder: what is tried, in order, when the context must shrink by itself.

    lossless      masks of what is there twice, kept only if they alone reach the target
    condense      with the model, in parts where the history is too long for one request; unless switched off or held
                  back by a guard
    outline       a summary made from the log, without a model
    truncate      hides the oldest messages

The last two run only over the allowed tokens or when the provider said too long, and only if the fallback says so. A
condense that is due by percentage alone and fails ends there, with the history unchanged. Every rung is a body the
caller appends in order; each lowers the raw count or is left out.
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
"""How the model rung reduces: a condense, or another strategy's markers in order; raises as `condense` does."""

Prelude = Callable[[ReductionInput, TokenCounter], Mask | None]
"""The lossless rung: the masks that could be put on, with their figures; None where there are none. Run in a thread."""


OnFallback = Callable[[str, str], Awaitable[None]]
"""Is told when the model rung did not help: why, and the rung that is taken instead."""


async def _nobody(message: str, next_rung: str) -> None:
    """Nobody wants to know."""


async def native(given: ReductionInput, services: ReductionServices, options: ContextOptions) -> tuple[Body, ...]:
    """The model rung where no other strategy was chosen: one condense."""
    return (await condense(given, services, options),)


async def reduce(
    given: ReductionInput,
    services: ReductionServices,
    options: ContextOptions,
    guards: Guards | None = None,
    *,
    strategy: Strategy = native,
    prelude: Prelude | None = None,
    on_fallback: OnFallback = _nobody,
    min_gain: int = 0,
    due: bool = False,
) -> tuple[Body, ...]:
    """Return the bodies to append, in order; empty where nothing is due or nothing can be done.

    `(Mask,)`, `(Condense,)`, `(Condense, Truncation)` where that was not enough, `(CondenseFailed,)`, and over the
    limit `(CondenseFailed, Condense)` with an outline or `(CondenseFailed, Truncation)`; `(Truncation,)`; a `Noted`
    comes first where a guard held condensing back and has not said so yet. The trigger `forced` reduces whatever the
    counts say, to at most 75 % of the window; `due` says that a strategy's own trigger is reached. `min_gain` are the
    tokens below which a reduction is not worth while.
    When cancelled, `services` tells what it cost so far.
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
        reason = "The summary alone did not make enough room."
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
    """Return the context tokens a reduction aims at: a tenth of the window (or `min_gain`) below the trigger.

    Never less than half of the trigger, which a low threshold would ask for; a forced one at most 75 % of the window.
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
    """Return what the condense came to, and why the next rung is needed.

    While it `may_wait`, the same refusal is told once, not at every request.
    """
    if not options.auto_condense:
        return (), "Automatic condensing is off. To have a summary instead, undo this and condense."
    if objection := await asyncio.to_thread(guards.objection, given, services.counter):
        news = Noted("warning", "Condensing held back", objection)
        return (news,) if guards.is_news(objection) else (), objection
    try:
        bodies = await strategy(given, services, options)
    except CondenseRefused as refusal:
        guards.wait_for_new_content(given.path)
        message = str(refusal)
        told = may_wait and not guards.is_news(message)
        return () if told else (failed(given, services, message),), message
    except CondenseError as error:
        guards.attempted(given.path)
        return (error.body,), error.body.message
    guards.attempted(given.path)
    last = _last(bodies)
    if isinstance(last, Condense | Mask | Truncation) and last.figures.tokens_after < given.limits.trigger_tokens:
        guards.succeeded()
    return bodies, ""


async def _outline(given: ReductionInput, services: ReductionServices, options: ContextOptions) -> Condense | None:
    """Return a condense made without a model, None where it would free nothing."""
    try:
        return await outlined(given, services, options)
    except (CondenseRefused, CondenseError):
        return None


def _most_left(given: ReductionInput) -> int:
    """Return the most context tokens a reduction over the limit may leave before the next rung is needed."""
    if given.trigger == "forced":
        return given.limits.window * FORCED_TARGET_PERCENT // 100
    return given.limits.allowed_tokens


def _last(bodies: Sequence[Body]) -> Body | None:
    return bodies[-1] if bodies else None
