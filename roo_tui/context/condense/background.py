"""A background condense: a prefix of the path is condensed while the conversation goes on.

prefix     u1 a2 t3 a4 t5                     condensed meanwhile
now        u1 a2 t3 a4 t5 a6 t7               -> [summary] a6 t7, if the prefix is unchanged
"""

from collections.abc import Sequence
from dataclasses import replace

from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.entries import Entry
from roo_tui.domain.markers import Condense


def swapped_in(
    marker: Condense, path: Sequence[Entry], counter: TokenCounter, *, context_tokens: int, ratio: float
) -> Condense | None:
    """Return the marker with present figures, None if it no longer fits the path.

    It fits if the path still has what it hides (the user did not rewind), all of that is visible (no other condense or
    truncation came first), and it lowers the count. `context_tokens` is the present count.
    """
    visible = effective_history(path)
    shown = {message.entry_id for message in visible}
    if not marker.hides or not shown.issuperset(marker.hides):
        return None
    raw_before, raw_after = counter.count_messages(visible), counter.count_messages(with_marker(path, marker))
    if raw_after >= raw_before:
        return None
    after = context_tokens - round(ratio * (raw_before - raw_after))
    figures = replace(marker.figures, tokens_before=context_tokens, tokens_after=after, ratio=ratio)
    return replace(marker, figures=figures)
