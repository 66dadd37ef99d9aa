"""One row of the transcript with its drawing: its pieces, their heights, and the strips drawn so far."""

from dataclasses import dataclass, field

from rich.style import Style
from textual.strip import Strip

from roo_tui.domain.views import AnswerRow, ThinkingRow
from roo_tui.tui.widgets.rows import AnyBody, RowView, kind_of
from roo_tui.tui.widgets.views.canvas import Blank, Canvas, Line, RowPiece, Span, strip
from roo_tui.tui.widgets.views.markdown_stream import MarkdownStream
from roo_tui.tui.widgets.views.palette import Palette


@dataclass(frozen=True, slots=True)
class Look:
    """Everything a drawing depends on besides the row: the width of the text and the colours, full and dimmed."""

    width: int
    palette: Palette
    dimmed: Palette

    def canvas(self, in_context: bool) -> Canvas:
        """Return what a row is drawn on, in context or not."""
        return Canvas(self.width, self.palette if in_context else self.dimmed)


@dataclass(slots=True, eq=False)
class RowBox:
    """A row, folded or not. Heights are estimates until the pieces are drawn.

    `pieces` is empty until the row comes near the screen. `gap` is the number of blank lines above it, drawn as the
    first piece. `hidden` rows are folded away with their neighbours and take no line; `seen` ones have been on the
    screen unfolded.
    """

    key: str
    body: AnyBody
    in_context: bool = True
    expanded: bool = False
    gap: int = 0
    hidden: bool = False
    seen: bool = False
    at: int = 0
    live_output: str = ""
    stream: MarkdownStream | None = None
    view: RowView | None = None
    pieces: list[RowPiece] = field(default_factory=list)
    heights: list[int] = field(default_factory=list)
    strips: list[list[Strip] | None] = field(default_factory=list)
    estimate: int = 0
    _settled: int = 1

    @property
    def text(self) -> str:
        """The words of an answer or of thinking, also while they stream."""
        if self.stream is not None:
            return self.stream.text
        return self.body.text if isinstance(self.body, AnswerRow | ThinkingRow) else ""

    def guess(self, width: int) -> int:
        """Estimate the height from the row alone and remember it."""
        self.estimate = self.gap + kind_of(self.body).estimate(self.body, self.expanded, width)
        return self.height

    @property
    def height(self) -> int:
        """Lines the row takes; estimated until it is drawn."""
        if self.hidden:
            return 0
        return sum(self.heights) if self.pieces else self.estimate

    def prepare(self, width: int) -> None:
        """Make the pieces, unless they exist."""
        if self.pieces:
            return
        if self.stream is not None:
            self.view = RowView(None, self.stream.pieces(), bar="speaker")
        else:
            self.view = kind_of(self.body).view(self.body, self.expanded, self.live_output)
        title = [self.view.title] if self.view.title else []
        self.pieces = [Blank(self.gap), *title, *self.view.body]
        self.heights = [piece.estimate(width) for piece in self.pieces]
        self.strips = [None] * len(self.pieces)

    def follow_stream(self, width: int) -> None:
        """Update the pieces from the stream; unchanged pieces keep their strips."""
        if self.stream is None or not self.pieces:
            return
        pieces = [self.pieces[0], *self.stream.pieces()]
        same = min(len(pieces), len(self.pieces))
        first = next((at for at in range(self._settled, same) if pieces[at] != self.pieces[at]), same)
        self._settled = max(1, len(pieces) - 4)
        self.pieces[first:] = pieces[first:]
        self.heights[first:] = [piece.estimate(width) for piece in pieces[first:]]
        self.strips[first:] = [None] * (len(pieces) - first)

    def forget(self) -> None:
        """Drop the drawing; its height stays as the estimate."""
        if self.pieces:
            self.estimate = sum(self.heights)
            self.view, self._settled = None, 1
            self.pieces, self.heights, self.strips = [], [], []

    def draw(self, index: int, look: Look) -> list[Strip]:
        """Return the strips of a piece, drawing it if it is not drawn; its height is exact from then on."""
        drawn = self.strips[index]
        if drawn is None:
            canvas = look.canvas(self.in_context)
            drawn = [
                self._strip(line, index, number, canvas) for number, line in enumerate(self.pieces[index].draw(canvas))
            ]
            self.strips[index] = drawn
            self.heights[index] = len(drawn)
        return drawn

    def redraw(self, index: int, line: Line, look: Look) -> Strip:
        """Return another line in the place of a piece's first one, with the same gutter."""
        return self._strip(line, index, 0, look.canvas(self.in_context))

    def _strip(self, line: Line, index: int, number: int, canvas: Canvas) -> Strip:
        palette = canvas.palette
        if index == 0:
            return strip(line, [("   ", palette.background)], palette.background, canvas, palette.background)
        view = self.view
        assert view is not None
        background: Style = getattr(palette, view.background)
        first = index == 1 and number == 0
        margin: Span = (" " if self.in_context else "┊", palette.faint)
        if view.bar:
            gutter = [margin, (f"{view.mark} ", getattr(palette, view.bar))]
        else:
            gutter = [margin, (f"{view.mark if first else '':<1} ", palette.muted)]
        return strip(line, gutter, background, canvas, line.background if first and line.background else background)
