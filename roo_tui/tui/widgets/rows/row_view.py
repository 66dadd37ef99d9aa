"""The parts of every row: a title that can be folded, a body of pieces, and the speaker's bar."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len
from rich.style import Style

from roo_tui.tui import strings
from roo_tui.tui.widgets.views.canvas import Canvas, Line, RowPiece, Span, crop

StyledText = tuple[str, str]
"""A text and the name of the style (a field of the palette) it is written in."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A key that does something with a row while it is selected. `always` shows it on other rows too."""

    key: str
    action: str
    label: str
    always: bool = False


COPY = Hint("c", "copy", strings.HINT_COPY)


@dataclass(frozen=True, slots=True)
class Title:
    """The first line of a row: parts from the left, parts at the right edge, hints of keys.

    `parts` are separated by blanks; from the fourth on they give way, last first, where the line is too short.
    """

    parts: Sequence[Sequence[StyledText]]
    right: Sequence[StyledText] = ()
    hints: Sequence[Hint] = ()

    def estimate(self, _width: int) -> int:
        """Return 1."""
        return 1

    def draw(self, canvas: Canvas) -> list[Line]:
        """Return the line of a row that is not selected."""
        return [self.line(canvas)]

    def line(self, canvas: Canvas, active: bool = False, cursor: bool = False) -> Line:
        """Return the line; `active` shows every hint, `cursor` puts it on the cursor's background."""
        palette = canvas.palette
        background = palette.cursor_background if cursor else None
        edge = [
            span
            for text, style in self.right
            if text
            for span in (("   ", palette.text), (text, _style(canvas, style)))
        ]
        room = canvas.width - 1 - _cells(edge)
        shown = [hint for hint in self.hints if active or hint.always]
        hints = _hint_spans(canvas, shown)
        least = _cells(self._left(canvas, 0, crop_them=False))
        while shown and not shown[-1].always and least + _cells(hints) > room:
            hints = _hint_spans(canvas, shown := shown[:-1])
        left = self._left(canvas, room - _cells(hints))
        if self.right:
            gap = max(0, room - _cells(hints) - _cells(left))
            return Line([*left, (" " * gap, palette.text), *hints, *edge], background)
        return Line([*left, *hints], background)

    def _left(self, canvas: Canvas, room: int, crop_them: bool = True) -> list[Span]:
        parts = [[(text, _style(canvas, style)) for text, style in part if text] for part in self.parts]
        parts = [part for part in parts if part]
        for kept in range(len(parts), 0, -1):
            for blanks in ("   ", "  "):
                spans: list[Span] = []
                for part in parts[:kept]:
                    spans += [(blanks, canvas.palette.text), *part] if spans else part
                if _cells(spans) <= room or kept <= 3:
                    return crop(spans, max(1, room)) if crop_them else spans
        return []


def _hint_spans(canvas: Canvas, hints: Sequence[Hint]) -> list[Span]:
    palette = canvas.palette
    spans: list[Span] = []
    for hint in hints:
        meta = Style(meta={"row_action": hint.action})
        spans += [("   ", palette.text), (f"{hint.key} ", palette.accent + meta), (hint.label, palette.muted + meta)]
    return spans


def _style(canvas: Canvas, name: str) -> Style:
    style: Style = getattr(canvas.palette, name)
    return style


def _cells(spans: Sequence[Span]) -> int:
    return sum(cell_len(text) for text, _ in spans)


@dataclass(frozen=True, slots=True)
class RowView:
    """A row ready to be drawn: `title` is None for text that always shows; `bar` is the style of the speaker's bar."""

    title: Title | None
    body: list[RowPiece] = field(default_factory=list)
    foldable: bool = False
    expanded: bool = False
    bar: str = ""
    background: str = "background"
    sign: str = ""

    @property
    def mark(self) -> str:
        """The sign left of the first line."""
        if self.sign or self.bar:
            return self.sign or "▐"
        return ("▾" if self.expanded else "▸") if self.foldable else "·" if self.title else ""


Body = TypeVar("Body")


class RowKind(ABC, Generic[Body]):
    """Everything the transcript knows of one kind of row."""

    spoken: ClassVar[bool] = False
    """Whether blank lines set it apart from its neighbours."""

    @abstractmethod
    def view(self, body: Body, expanded: bool, live_output: str, /) -> RowView:
        """Return how a row is drawn; `live_output` is what a running command has printed so far."""

    @abstractmethod
    def copy_text(self, body: Body, /) -> str:
        """Return the text that is copied, unformatted."""

    def estimate(self, _body: Body, expanded: bool, _width: int, /) -> int:
        """Return roughly how many lines a row takes, without a close look at its text."""
        return 9 if expanded else 1

    def opens_by_itself(self, _body: Body, /) -> bool:
        """Return whether a row is unfolded until the user folds it."""
        return False
