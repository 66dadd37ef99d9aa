"""The sliding window: hides the oldest messages without a summary or a model.

before   u1  a2  u3  a4  u5  a6  u7
after    u1  [4 earlier messages are hidden]  a6  u7
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Protocol

from roo_tui.context.history.effective import Visible, effective_history, with_marker
from roo_tui.context.history.log import appended
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.domain.blocks import Block, ToolResult
from roo_tui.domain.entries import Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Reduction, Trigger, Truncation


class Counter(Protocol):
    """Counts the raw tokens of blocks."""

    def count_blocks(self, blocks: tuple[Block, ...], /) -> int:
        """Return the raw tokens of the blocks together."""
        ...


def slide_window(
    path: Sequence[Entry],
    counter: Counter,
    *,
    ratio: float = 1.0,
    tokens_before: int = 0,
    trigger: Trigger = "manual",
    reason: str = "",
) -> Truncation | None:
    """Return a truncation of the visible messages, None if it could hide or free nothing.

    It hides the oldest visible messages after the first, up to the first legal cut at or after half of their tokens. It
    never hides the summary in force or an unanswered user message, and the newest message only if nothing else can go.
    `tokens_before` is the calibrated count of the whole request, `ratio` the current calibration.
    """
    visible = effective_history(path)
    cuts = legal_cuts(visible)
    first = max((at for at, message in enumerate(visible) if message.source == "summary"), default=0) + 1
    start = next((cut for cut in cuts if cut >= first), len(visible))
    counts = [counter.count_blocks(message.blocks) for message in visible]
    for cut in _candidates(visible, [0, *accumulate(counts[start:])], cuts, start):
        hides = tuple(message.entry_id for message in visible[start:cut])
        after = with_marker(path, Truncation(hides))
        freed = sum(counts) - sum(counter.count_blocks(message.blocks) for message in after)
        if freed > 0:
            figures = Reduction(
                trigger=trigger,
                strategy="sliding window",
                tokens_before=tokens_before,
                tokens_after=max(0, tokens_before - math.floor(ratio * freed)),
                ratio=ratio,
            )
            return Truncation(hides, figures, reason)
    return None


def slide_window_to(given: ReductionInput, counter: Counter, target: int, reason: str) -> Truncation | None:
    """Return one truncation that reaches the target or hides as much as possible, None if it can hide nothing.

    Counts the history several times, so call it in a thread. `target` is in calibrated context tokens.
    """
    path, tokens = given.path, given.context_tokens
    hidden: set[EntryId] = set()
    figures = None
    while figures is None or tokens > target:
        step = slide_window(
            path, counter, ratio=given.ratio, tokens_before=tokens, trigger=given.trigger, reason=reason
        )
        if step is None:
            break
        hidden.update(step.hides)
        path, tokens, figures = appended(path, step), step.figures.tokens_after, step.figures
    if figures is None:
        return None
    return Truncation(
        hides=tuple(entry.id for entry in given.path if entry.id in hidden),
        figures=replace(figures, tokens_before=given.context_tokens),
        reason=reason,
    )


def _candidates(visible: Sequence[Visible], hidden_tokens: list[int], cuts: Sequence[int], start: int) -> list[int]:
    """Return the cuts to try, best first."""
    end = len(visible)
    possible = [cut for cut in cuts if start < cut < end]
    if start < end and cuts[-1] == end and not _is_unanswered(visible[-1]):
        possible.append(end)
    half = hidden_tokens[-1] / 2
    enough = [cut for cut in possible if hidden_tokens[cut - start] >= half]
    too_little = [cut for cut in reversed(possible) if hidden_tokens[cut - start] < half]
    # The newest message goes last: the model has just asked for it and needs it more than anything older.
    return [*too_little, end] if enough == [end] else [*enough, *too_little]


def _is_unanswered(last: Visible) -> bool:
    return last.role == "user" and not any(isinstance(block, ToolResult) for block in last.blocks)
