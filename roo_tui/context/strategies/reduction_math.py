"""The figures of new markers: how many tokens they free."""

import math
from collections.abc import Sequence

from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.entries import Entry
from roo_tui.domain.markers import Mask, MaskItem, PassMetrics, Reduction


def raw_change(before: Sequence[Visible], after: Sequence[Visible], counter: TokenCounter) -> tuple[int, int]:
    """Return the raw tokens that are hidden and those shown instead; blocks in both histories are not counted."""
    old = {id(block) for message in before for block in message.blocks}
    new = {id(block) for message in after for block in message.blocks}
    hidden = counter.count_blocks(block for message in before for block in message.blocks if id(block) not in new)
    shown = counter.count_blocks(block for message in after for block in message.blocks if id(block) not in old)
    return hidden, shown


def tokens_after(given: ReductionInput, path: Sequence[Entry], counter: TokenCounter) -> int:
    """Return the calibrated context tokens of this path, which begins with the given one."""
    change = raw_change(effective_history(given.path), effective_history(path), counter)
    return given.after(*change)


def reduction(
    given: ReductionInput,
    strategy: str,
    before: int,
    after: int,
    *,
    passes: tuple[PassMetrics, ...] = (),
    remarks: tuple[str, ...] = (),
    duration_s: float = 0.0,
) -> Reduction:
    """Return the figures of one marker, without costs, which the caller adds."""
    return Reduction(
        trigger=given.trigger,
        strategy=strategy,
        tokens_before=before,
        tokens_after=after,
        ratio=given.ratio,
        duration_s=duration_s,
        passes=passes,
        remarks=remarks,
    )


def mask(
    given: ReductionInput,
    items: Sequence[MaskItem],
    counter: TokenCounter,
    strategy: str,
    *,
    duration_s: float = 0.0,
) -> Mask | None:
    """Return the mask with its figures, None if it would free nothing."""
    if not items:
        return None
    marker = Mask(tuple(items))
    path = appended(given.path, marker)
    hidden, shown = raw_change(effective_history(given.path), effective_history(path), counter)
    if hidden <= shown:
        return None
    after = given.after(hidden, shown)
    return Mask(marker.items, reduction(given, strategy, given.context_tokens, after, duration_s=duration_s))


def raw_goal(given: ReductionInput, target: int) -> int:
    """Return how many raw tokens to hide until the context has at most `target` tokens."""
    return max(0, math.ceil((given.context_tokens - target) / given.ratio)) if given.ratio > 0 else 0
