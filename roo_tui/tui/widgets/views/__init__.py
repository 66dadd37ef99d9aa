"""Draw the views of tool calls, which `domain.views` holds as data, as pieces of a row.

Start at `view_pieces`; beside it are the text copied from a view and the estimate of its lines. `canvas` holds the
shared drawing functions, `palette` the colours; `markdown`, `code` and `diff` draw the three complex kinds.
"""

from typing import assert_never

from roo_tui.domain.views import CommandView, DiffView, FileView, ListView, TextView, TodoView, ToolView
from roo_tui.tui import strings
from roo_tui.tui.numbers import exact
from roo_tui.tui.widgets.views.canvas import Plain, RowPiece, estimate_lines, fit
from roo_tui.tui.widgets.views.code import code_pieces, language_of
from roo_tui.tui.widgets.views.command import command_pieces, output_pieces
from roo_tui.tui.widgets.views.diff import diff_pieces
from roo_tui.tui.widgets.views.markdown import markdown_pieces

__all__ = ["view_lines", "view_pieces", "view_text"]

_STATES = {"pending": ("○", "muted"), "in_progress": ("◐", "accent"), "done": ("●", "success")}
_SHOWN_ITEMS = 2_000


def view_pieces(view: ToolView, indent: int = 2) -> list[RowPiece]:
    """Return what a tool shows of a call, indented by `indent` cells."""
    match view:
        case DiffView():
            return diff_pieces(view, indent)
        case CommandView():
            return command_pieces(view, indent)
        case FileView():
            lines = fit(view.text).removesuffix("\n").split("\n")
            return list(code_pieces(lines, language_of(view.path), first_number=view.first_line, indent=indent))
        case ListView():
            return _list_pieces(view, indent)
        case TodoView():
            return [
                Plain(f"{_STATES[state][0]} {fit(text, 2_000)}", _STATES[state][1], indent=indent)
                for text, state in view.items
            ]
        case TextView(markdown=True):
            return markdown_pieces(fit(view.text), indent)
        case TextView():
            return output_pieces(fit(view.text).rstrip("\n"), indent)
        case _:
            assert_never(view)


def view_text(view: ToolView) -> str:
    """Return what is copied of a view."""
    match view:
        case DiffView():
            return view.new
        case CommandView():
            return f"$ {view.command}\n{view.output}"
        case FileView() | TextView():
            return view.text
        case ListView():
            return "\n".join(view.items)
        case TodoView():
            return "\n".join(f"[{'x' if state == 'done' else ' '}] {text}" for text, state in view.items)
        case _:
            assert_never(view)


def view_lines(view: ToolView, width: int) -> int:
    """Return roughly how many lines a view takes, without a close look at its text."""
    match view:
        case DiffView():
            return view.added + view.removed + 6
        case CommandView():
            return estimate_lines(view.output, width)
        case _:
            return 8


def _list_pieces(view: ListView, indent: int) -> list[RowPiece]:
    if not view.items:
        return [Plain(strings.NOTHING_FOUND, "faint", indent=indent)]
    items = [fit(item, 4_000) for item in view.items[:_SHOWN_ITEMS]]
    pieces = output_pieces("\n".join(items), indent)
    missing = max(view.total, len(view.items)) - len(items)
    if missing > 0:
        pieces.append(Plain(strings.MORE.format(count=exact(missing)), "faint", indent=indent))
    return pieces
