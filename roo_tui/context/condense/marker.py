"""From a summary's text to its marker: what is attached to it, within the shared budget, and what it frees."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from roo_tui.context.condense.attachments import Attached, Required, answer_block, attach
from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.domain.blocks import Text
from roo_tui.domain.errors import CondenseError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Reduction

LOW_YIELD = "Low yield"


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """A summary and what it hides. `raw_hidden` are raw tokens."""

    answer: str
    shape: Literal["fresh", "cached", "staged", "outline"]
    hides: tuple[EntryId, ...]
    raw_hidden: int
    required: Required
    remarks: tuple[str, ...] = ()


async def build_marker(
    draft: SummaryDraft, given: ReductionInput, services: ReductionServices, options: ContextOptions
) -> Condense:
    """Return the marker: the answer, then all that is attached to it. Cost, model and duration are the caller's.

    Raises:
        CondenseError: it would not lower the count.
    """
    answer = answer_block(draft.answer)
    attached = await attach(answer, draft.required, draft.raw_hidden, given, services, options)
    return await asyncio.to_thread(_marker, draft, answer, attached, given, services)


def _marker(
    draft: SummaryDraft, answer: Text, attached: Attached, given: ReductionInput, services: ReductionServices
) -> Condense:
    counter, summary = services.counter, (answer, *attached.blocks)
    marker, remarks = Condense(draft.hides, summary), (*draft.remarks, *attached.remarks)
    raw_before = counter.count_messages(effective_history(given.path))
    raw_after = counter.count_messages(with_marker(given.path, marker))
    after = given.after(raw_before, raw_after)
    if raw_after >= raw_before:
        message = (
            f"The summary is not smaller than what it would hide: {given.context_tokens:,} → {after:,} tokens. "
            "Nothing was changed; condense with instructions to be brief, or go on working."
        )
        raise CondenseError(failed(given, services, message, tokens_after=after, body=draft.answer))
    trigger = given.limits.trigger_tokens
    if after * 2 > trigger:
        remarks = (*remarks, f"{LOW_YIELD}: {after:,} tokens are left, more than half of the trigger's {trigger:,}.")
    figures = Reduction(
        trigger=given.trigger,
        strategy="native",
        shape=draft.shape,
        tokens_before=given.context_tokens,
        tokens_after=after,
        ratio=given.ratio,
        remarks=remarks,
    )
    return Condense(draft.hides, summary, figures, attached.unsaid)
