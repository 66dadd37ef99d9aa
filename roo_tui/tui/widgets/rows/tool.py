"""Rows for tool calls: one line with call and outcome, and the view below it when opened."""

from roo_tui.domain.views import DiffView, ToolRow
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.widgets.rows.row_view import COPY, RowKind, RowView, StyledText, Title
from roo_tui.tui.widgets.views import view_lines, view_pieces, view_text
from roo_tui.tui.widgets.views.canvas import RowPiece, fit
from roo_tui.tui.widgets.views.command import output_pieces

LIVE_LINES = 6
"""Last lines of a running command that show while its row is folded."""
_OPEN_DIFF_LINES = 30
_GLYPHS: dict[str, StyledText] = {
    "streaming": ("…", "muted"),
    "waiting": ("?", "warning"),
    "running": ("●", "accent"),
    "done": ("✓", "success"),
    "failed": ("✗", "error"),
    "denied": ("⊘", "warning"),
    "lost": ("∅", "warning"),
}


class ToolKind(RowKind[ToolRow]):
    """A tool call. A running command shows the last lines it printed."""

    def view(self, body: ToolRow, expanded: bool, live_output: str, /) -> RowView:
        """Return tool, target and outcome, and what the tool shows where it is open."""
        tool = one_line(body.tool, 60) if body.tool else ""
        left: list[StyledText] = [(tool, "name"), (" ", "text"), (one_line(body.title, 600), "text")]
        title = Title([left], _outcome(body), hints=(COPY,))
        running = body.state == "running" and bool(live_output)
        pieces: list[RowPiece] = []
        if running:
            lines = fit(live_output).rstrip("\n").split("\n")
            pieces = output_pieces("\n".join(lines if expanded else lines[-LIVE_LINES:]))
        elif expanded and body.view is not None:
            pieces = view_pieces(body.view)
        return RowView(title, pieces, foldable=body.view is not None or running, expanded=expanded)

    def estimate(self, body: ToolRow, expanded: bool, width: int, /) -> int:
        """Return the line of the title, and roughly those of the view."""
        return 1 + (view_lines(body.view, width) if expanded and body.view is not None else 0)

    def opens_by_itself(self, body: ToolRow, /) -> bool:
        """Return whether it is a small change to a file."""
        view = body.view
        return isinstance(view, DiffView) and body.state != "denied" and view.added + view.removed <= _OPEN_DIFF_LINES

    def copy_text(self, body: ToolRow, /) -> str:
        """Return the view as text."""
        return f"{body.tool} {body.title}".strip() if body.view is None else view_text(body.view)


def _outcome(body: ToolRow) -> list[StyledText]:
    detail = one_line(body.detail, 60) or strings.TOOL_STATE.get(body.state, "")
    change = _change(body.view) if isinstance(body.view, DiffView) and "+" not in detail else []
    took = strings.TOOK.format(seconds=f"{body.duration_s:.1f}")
    shows_time = body.duration_s >= 0.95 and " s" not in detail
    decision = strings.ALLOWED if body.decision == "allowed" else ""
    style = "error" if body.state == "failed" else "muted"
    return [*change, (detail, style), (took if shows_time else "", "faint"), (decision, "faint"), _GLYPHS[body.state]]


def _change(view: DiffView) -> list[StyledText]:
    return [(f"+{view.added}", "success"), (f"−{view.removed}", "error")]
