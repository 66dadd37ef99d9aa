"""Draw a command and its output."""

from roo_tui.domain.views import CommandView
from roo_tui.tui import strings
from roo_tui.tui.widgets.views.canvas import Plain, RowPiece, fit
from roo_tui.tui.widgets.views.code import code_pieces

PIECE_LINES = 64


def script_pieces(command: str, indent: int = 2) -> list[RowPiece]:
    """Return the whole of a command, as coloured as any code."""
    lines = fit(command.strip("\n")).split("\n")
    return list(code_pieces(lines, "bash", indent=indent))


def command_pieces(view: CommandView, indent: int = 2) -> list[RowPiece]:
    """Return the command, if it is longer than a line, and its output."""
    pieces: list[RowPiece] = []
    if "\n" in view.command.strip() or len(view.command) > 60:
        pieces += script_pieces(view.command, indent)
    output = fit(view.output).rstrip("\n")
    if output:
        pieces += output_pieces(output, indent)
    elif view.exit_code is not None:
        pieces.append(Plain(strings.NO_OUTPUT, "faint", False, "", indent))
    if view.timed_out:
        pieces.append(Plain(strings.TIMED_OUT, "warning", False, "", indent))
    return pieces


def output_pieces(text: str, indent: int = 2) -> list[RowPiece]:
    """Return fitted output as pieces of a bounded number of lines."""
    lines = text.split("\n")
    return [
        Plain("\n".join(lines[start : start + PIECE_LINES]), "text", True, "code_background", indent)
        for start in range(0, len(lines), PIECE_LINES)
    ]
