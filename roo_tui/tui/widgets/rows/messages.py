"""What people and the model say: user rows, answers, thinking."""

import time
from dataclasses import dataclass

from roo_tui.domain.views import AnswerRow, ThinkingRow, UserRow
from roo_tui.plain_text import one_line
from roo_tui.tui.widgets.rows.sketch import Hint, Sketch, Title
from roo_tui.tui.widgets.views.markdown import markdown_pieces
from roo_tui.tui.widgets.views.paper import Line, Paper, Piece, Plain, estimate_lines, fit, wrap

COPY = Hint("c", "copy", "copy")


@dataclass(frozen=True, slots=True)
class Opening:
    """Who spoke and when, with the words after it on the same line where they are one paragraph."""

    clock: str
    words: str

    def estimate(self, width: int) -> int:
        """Lines of the words behind the name."""
        return estimate_lines(self.words, width - 12)

    def draw(self, paper: Paper) -> list[Line]:
        """The lines."""
        palette = paper.palette
        spans = [("you", palette.user), (f"  {self.clock}" if self.clock else "", palette.faint)]
        if self.words:
            spans += [("  ", palette.text), (self.words, palette.text)]
        return [Line(line) for line in wrap(spans, paper.width - 1)]


def user_sketch(row: UserRow) -> Sketch:
    """A person's words: one paragraph goes on the line of the name, more begin below it."""
    words = fit(row.words).strip("\n")
    clock = _clock(row.at_ms) if row.at_ms else ""
    body: list[Piece] = [Opening(clock, "" if "\n" in words else words)]
    if "\n" in words:
        lines = words.split("\n")
        body += [Plain("\n".join(lines[start : start + 64])) for start in range(0, len(lines), 64)]
    if row.extras:
        body.append(Plain(one_line(" · ".join(row.extras), 400), "faint"))
    return Sketch(None, body, bar="user", ground="user_ground")


def _clock(at_ms: int) -> str:
    return time.strftime("%H:%M", time.localtime(at_ms / 1000))


def answer_sketch(row: AnswerRow) -> Sketch:
    """The model's words as Markdown."""
    pieces = markdown_pieces(fit(row.text))
    if row.interrupted:
        pieces.append(Plain("interrupted", "warning"))
    return Sketch(None, pieces, bar="speaker")


def thinking_sketch(row: ThinkingRow, expanded: bool) -> Sketch:
    """One dim line, or the whole reasoning."""
    word = "Thinking…" if row.open else "Thought"
    last = row.text[-400:].rstrip().rsplit("\n", 1)[-1] if row.open else row.text
    glance = "" if expanded else one_line(last.replace("**", ""), 160)
    title = Title([[(word, "muted")], [(glance, "faint")]], hints=(COPY,))
    body = [] if not expanded else list(markdown_pieces(fit(row.text).strip("\n"), 2))
    return Sketch(title, body, foldable=True, expanded=expanded)
