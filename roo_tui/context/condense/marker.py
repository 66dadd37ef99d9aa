"""Build a condense marker from a summary: attach what fits the shared budget, and count what it frees."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from roo_tui.context.condense.attachments import Attached, Required, answer_block, attach
from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.history.log import appended
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.errors import CondenseError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Marker, Reduction

LOW_YIELD = "Low yield"


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """A summary before its marker is built. `raw_hidden` are the raw tokens it hides."""

    answer: str
    shape: Literal["fresh", "cached", "staged", "outline"]
    hides: tuple[EntryId, ...]
    raw_hidden: int
    required: Required
    remarks: tuple[str, ...] = ()


async def build_marker(
    draft: SummaryDraft, given: ReductionInput, services: ReductionServices, options: ContextOptions
) -> Condense:
    """Return the marker with the answer and everything attached. The caller adds cost, model and duration.

    Raises:
        CondenseError: the marker would not lower the count.
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
            "Nothing was changed. Condense with instructions to be brief, or condense later."
        )
        raise CondenseError(failed(given, services, message, tokens_after=after, body=draft.answer))
    trigger = given.limits.trigger_tokens
    if after * 2 > trigger:
        remarks = (*remarks, f"{LOW_YIELD}: {after:,} tokens are left, more than half of the trigger ({trigger:,}).")
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


def swapped_in(
    bodies: Sequence[Body], path: Sequence[Entry], counter: TokenCounter, *, context_tokens: int, ratio: float
) -> tuple[Body, ...] | None:
    """Return the markers with present figures, None if they no longer fit the path.

    They fit if all that they touch is still visible (the user did not rewind, no other reduction came first), and if
    each lowers the count. `context_tokens` is the present count.
    """
    found: list[Body] = []
    for marker in bodies:
        visible = effective_history(path)
        shown = {message.entry_id for message in visible}
        if not isinstance(marker, Marker) or not marker.touches or not shown.issuperset(marker.touches):
            return None
        after = effective_history(appended(path, marker))
        raw_before, raw_after = counter.count_messages(visible), counter.count_messages(after)
        if raw_after >= raw_before:
            return None
        left = context_tokens - round(ratio * (raw_before - raw_after))
        figures = replace(marker.figures, tokens_before=context_tokens, tokens_after=left, ratio=ratio)
        found.append(replace(marker, figures=figures))
        path, context_tokens = appended(path, found[-1]), left
    return tuple(found) or None
