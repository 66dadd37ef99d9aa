"""Failures and checkpoints."""

from roo_tui.domain.views import CheckpointRow, FailureRow
from roo_tui.plain_text import one_line
from roo_tui.tui.widgets.rows.messages import COPY
from roo_tui.tui.widgets.rows.row_view import Hint, RowView, StyledText, Title
from roo_tui.tui.widgets.views.canvas import Plain, RowPiece, fit
from roo_tui.tui.widgets.views.command import output_pieces

_STYLES = {"info": "accent", "warning": "warning", "error": "error"}
_SHOWN_FILES = 200


def failure_sketch(row: FailureRow, expanded: bool) -> RowView:
    """What failed in one line; opened: the whole message and what can be copied."""
    parts: list[list[StyledText]] = [[(one_line(row.title, 80), _STYLES[row.level])]]
    if not expanded:
        parts.append([(one_line(row.message, 300), "muted")])
    if row.cost_usd:
        parts.append([(f"${row.cost_usd:.2f}", "muted")])
    hints = [Hint("r", "retry", "retry"), Hint("m", "profile", "other model"), COPY] if row.level == "error" else [COPY]
    body: list[RowPiece] = []
    if expanded:
        body.append(Plain(fit(row.message, 20_000), "text", indent=2))
        # What can be copied begins with the message, which stands above already.
        if rest := row.body.removeprefix(row.message).strip("\n"):
            body += output_pieces(fit(rest))
    return RowView(Title(parts, hints=hints), body, foldable=True, expanded=expanded)


def checkpoint_sketch(row: CheckpointRow, expanded: bool) -> RowView:
    """A snapshot of the files; opened: which ones changed."""
    # Only the first snapshot of all differs from none before it.
    count = "1 file" if len(row.files) == 1 else f"{len(row.files):,} files" if row.files else "files as found"
    title = Title(
        [[("Checkpoint", "muted"), (f" {one_line(row.short_hash, 40)}", "faint")], [(count, "faint")]], hints=(COPY,)
    )
    body: list[RowPiece] = []
    if expanded:
        names = [one_line(name, 400) for name in row.files[:_SHOWN_FILES]]
        if len(row.files) > _SHOWN_FILES:
            names.append(f"… {len(row.files) - _SHOWN_FILES:,} more")
        body = [Plain("\n".join(names), "muted", True, "", 2)] if names else []
    return RowView(title, body, foldable=bool(row.files), expanded=expanded)
