"""What a tool would do, drawn as in the transcript but all of it and scrollable: a diff, a command, a file."""

from typing import Any

from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from roo_tui.domain.views import CommandView, ToolView
from roo_tui.tui.widgets.views import view_pieces
from roo_tui.tui.widgets.views.canvas import GUTTER, Canvas, strip
from roo_tui.tui.widgets.views.command import script_pieces
from roo_tui.tui.widgets.views.palette import Palette

_LINE_LIMIT = 5_000


class ToolBody(ScrollView, can_focus=False):
    """As high as what it shows, up to two fifths of the screen."""

    DEFAULT_CSS = "ToolBody { height: auto; overflow-x: hidden; scrollbar-size-vertical: 1; }"

    def __init__(self, view: ToolView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        # Of a command that is yet to run, every character is shown: somebody is about to allow it.
        self._pieces = script_pieces(view.command, 0) if isinstance(view, CommandView) else view_pieces(view, indent=0)
        self._strips: list[Strip] = []
        self._drawn_for: tuple[int, str] = (0, "")

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)

    def _theme_changed(self, _: Any) -> None:
        self._drawn_for = (0, "")
        self.refresh(layout=True)

    def on_resize(self, _: events.Resize) -> None:
        self._draw(self.scrollable_content_region.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 (Textual's)
        # Not by `max-height`: a parent of automatic height would still leave space for all of it.
        self._draw(width)
        return min(len(self._strips), max(3, viewport.height * 2 // 5))

    def _draw(self, width: int) -> None:
        if width <= GUTTER or self._drawn_for == (width, self.app.theme):
            return
        self._drawn_for = (width, self.app.theme)
        palette = Palette.of(self.app.theme_variables, self.background_colors[1])
        canvas = Canvas(width - GUTTER, palette)
        blank = [(" " * GUTTER, palette.text)]
        self._strips = []
        for piece in self._pieces:
            self._strips += [
                strip(line, blank, palette.background, canvas, palette.background) for line in piece.draw(canvas)
            ]
            if len(self._strips) >= _LINE_LIMIT:
                break
        self.virtual_size = Size(width, len(self._strips))

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        return self._strips[line] if line < len(self._strips) else Strip.blank(self.size.width)
