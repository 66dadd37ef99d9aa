"""Rows for the user's messages, the model's answers and its thinking."""

from dataclasses import dataclass

from roo_tui.domain.views import AnswerRow, ThinkingRow, UserRow
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import clock
from roo_tui.tui.widgets.rows.row_view import COPY, RowKind, RowView, Title
from roo_tui.tui.widgets.views.canvas import Canvas, Line, Plain, RowPiece, estimate_lines, fit, wrap
from roo_tui.tui.widgets.views.markdown import markdown_pieces


@dataclass(frozen=True, slots=True)
class Opening:
    """The speaker and the time, followed by the text on the same line if it is one paragraph."""

    time: str
    words: str

    def estimate(self, width: int) -> int:
        """Return the lines of the words behind the name."""
        return estimate_lines(self.words, width - 12)

    def draw(self, canvas: Canvas) -> list[Line]:
        """Return the lines."""
        palette = canvas.palette
        spans = [(strings.YOU, palette.user), (f"  {self.time}" if self.time else "", palette.faint)]
        if self.words:
            spans += [("  ", palette.text), (self.words, palette.text)]
        return [Line(line) for line in wrap(spans, canvas.width - 1)]


class UserKind(RowKind[UserRow]):
    """The user's message: a single paragraph follows the name, several begin below it."""

    spoken = True

    def view(self, body: UserRow, _expanded: bool, _live_output: str, /) -> RowView:
        """Return name, time and words."""
        words = fit(body.words).strip("\n")
        time = clock(body.at_ms) if body.at_ms else ""
        pieces: list[RowPiece] = [Opening(time, "" if "\n" in words else words)]
        if "\n" in words:
            lines = words.split("\n")
            pieces += [Plain("\n".join(lines[start : start + 64])) for start in range(0, len(lines), 64)]
        if body.extras:
            pieces.append(Plain(one_line(" · ".join(body.extras), 400), "faint"))
        return RowView(None, pieces, bar="user", background="user_background")

    def estimate(self, body: UserRow, _expanded: bool, width: int, /) -> int:
        """Return roughly the lines of the words."""
        return estimate_lines(body.words, width) + bool(body.extras)

    def copy_text(self, body: UserRow, /) -> str:
        """Return the words."""
        return body.words


class AnswerKind(RowKind[AnswerRow]):
    """The model's answer as Markdown."""

    spoken = True

    def view(self, body: AnswerRow, _expanded: bool, _live_output: str, /) -> RowView:
        """Return the words."""
        pieces = markdown_pieces(fit(body.text))
        if body.interrupted:
            pieces.append(Plain(strings.INTERRUPTED, "warning"))
        return RowView(None, pieces, bar="speaker")

    def estimate(self, body: AnswerRow, _expanded: bool, width: int, /) -> int:
        """Return roughly the lines of the words."""
        return estimate_lines(body.text, width) + body.interrupted

    def copy_text(self, body: AnswerRow, /) -> str:
        """Return the Markdown."""
        return body.text


class ThinkingKind(RowKind[ThinkingRow]):
    """One dim line, or the whole reasoning."""

    def view(self, body: ThinkingRow, expanded: bool, _live_output: str, /) -> RowView:
        """Return the one line, or all of it if opened."""
        word = strings.THINKING if body.open else strings.THOUGHT
        last = body.text[-400:].rstrip().rsplit("\n", 1)[-1] if body.open else body.text
        glance = "" if expanded else one_line(last.replace("**", ""), 160)
        title = Title([[(word, "muted")], [(glance, "faint")]], hints=(COPY,))
        pieces = [] if not expanded else list(markdown_pieces(fit(body.text).strip("\n"), 2))
        return RowView(title, pieces, foldable=True, expanded=expanded)

    def estimate(self, body: ThinkingRow, expanded: bool, width: int, /) -> int:
        """Return the line of the title, and roughly those of the reasoning."""
        return 1 + (estimate_lines(body.text, width) if expanded else 0)

    def copy_text(self, body: ThinkingRow, /) -> str:
        """Return the reasoning."""
        return body.text
