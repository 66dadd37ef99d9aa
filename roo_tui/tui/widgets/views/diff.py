"""Draw a diff: side by side if the row is wide enough, else in one column; with line numbers and colours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from rich.cells import cell_len
from rich.style import Style

from roo_tui.domain.views import DiffView
from roo_tui.tui.widgets.views.canvas import Canvas, Line, RowPiece, Span, fit, on, wrap
from roo_tui.tui.widgets.views.code import Code, language_of

SIDE_BY_SIDE = 96
"""Cells of a row from which both sides are shown next to each other (a screen of 100 columns)."""
CONTEXT_LINES = 3
_PIECE_PAIRS = 24
_COMPARED_LINES = 6_000

Side = int | None
Pair = tuple[Side, Side]
"""Indices of lines that stand next to each other: (old, new); both present and equal, or changed."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both texts of a diff, numbered from `first_line`."""

    old: Code
    new: Code
    first_line: int
    number_width: int


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """Some neighbouring lines of a diff. `kind` says whether they are the same on both sides."""

    sides: Sides
    pairs: Sequence[Pair]
    kind: Literal["same", "changed"]
    indent: int

    def estimate(self, width: int) -> int:
        """Return the number of lines if none were wrapped."""
        if self.kind == "same" or width >= SIDE_BY_SIDE:
            return len(self.pairs)
        return sum((old is not None) + (new is not None) for old, new in self.pairs)

    def draw(self, canvas: Canvas) -> list[Line]:
        """Return the lines of this part."""
        return list(self._wide(canvas) if canvas.width >= SIDE_BY_SIDE else self._narrow(canvas))

    def _narrow(self, canvas: Canvas) -> Iterator[Line]:
        room = canvas.width - self.indent - self.sides.number_width - 4
        if self.kind == "same":
            for _, new in self.pairs:
                yield from self._column(canvas, new, "new", " ", None, room)
            return
        for old, _ in self.pairs:
            if old is not None:
                yield from self._column(canvas, old, "old", "-", canvas.palette.removed_background, room)
        for _, new in self.pairs:
            if new is not None:
                yield from self._column(canvas, new, "new", "+", canvas.palette.added_background, room)

    def _column(
        self, canvas: Canvas, at: Side, side: Literal["old", "new"], sign: str, background: Style | None, room: int
    ) -> Iterator[Line]:
        margin: Span = (" " * self.indent, canvas.palette.text)
        for spans in self._cell(canvas, at, side, sign, room):
            yield Line([margin, *spans], background)

    def _cell(self, canvas: Canvas, at: Side, side: str, sign: str, room: int) -> Iterator[list[Span]]:
        palette = canvas.palette
        if at is None:
            yield []
            return
        code = self.sides.old if side == "old" else self.sides.new
        style = palette.error if sign == "-" else palette.success if sign == "+" else palette.faint
        number = str(self.sides.first_line + at)
        for part in wrap(code.spans(at, at + 1, palette)[0], room):
            yield [(f"{number:>{self.sides.number_width}} {sign} ", style), *part]
            number, sign = "", " "

    def _wide(self, canvas: Canvas) -> Iterator[Line]:
        palette = canvas.palette
        half = (canvas.width - self.indent - 3) // 2
        room = half - self.sides.number_width - 3
        margin: Span = (" " * self.indent, palette.text)
        changed = self.kind == "changed"
        for old, new in self.pairs:
            left = self._cell(canvas, old, "old", "-" if changed else " ", room)
            right = self._cell(canvas, new, "new", "+" if changed else " ", room)
            backgrounds = (
                palette.removed_background if changed and old is not None else palette.background,
                palette.added_background if changed and new is not None else palette.background,
            )
            for one, other in zip_longest(left, right):
                yield Line(
                    [
                        margin,
                        *_filled(one or [], half, backgrounds[0]),
                        (" │ ", palette.faint),
                        *_filled(other or [], half, backgrounds[1]),
                    ]
                )


def _filled(spans: Sequence[Span], width: int, background: Style) -> Iterator[Span]:
    used = 0
    for text, style in spans:
        used += cell_len(text)
        yield text, on(background, style)
    if used < width:
        yield " " * (width - used), background


@dataclass(frozen=True, slots=True)
class Skipped:
    """The mark in place of skipped lines of a diff."""

    indent: int

    def estimate(self, _width: int) -> int:
        """Return one line."""
        return 1

    def draw(self, canvas: Canvas) -> list[Line]:
        """Return one line."""
        return [Line([(" " * self.indent + "⋯", canvas.palette.faint)])]


def diff_pieces(view: DiffView, indent: int = 2) -> list[RowPiece]:
    """Return the changed lines of a diff with some lines around them."""
    old, new = _lines_of(view)
    language = language_of(view.path)
    last = view.first_line + max(len(old), len(new))
    sides = Sides(Code(old, language), Code(new, language), view.first_line, len(str(last)))
    pieces: list[RowPiece] = []
    reached = 0
    for kind, pairs in _parts(old, new):
        start = pairs[0][0]
        if kind == "same" and start is not None and start > reached:
            pieces.append(Skipped(indent))
        reached = max([reached, *(old_at + 1 for old_at, _ in pairs if old_at is not None)])
        pieces += [
            DiffPiece(sides, pairs[first : first + _PIECE_PAIRS], kind, indent)
            for first in range(0, len(pairs), _PIECE_PAIRS)
        ]
    return pieces


def _lines_of(view: DiffView) -> tuple[list[str], list[str]]:
    old, new = (fit(text).split("\n") if text else [] for text in (view.old, view.new))
    if not (old and new) or old[-1] == new[-1]:
        # A final line end opens no line, and is worth showing only where one side has it and the other has not.
        old, new = (lines[:-1] if lines and lines[-1] == "" else lines for lines in (old, new))
    return old, new


def _parts(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Literal["same", "changed"], list[Pair]]]:
    for group in _groups(old, new):
        for tag, old_start, old_stop, new_start, new_stop in group:
            pairs: list[Pair] = list(zip_longest(range(old_start, old_stop), range(new_start, new_stop)))
            if pairs:
                yield ("same" if tag == "equal" else "changed"), pairs


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    if len(old) + len(new) <= _COMPARED_LINES:
        yield from SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT_LINES)
        return
    # Too long to compare line by line within a frame: everything between the equal ends counts as changed.
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    around = max(0, head - CONTEXT_LINES)
    yield [
        ("equal", around, head, around, head),
        ("replace", head, len(old) - tail, head, len(new) - tail),
        (
            "equal",
            len(old) - tail,
            min(len(old), len(old) - tail + CONTEXT_LINES),
            len(new) - tail,
            min(len(new), len(new) - tail + CONTEXT_LINES),
        ),
    ]
