"""A tool call: one line of what and how it went, its view below when opened."""

from roo_tui.domain.views import CommandView, DiffView, FileView, ListView, TextView, TodoView, ToolRow
from roo_tui.plain_text import one_line
from roo_tui.tui.widgets.rows.messages import COPY
from roo_tui.tui.widgets.rows.row_view import RowView, StyledText, Title
from roo_tui.tui.widgets.views import view_pieces
from roo_tui.tui.widgets.views.canvas import RowPiece, fit
from roo_tui.tui.widgets.views.command import output_pieces

LIVE_LINES = 6
"""Last lines of a running command that show while its row is folded."""
_GLYPHS: dict[str, StyledText] = {
    "streaming": ("…", "muted"),
    "waiting": ("?", "warning"),
    "running": ("●", "accent"),
    "done": ("✓", "success"),
    "failed": ("✗", "error"),
    "denied": ("⊘", "warning"),
    "lost": ("∅", "warning"),
}
_WORDS = {
    "streaming": "being written",
    "waiting": "waiting for you",
    "running": "running",
    "denied": "denied",
    "lost": "interrupted",
}


def tool_sketch(row: ToolRow, expanded: bool, live_output: str = "") -> RowView:
    """A tool call. A running command shows the last lines it printed."""
    what = one_line(row.title, 600)
    title = Title(
        [[(row.tool and one_line(row.tool, 60), "name"), (" ", "text"), (what, "text")]], _outcome(row), hints=(COPY,)
    )
    running = row.state == "running" and bool(live_output)
    body: list[RowPiece] = []
    if running:
        lines = fit(live_output).rstrip("\n").split("\n")
        body = output_pieces("\n".join(lines if expanded else lines[-LIVE_LINES:]))
    elif expanded and row.view is not None:
        body = view_pieces(row.view)
    return RowView(title, body, foldable=row.view is not None or running, expanded=expanded)


def _outcome(row: ToolRow) -> list[StyledText]:
    detail = one_line(row.detail, 60) or _WORDS.get(row.state, "")
    change = _change(row.view) if isinstance(row.view, DiffView) and "+" not in detail else []
    took = f"{row.duration_s:.1f} s" if row.duration_s >= 0.95 and " s" not in detail else ""
    decision = "allowed" if row.decision == "allowed" else ""
    style = "error" if row.state == "failed" else "muted"
    return [*change, (detail, style), (took, "faint"), (decision, "faint"), _GLYPHS[row.state]]


def _change(view: DiffView) -> list[StyledText]:
    return [(f"+{view.added}", "success"), (f"−{view.removed}", "error")]


def tool_text(row: ToolRow) -> str:
    """What is copied of a call: its view as text."""
    match row.view:
        case DiffView() as view:
            return view.new
        case CommandView() as view:
            return f"$ {view.command}\n{view.output}"
        case FileView() | TextView() as view:
            return view.text
        case ListView() as view:
            return "\n".join(view.items)
        case TodoView() as view:
            return "\n".join(f"[{'x' if state == 'done' else ' '}] {text}" for text, state in view.items)
        case None:
            return f"{row.tool} {row.title}".strip()
