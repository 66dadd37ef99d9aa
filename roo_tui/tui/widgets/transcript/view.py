"""A scroll view over a row list: which lines are on the screen, and which of them are repainted."""

from itertools import islice

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from roo_tui.tui.widgets.rows import FoldedRow, copy_text
from roo_tui.tui.widgets.transcript.layout import PlacedLine, Spot
from roo_tui.tui.widgets.transcript.marks import line_number, regions, selected_text, with_pill, with_selection
from roo_tui.tui.widgets.transcript.row_box import Look, RowBox
from roo_tui.tui.widgets.transcript.row_list import STATUS_KEY, RowList
from roo_tui.tui.widgets.views.canvas import GUTTER
from roo_tui.tui.widgets.views.palette import Palette


class RowListView(ScrollView):
    """Shows a row list. At the end, it follows new lines; elsewhere, the top line stays where it is.

    The top line is kept as a spot, a line of a row. Textual's scroll position is computed from it; only when the user
    scrolls, the spot is computed from the position.
    """

    behind: reactive[bool] = reactive(False)
    """Whether something new is below what is shown."""
    selected_key: reactive[str] = reactive("")
    """The key of the row the cursor is on; empty until it is moved."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        palette = Palette.of({}, Color(0, 0, 0))
        self._list = RowList(Look(77, palette, palette))
        self._top: Spot | None = None
        self._follow = True
        self._places: list[PlacedLine] = []
        self._screen_strips: list[Strip] = []
        self._placing = False
        self._flush_due = False
        self._hover = ""
        self._theme_key: object = None
        self._thumb = (-1, -1, -1)

    def scroll_end(self, *_args: object, **_options: object) -> None:
        """Go to the end and follow it."""
        self._follow = True
        self._flush()

    def scroll_home(self, *_args: object, **_options: object) -> None:
        """Go to the first row."""
        first = self._list.layout.next_box(0)
        if first is not None:
            self._follow, self._top = False, Spot(first)
            self._flush()

    def scroll_to_key(self, key: str) -> None:
        """Bring a row into view and put the cursor on it; unfold it if needed."""
        box = self._list.get(key)
        if box is None:
            return
        if box.hidden:
            fold = next(
                each for each in reversed(self._list.layout.boxes[: box.at]) if isinstance(each.body, FoldedRow)
            )
            self._list.toggle(fold.key, True)
        self.selected_key = key
        self._follow = False
        self._top = Spot(box)
        self._flush()

    def _keep_at(self, box: RowBox, y: int) -> None:
        """Keep the first line of a row where it is on the screen, or move it up to show more of the row."""
        layout = self._list.layout
        layout.touch(box)
        first = Spot(box, 1)
        lines = sum(place.box is box for place in islice(layout.down(first), self._height))
        self._follow = False
        self._top = layout.move(first, -max(0, min(y, self._height - lines)))
        self._flush()
        self._follow = self._at_end()

    @property
    def follows(self) -> bool:
        """Whether the end is kept in view."""
        return self._follow

    @property
    def _height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def _changed(self) -> None:
        """Schedule one redraw after all changes of this step."""
        if not self._flush_due and self.is_attached:
            self._flush_due = True
            self.call_later(self._flush)

    def on_resize(self) -> None:
        """Lay out again in the new size."""
        self._flush()

    def notify_style_update(self) -> None:
        """Take over colours that changed."""
        super().notify_style_update()
        self._changed()

    def _look_again(self) -> None:
        """Update width and colours; the top line stays where it is."""
        width = self.scrollable_content_region.width
        background = self.background_colors[1]
        theme_key = (self.app.theme, self.app.current_theme, background)
        layout = self._list.layout
        if width <= 0 or (theme_key == self._theme_key and layout.look.width == max(16, width - GUTTER)):
            return
        palette, dimmed = layout.look.palette, layout.look.dimmed
        if theme_key != self._theme_key:
            palette = Palette.of(self.app.get_css_variables(), background)
            dimmed = palette.dimmed(background)
            self._theme_key = theme_key
        share = 0.0
        top = self._top
        if top is not None and layout.valid(top) and top.box.pieces:
            share = top.line / max(1, top.box.heights[top.piece])
        layout.set_look(Look(max(16, width - GUTTER), palette, dimmed))
        if top is not None and layout.valid(top):
            layout.touch(top.box)
            piece = min(top.piece, len(top.box.pieces) - 1)
            lines = len(layout.draw(top.box, piece))
            self._top = Spot(top.box, piece, min(max(0, lines - 1), int(share * lines)))

    def _flush(self) -> None:
        """Synchronise layout, scroll position and screen, and repaint the lines that differ."""
        self._flush_due = False
        if not self.is_attached or not self.size:
            return
        layout = self._list.layout
        self._list.settle()
        self._look_again()
        height = self._height
        if self._top is not None and not self._follow:
            self._top = self._kept(self._top)
        if self._follow or self._top is None:
            self._top = layout.end(height)
        places = list(islice(layout.down(self._top), height)) if self._top else []
        if self._top is not None and len(places) < height and layout.total > len(places):
            self._top = layout.end(height)
            places = list(islice(layout.down(self._top), height)) if self._top else []
        self._places = places
        if self._at_end():
            self.behind = False
        if self.has_focus and self.selected_key not in self._list:
            self._select_visible()
        self._place(layout.line_of(self._top) if self._top else 0, layout.total)
        self._paint()

    def _kept(self, spot: Spot) -> Spot | None:
        """Return the spot at the top of the screen, or its replacement if it is gone."""
        layout = self._list.layout
        if layout.valid(spot):
            layout.touch(spot.box)
            piece = min(spot.piece, len(spot.box.pieces) - 1)
            lines = len(layout.draw(spot.box, piece))
            return Spot(spot.box, piece, min(spot.line, max(0, lines - 1)))
        for place in self._places:
            if layout.valid(Spot(place.box)):
                return Spot(place.box, min(place.piece, max(0, len(place.box.pieces) - 1)))
        return layout.spot_at(round(self.scroll_y))

    def _at_end(self) -> bool:
        """Return whether the last line of all is on the screen."""
        return not self._places or self._list.layout.is_last(self._places[-1])

    def _place(self, line: int, total: int) -> None:
        """Tell Textual where the screen is within all lines, without asking it to lay anything out."""
        size = Size(self.scrollable_content_region.width, total)
        self._placing = True
        try:
            if size != self.virtual_size:
                self.set_reactive(Widget.virtual_size, size)
            self.scroll_y = line
            self.scroll_target_y = line
        finally:
            self._placing = False
        height = self._height
        thumb = (8 * height * line // max(1, total), 8 * height * height // max(1, total), height)
        if thumb != self._thumb:
            self._thumb = thumb
            bar = self.vertical_scrollbar
            bar.window_virtual_size = total
            bar.window_size = height
            bar.position = line

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """Take a new size; only `_flush` sets the scroll position."""
        self._placing = True
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._placing = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scroll position where the user changed it, by a few lines or far."""
        if not self._placing and round(old_value) != round(new_value):
            self._scrolled(round(new_value) - round(old_value), round(new_value))

    def _scrolled(self, lines: int, target: int) -> None:
        layout = self._list.layout
        if self._top is None:
            return
        if target >= self.max_scroll_y and lines > 3 * self._height:
            self._follow = True
        elif abs(lines) <= 3 * self._height and layout.valid(self._top):
            self._scroll_by(lines)
            return
        else:
            self._follow = False
            self._top = layout.spot_at(target)
        self._flush()

    def _scroll_by(self, lines: int) -> None:
        """Move by drawn lines, not by estimated ones."""
        if self._top is None or not lines or not self._list.layout.valid(self._top):
            return
        if lines > 0 and self._at_end():
            self._follow = True
        else:
            self._follow = False
            self._top = self._list.layout.move(self._top, lines)
        self._flush()
        if lines > 0 and self._at_end():
            self._follow = True

    def _paint(self) -> None:
        cursor = self.selected_key if self.has_focus else ""
        selection, look = self.text_selection, self._list.layout.look
        filters = self.get_line_filters() if self.app.no_color or self.app.native_ansi_color else ()
        background = self.background_colors[1] if filters else None
        strips: list[Strip] = []
        for place in self._places:
            strip, box = place.strip, place.box
            if place.piece and box.key in (cursor, self._hover):
                strip = self._active(place, box.key == cursor)
            if selection is not None:
                strip = with_selection(strip, line_number(place), selection, look.palette.selection)
            for line_filter in filters:
                assert background is not None
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip)
        if self.behind and strips:
            strips[-1] = with_pill(strips[-1], self.scrollable_content_region.width, look.palette)
        old, self._screen_strips = self._screen_strips, strips
        longest = max(len(old), len(strips))
        shorter = min(len(old), len(strips))
        changed = [y for y in range(longest) if y >= shorter or (old[y] is not strips[y] and old[y] != strips[y])]
        if changed:
            self.refresh(*regions(changed, self.size.width))

    def _active(self, place: PlacedLine, selected: bool) -> Strip:
        strip, box = place.strip, place.box
        look = self._list.layout.look
        if place.piece == 1 and place.line == 0 and box.view is not None and box.view.title is not None:
            strip = box.redraw(1, box.view.title.line(look.canvas(box.in_context), True, selected), look)
        if not selected:
            return strip
        first, *rest = strip
        mark = (
            Segment("▎" + first.text[1:], (first.style or Style()) + look.palette.accent)
            if len(first.text) == 1
            else first
        )
        return Strip([mark, *rest], strip.cell_length)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines that `_paint` made; nothing is drawn here."""
        strips = self._screen_strips[crop.y : crop.bottom]
        width = crop.right
        if len(strips) < crop.height:
            blank = Strip.blank(width, self._list.layout.look.palette.background)
            strips = strips + [blank] * (crop.height - len(strips))
        if crop.x or any(strip.cell_length != width for strip in strips):
            background = self._list.layout.look.palette.background
            return [strip.crop_extend(crop.x, width, background) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """Return a line with the offsets by which a selection finds its text."""
        if not 0 <= y < len(self._screen_strips):
            return Strip.blank(self.size.width)
        strip = self._screen_strips[y]
        return strip.apply_offsets(-GUTTER, line_number(self._places[y]))

    # selection

    def selection_updated(self, _selection: Selection | None) -> None:
        """Show what is selected."""
        self._paint()

    def copy_text(self, key: str) -> str:
        """Return a row as unformatted text; "" for a row that does not exist."""
        box = self._list.get(key)
        if box is None:
            return ""
        return box.text or copy_text(box.body)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected lines as they are on the screen."""
        if selection.start is None and selection.end is None:
            return "\n\n".join(self.copy_text(box.key) for box in self._list.rows()), "\n"
        text = selected_text(self._list.layout, selection)
        return None if text is None else (text, "\n")

    def _select_visible(self) -> None:
        rows = [place.box for place in self._places if place.piece and place.box.key != STATUS_KEY]
        if rows:
            self.selected_key = (rows[-1] if self._follow else rows[0]).key

    def watch_selected_key(self) -> None:
        """Show the cursor on its row."""
        if self.is_attached:
            self._paint()
