"""The ladder: what is tried, in order, when the context must shrink by itself.

    condense      with the model, unless switched off or held back by a guard
    truncate      only over the allowed tokens or when the provider said too long, and only if the fallback says so

A condense that is due by percentage alone and fails ends there, with the history unchanged. Every rung is a body the
caller appends in order; each lowers the raw count or is left out.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from roo_tui.context.condense import CondenseError, condense
from roo_tui.context.guards import Guards
from roo_tui.context.options import ContextOptions
from roo_tui.context.policy import decide
from roo_tui.context.situation import Services, Situation, failed
from roo_tui.context.tokens import TokenCounter
from roo_tui.context.truncate import truncate
from roo_tui.domain.entries import Body, Entry, Noted
from roo_tui.domain.errors import CondenseRefused
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation

__all__ = ["Guards", "reduce"]

FORCED_TARGET_PERCENT = 75


async def reduce(
    situation: Situation, services: Services, options: ContextOptions, guards: Guards | None = None
) -> tuple[Body, ...]:
    """Return the bodies to append, in order; empty where nothing is due or nothing can be done.

    `(Condense,)`, `(Condense, Truncation)` where that was not enough, `(CondenseFailed,)`, `(CondenseFailed,
    Truncation)`, `(Truncation,)`; a `Noted` comes first where a guard held condensing back and has not said so yet.
    The trigger `forced` reduces whatever the counts say, to at most 75 % of the window. When cancelled, `services`
    tells what it cost so far.
    """
    forced = situation.trigger == "forced"
    decision = "over" if forced else decide(situation.context_tokens, situation.limits)
    if decision == "nothing":
        return ()
    bodies, reason = await _condensed(situation, services, options, guards or Guards(), decision == "due")
    last = bodies[-1] if bodies else None
    if decision == "due" or (isinstance(last, CondenseFailed) and options.fallback == "error"):
        return bodies
    if isinstance(last, Condense):
        if last.figures.tokens_after <= _target(situation):
            return bodies
        reason = "The summary alone did not make enough room."
        situation = replace(
            situation,
            path=_with(situation.path, last),
            context_tokens=last.figures.tokens_after,
        )
    truncation = await asyncio.to_thread(_truncated, situation, services.counter, reason)
    return bodies if truncation is None else (*bodies, truncation)


async def _condensed(
    situation: Situation, services: Services, options: ContextOptions, guards: Guards, may_wait: bool
) -> tuple[tuple[Body, ...], str]:
    """Return what the condense came to, and why the next rung is needed.

    While it `may_wait`, the same refusal is told once, not at every request.
    """
    if not options.auto_condense:
        return (), "Automatic condensing is off."
    if objection := await asyncio.to_thread(guards.objection, situation, services.counter):
        news = Noted("warning", "Condensing held back", objection)
        return (news,) if guards.is_news(objection) else (), objection
    try:
        marker = await condense(situation, services, options)
    except CondenseRefused as refusal:
        guards.wait_for_new_content(situation.path)
        message = str(refusal)
        told = may_wait and not guards.is_news(message)
        return () if told else (failed(situation, services, message),), message
    except CondenseError as error:
        guards.attempted(situation.path)
        return (error.body,), error.body.message
    guards.attempted(situation.path)
    if marker.figures.tokens_after < situation.limits.trigger_tokens:
        guards.succeeded()
    return (marker,), ""


def _target(situation: Situation) -> int:
    """The most context tokens a reduction over the limit may leave."""
    if situation.trigger == "forced":
        return situation.limits.window * FORCED_TARGET_PERCENT // 100
    return situation.limits.allowed_tokens


def _truncated(situation: Situation, counter: TokenCounter, reason: str) -> Truncation | None:
    """Return one truncation that reaches the target or hides all that can be hidden, None if that is nothing."""
    path, tokens = situation.path, situation.context_tokens
    hidden: set[EntryId] = set()
    figures = None
    while figures is None or tokens > _target(situation):
        step = truncate(
            path, counter, ratio=situation.ratio, tokens_before=tokens, trigger=situation.trigger, reason=reason
        )
        if step is None:
            break
        hidden.update(step.hides)
        path, tokens, figures = _with(path, step), step.figures.tokens_after, step.figures
    if figures is None:
        return None
    return Truncation(
        hides=tuple(entry.id for entry in situation.path if entry.id in hidden),
        figures=replace(figures, tokens_before=situation.context_tokens),
        reason=reason,
    )


def _with(path: Sequence[Entry], body: Body) -> tuple[Entry, ...]:
    """The path as it will be once the body is appended; the id stands for the one it will get."""
    newest = path[-1]
    entry = Entry(max(entry.id for entry in path) + 1, newest.id, newest.at_ms, body)
    return (*path, entry)
