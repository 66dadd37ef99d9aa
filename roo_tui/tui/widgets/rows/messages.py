"""What people and the model say: user rows, answers, thinking."""

import time
from dataclasses import dataclass

from roo_tui.domain.views import AnswerRow, ThinkingRow, UserRow
from roo_tui.plain_text import one_line
from roo_tui.tui.widgets.rows.row_view import Hint, RowView, Title
from roo_tui.tui.widgets.views.canvas import Canvas, Line, Plain, RowPiece, estimate_lines, fit, wrap
from roo_tui.tui.widgets.views.markdown import markdown_pieces

COPY = Hint("c", "copy", "copy")


@dataclass(frozen=True, slots=True)
class Opening:
    """Who spoke and when, with the words after it on the same line where they are one paragraph."""

    clock: str
    words: str

    def estimate(self, width: int) -> int:
        """Lines of the words behind the name."""
        return estimate_lines(self.words, width - 12)

    def draw(self, canvas: Canvas) -> list[Line]:
        """The lines."""
        palette = canvas.palette
        spans = [("you", palette.user), (f"  {self.clock}" if self.clock else "", palette.faint)]
        if self.words:
            spans += [("  ", palette.text), (self.words, palette.text)]
        return [Line(line) for line in wrap(spans, canvas.width - 1)]


def user_sketch(row: UserRow) -> RowView:
    """A person's words: one paragraph goes on the line of the name, more begin below it."""
    words = fit(row.words).strip("\n")
    clock = _clock(row.at_ms) if row.at_ms else ""
    body: list[RowPiece] = [Opening(clock, "" if "\n" in words else words)]
    if "\n" in words:
        lines = words.split("\n")
        body += [Plain("\n".join(lines[start : start + 64])) for start in range(0, len(lines), 64)]
    if row.extras:
        body.append(Plain(one_line(" · ".join(row.extras), 400), "faint"))
    return RowView(None, body, bar="user", background="user_background")


def _clock(at_ms: int) -> str:
    return time.strftime("%H:%M", time.localtime(at_ms / 1000))


def answer_sketch(row: AnswerRow) -> RowView:
    """The model's words as Markdown."""
    pieces = markdown_pieces(fit(row.text))
    if row.interrupted:
        pieces.append(Plain("interrupted", "warning"))
    return RowView(None, pieces, bar="speaker")


def thinking_sketch(row: ThinkingRow, expanded: bool) -> RowView:
    """One dim line, or the whole reasoning."""
    word = "Thinking…" if row.open else "Thought"
    last = row.text[-400:].rstrip().rsplit("\n", 1)[-1] if row.open else row.text
    glance = "" if expanded else one_line(last.replace("**", ""), 160)
    title = Title([[(word, "muted")], [(glance, "faint")]], hints=(COPY,))
    body = [] if not expanded else list(markdown_pieces(fit(row.text).strip("\n"), 2))
    return RowView(title, body, foldable=True, expanded=expanded)
