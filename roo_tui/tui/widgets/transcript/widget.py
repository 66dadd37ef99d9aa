"""The transcript: one scroll view over all rows, of which only what is on the screen is ever drawn."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from time import monotonic, perf_counter
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.await_remove import AwaitRemove
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from roo_tui.domain.views import AnswerRow, Row, ThinkingRow
from roo_tui.plain_text import clean
from roo_tui.tui.widgets.rows import FoldedRow, StatusRow, text_of
from roo_tui.tui.widgets.transcript.box import Box, Look
from roo_tui.tui.widgets.transcript.layout import Place, Spot
from roo_tui.tui.widgets.transcript.sheet import STATUS_KEY, Sheet
from roo_tui.tui.widgets.transcript.stream import MarkdownStream
from roo_tui.tui.widgets.views.markdown import warm_up
from roo_tui.tui.widgets.views.palette import Palette
from roo_tui.tui.widgets.views.paper import GUTTER

FRAME_S = 1 / 15
"""Seconds between two drawings of a stream; more where drawing takes long, so that keys stay quick."""
_FRAME_CHARACTERS = 30_000
"""Characters of a stream that one drawing takes in; more than arrive in a second of any model."""
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PIECE_UNIT, _BOX_UNIT = 10_000, 100_000_000
_COPIED_LINES = 50_000


class Transcript(ScrollView, can_focus=True):
    """Rows of a conversation, oldest first.

    Follows the end while it is at the end; elsewhere the line one reads stays where it is, whatever arrives or changes
    its height. Rows are replaced by key. All changes made in one go are drawn together.
    """

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Previous row", show=False),
        Binding("down,j", "cursor(1)", "Next row", show=False),
        Binding("home", "cursor_home", "First row", show=False),
        Binding("end", "cursor_end", "Last row", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("enter,space", "activate", "Open or fold", show=False),
        *(Binding(key, f"row_key('{key}')", "Row action", show=False) for key in "urac"),
    ]
    HELP = "↑ ↓ choose a row, Enter opens or folds it, the keys shown in its title act on it, End goes to the newest."

    behind: reactive[bool] = reactive(False)
    """Whether something new is below what is shown."""
    selected_key: reactive[str] = reactive("")
    """The key of the row the cursor is on; empty until it is moved."""

    class RowActivated(Message):
        """A row was opened or folded by its person."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class RowAction(Message):
        """A key or click asks for something: undo, redo, append_receipt, retry, copy."""

        def __init__(self, key: str, action: str) -> None:
            super().__init__()
            self.key = key
            self.action = action

    def __init__(self, *, id: str | None = None, classes: str | None = None, show_behind: bool = True) -> None:
        super().__init__(id=id, classes=classes)
        palette = Palette.of({}, Color(0, 0, 0))
        self._sheet = Sheet(Look(77, palette, palette))
        self._top: Spot | None = None
        self._follow = True
        self._show_behind = show_behind
        self._places: list[Place] = []
        self._screen_strips: list[Strip] = []
        self._placing = False
        self._flush_due = False
        self._hover = ""
        self._theme_key: object = None
        self._streams: dict[str, list[str]] = {}
        self._outputs: dict[str, list[str]] = {}
        self._frame_timer: Timer | None = None
        self._frame_end = 0.0
        self._frame_cost = 0.0
        self._status: tuple[str, str] | None = None
        self._status_timer: Timer | None = None
        self._status_since = 0.0
        self._thumb = (-1, -1, -1)

    # rows

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Show these rows and no others, in this order. Rows that were there keep whether they are open."""
        self._sheet.set_rows(rows, self._reading)
        self._changed()

    def upsert(self, rows: Iterable[Row]) -> None:
        """Replace rows by their key; append those that are new."""
        if self._sheet.upsert(rows, self._reading) and not self._follow:
            self.behind = True
        self._changed()

    def remove(self, keys: Iterable[str] | None = None) -> AwaitRemove:
        """Take rows away; without keys, the whole widget, as of any other.

        A row of the same words that is added before the next drawing takes over a stream's place.
        """
        if keys is None:
            return super().remove()
        self._sheet.remove(keys)
        self._changed()
        return AwaitRemove([])

    def set_status(self, text: str | None, hint: str = "") -> None:
        """Show what goes on as the last row, with the seconds since it began and what stops it; None removes it."""
        if text is None:
            self._status = None
            if self._status_timer is not None:
                self._status_timer.stop()
                self._status_timer = None
            self._sheet.set_status(None)
        else:
            if self._status is None:
                self._status_since = monotonic()
            self._status = (clean(text), clean(hint))
            if self._status_timer is None and self.is_attached:
                self._status_timer = self.set_interval(0.2, self._tick)
            self._tick()
        self._changed()

    def _tick(self) -> None:
        if self._status is None:
            return
        passed = monotonic() - self._status_since
        text, hint = self._status
        self._sheet.set_status(StatusRow(text, int(passed), _SPINNER[int(passed * 5) % len(_SPINNER)], hint))
        self._changed()

    # streams

    def stream_open(self, key: str, body: AnswerRow | ThinkingRow | None = None) -> None:
        """Open a row whose words arrive piece by piece; an existing row of that key goes on."""
        body = replace(body or AnswerRow(""), open=True)
        box = self._sheet.open_stream(key, body)
        if isinstance(body, AnswerRow):
            box.stream = MarkdownStream()
            box.forget()
        else:
            box.body = body
        self._streams[key] = [body.text] if body.text else []
        if not self._follow:
            self.behind = True
        self._request_frame()

    def stream_text(self, key: str, text: str) -> None:
        """More words of an open row. They are drawn at most 15 times a second."""
        if key not in self._streams:
            self.stream_open(key)
        self._streams[key].append(text)
        self._request_frame()

    def stream_close(self, key: str) -> None:
        """The row is whole; its words stay as they were drawn."""
        if key not in self._streams:
            return
        box = self._sheet.get(key)
        if box is not None:
            self._take_words(box, self._streams[key])
            if box.stream is not None:
                box.stream.close()
                box.follow_stream(self._sheet.layout.look.width)
                self._sheet.layout.measure(box)
            elif isinstance(box.body, ThinkingRow):
                box.body = replace(box.body, open=False)
                self._sheet.refresh(box)
        del self._streams[key]
        self._changed()

    def append_output(self, key: str, text: str) -> None:
        """More output of a running command; its last lines show below its title."""
        self._outputs.setdefault(key, []).append(text)
        self._request_frame()

    def _take_words(self, box: Box, waiting: list[str], limit: int | None = None) -> None:
        """Give a box what came for it, up to a limit; the rest is for the next drawing."""
        if not waiting:
            return
        text = "".join(waiting)
        waiting[:] = [text[limit:]] if limit is not None and len(text) > limit else []
        text = text[:limit]
        if box.stream is not None:
            box.stream.add(text)
            box.follow_stream(self._sheet.layout.look.width)
            self._sheet.layout.measure(box)
        elif isinstance(box.body, ThinkingRow):
            box.body = replace(box.body, text=box.body.text + text)
            self._sheet.refresh(box)

    def _request_frame(self) -> None:
        """Draw soon: at once after a pause, else a frame later, else as much later as drawing is slow."""
        if self._frame_timer is None and self.is_attached:
            pause = max(FRAME_S, 6 * self._frame_cost)
            self._frame_timer = self.set_timer(max(0.001, self._frame_end + pause - monotonic()), self._frame)

    def _frame(self) -> None:
        started = perf_counter()
        self._frame_timer = None
        if not self._follow and (self._outputs or any(self._streams.values())):
            self.behind = True
        for key, waiting in self._streams.items():
            box = self._sheet.get(key)
            if box is not None:
                self._take_words(box, waiting, _FRAME_CHARACTERS)
        for key, parts in self._outputs.items():
            box = self._sheet.set_output(key, "".join(parts))
            if box is not None:
                self._sheet.refresh(box)
        self._outputs.clear()
        self._flush()
        self._frame_cost = perf_counter() - started
        self._frame_end = monotonic()
        if any(self._streams.values()):
            self._request_frame()

    # folding, cursor, copies

    def toggle(self, key: str) -> None:
        """Open a folded row, fold an open one."""
        old = self._sheet.get(key)
        y = next((y for y, place in enumerate(self._places) if place.box is old and place.piece), None)
        box = self._sheet.toggle(key)
        if box is not None and y is not None:
            self._keep_at(box, y)
        self._changed()

    def _keep_at(self, box: Box, y: int) -> None:
        """Leave the first line of a row where it is on the screen, or higher if more of the row shows then."""
        layout = self._sheet.layout
        layout.touch(box)
        first = Spot(box, 1)
        lines = sum(place.box is box for place in islice(layout.down(first), self._height))
        self._follow = False
        self._top = layout.move(first, -max(0, min(y, self._height - lines)))
        self._flush()
        self._follow = self._at_end()

    def expand_all(self) -> None:
        """Open every row, also what is folded away."""
        self._set_all(True)

    def fold_all(self) -> None:
        """Fold every row to its title."""
        self._set_all(False)

    def _set_all(self, expanded: bool) -> None:
        for box in list(self._sheet.layout.boxes):
            if box.key in self._sheet and box.key != STATUS_KEY:
                self._sheet.toggle(box.key, expanded)
        self._changed()

    def copy_text(self, key: str) -> str:
        """Return a row as text, as it came; "" for a row that is not there."""
        box = self._sheet.get(key)
        if box is None:
            return ""
        return box.text or text_of(box.body)

    def scroll_to_key(self, key: str) -> None:
        """Bring a row into view and put the cursor on it, opening what it is folded away in."""
        box = self._sheet.get(key)
        if box is None:
            return
        if box.hidden:
            fold = next(
                each for each in reversed(self._sheet.layout.boxes[: box.at]) if isinstance(each.body, FoldedRow)
            )
            self._sheet.toggle(fold.key, True)
        self.selected_key = key
        self._follow = False
        self._top = Spot(box)
        self._flush()

    def scroll_end(self, *_args: Any, **_options: Any) -> None:
        """Go to the end and follow it."""
        self._follow = True
        self._flush()

    def scroll_home(self, *_args: Any, **_options: Any) -> None:
        """Go to the first row."""
        first = self._sheet.layout.next_box(0)
        if first is not None:
            self._follow, self._top = False, Spot(first)
            self._flush()

    @property
    def follows(self) -> bool:
        """Whether the end is kept in view."""
        return self._follow

    @property
    def _reading(self) -> Box | None:
        """The row at the top of the screen, None while the end is followed."""
        return None if self._follow or self._top is None else self._top.box

    def action_cursor(self, step: int) -> None:
        """Move the cursor by a row; scroll through a row that is longer than the screen first."""
        layout = self._sheet.layout
        box = self._sheet.get(self.selected_key)
        if box is None or box.hidden:
            self._select_visible()
            return
        first, last = self._visible()
        if step > 0 and last < layout.top_of(box) + box.height:
            if layout.top_of(box) + box.height - first > self._height:
                self._scroll_by(max(1, self._height // 3))
                return
        elif step < 0 and first > layout.top_of(box) + box.gap and box.height > self._height:
            self._scroll_by(-max(1, self._height // 3))
            return
        other = layout.next_box(box.at + 1) if step > 0 else layout.box_before(box.at)
        if other is not None and other.key != STATUS_KEY:
            self._select(other)
        elif step > 0:
            self.scroll_end()
        else:
            self.scroll_home()

    def _visible(self) -> tuple[int, int]:
        """The lines from and to which the screen shows, counted as `top_of` does."""
        top = self._sheet.layout.line_of(self._top) if self._top else 0
        return top, top + self._height

    def _select(self, box: Box) -> None:
        self.selected_key = box.key
        layout = self._sheet.layout
        layout.touch(box)
        for piece in range(min(len(box.pieces), 12)):
            layout.draw(box, piece)
        first, last = self._visible()
        top = layout.top_of(box)
        if top < first:
            self._scroll_by(top - first)
        elif top + box.height > last:
            self._scroll_by(min(top + box.height - last, top - first))
        self._flush()

    def action_cursor_home(self) -> None:
        """Put the cursor on the first row."""
        self.scroll_home()
        if first := self._sheet.layout.next_box(0):
            self._select(first)

    def action_cursor_end(self) -> None:
        """Put the cursor on the last row and follow the end."""
        last = next(
            (box for box in reversed(self._sheet.layout.boxes) if box.key != STATUS_KEY and not box.hidden), None
        )
        if last is not None:
            self.selected_key = last.key
        self.scroll_end()

    def action_page(self, step: int) -> None:
        """Scroll by a screen, keeping one line of the old one."""
        self._scroll_by(step * max(1, self._height - 1))

    def action_activate(self) -> None:
        """Open or fold the row of the cursor."""
        self._activate(self.selected_key)

    def action_row_key(self, key: str) -> None:
        """Ask for what a key in the title of the cursor's row stands for."""
        box = self._sheet.get(self.selected_key)
        if box is None:
            return
        self._sheet.layout.touch(box)
        hints = box.sketch.title.hints if box.sketch and box.sketch.title else ()
        action = next((hint.action for hint in hints if hint.key == key), "copy" if key == "c" else "")
        if action:
            self.post_message(self.RowAction(box.key, action))

    def _activate(self, key: str) -> None:
        box = self._sheet.get(key)
        if box is None:
            return
        self._sheet.layout.touch(box)
        if box.sketch is not None and box.sketch.foldable:
            self.toggle(key)
            self.post_message(self.RowActivated(key))

    # the screen

    @property
    def _height(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def _changed(self) -> None:
        """Draw once, after all that is to change now has changed."""
        if not self._flush_due and self.is_attached:
            self._flush_due = True
            self.call_later(self._flush)

    def on_mount(self) -> None:
        """Begin with what was set before."""
        self._changed()
        self._request_frame()
        if self._status is not None:
            self._status_timer = self.set_interval(0.2, self._tick)
        # Markdown and colours take a tenth of a second to import: paint first.
        self.call_after_refresh(asyncio.get_running_loop().run_in_executor, None, warm_up)

    def on_resize(self) -> None:
        """Lay out anew in the new size."""
        self._flush()

    def notify_style_update(self) -> None:
        """Take over colours that changed."""
        super().notify_style_update()
        self._changed()

    def _look_again(self) -> None:
        """Take over width and colours; what is on top of the screen stays there."""
        width = self.scrollable_content_region.width
        background = self.background_colors[1]
        theme_key = (self.app.theme, self.app.current_theme, background)
        layout = self._sheet.layout
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
        """Bring layout, scroll position and screen into step, and repaint the lines that differ."""
        self._flush_due = False
        if not self.is_attached or not self.size:
            return
        layout = self._sheet.layout
        self._sheet.settle(self._reading)
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
        if self.has_focus and self.selected_key not in self._sheet:
            self._select_visible()
        self._place(layout.line_of(self._top) if self._top else 0, layout.total)
        self._paint()

    def _kept(self, spot: Spot) -> Spot | None:
        """Where what was on top of the screen is now; what stands in its place if it is gone."""
        layout = self._sheet.layout
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
        """Whether the last line there is shows."""
        return not self._places or self._sheet.layout.is_last(self._places[-1])

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
        """Take a new size; where the screen is among the lines is decided by `_flush` alone."""
        self._placing = True
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._placing = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Someone scrolled: by a few lines, or far."""
        if not self._placing and round(old_value) != round(new_value):
            self._scrolled(round(new_value) - round(old_value), round(new_value))

    def _scrolled(self, lines: int, target: int) -> None:
        layout = self._sheet.layout
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
        """Move by lines as they are drawn, whatever was estimated."""
        if self._top is None or not lines or not self._sheet.layout.valid(self._top):
            return
        if lines > 0 and self._at_end():
            self._follow = True
        else:
            self._follow = False
            self._top = self._sheet.layout.move(self._top, lines)
        self._flush()
        if lines > 0 and self._at_end():
            self._follow = True

    def _paint(self) -> None:
        cursor = self.selected_key if self.has_focus else ""
        selection = self.text_selection
        filters = self.get_line_filters() if self.app.no_color or self.app.native_ansi_color else ()
        background = self.background_colors[1] if filters else None
        strips: list[Strip] = []
        for place in self._places:
            strip, box = place.strip, place.box
            if place.piece and box.key in (cursor, self._hover):
                strip = self._active(place, box.key == cursor)
            if selection is not None:
                strip = self._with_selection(strip, place, selection)
            for line_filter in filters:
                assert background is not None
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip)
        if self.behind and self._show_behind and strips:
            strips[-1] = self._with_pill(strips[-1])
        old, self._screen_strips = self._screen_strips, strips
        longest = max(len(old), len(strips))
        shorter = min(len(old), len(strips))
        changed = [y for y in range(longest) if y >= shorter or (old[y] is not strips[y] and old[y] != strips[y])]
        if changed:
            self.refresh(*_regions(changed, self.size.width))

    def _active(self, place: Place, selected: bool) -> Strip:
        strip, box = place.strip, place.box
        look = self._sheet.layout.look
        if place.piece == 1 and place.line == 0 and box.sketch is not None and box.sketch.title is not None:
            strip = box.redraw(1, box.sketch.title.line(look.paper(box.in_context), True, selected), look)
        if not selected:
            return strip
        first, *rest = strip
        mark = (
            Segment("▎" + first.text[1:], (first.style or Style()) + look.palette.accent)
            if len(first.text) == 1
            else first
        )
        return Strip([mark, *rest], strip.cell_length)

    def _with_pill(self, strip: Strip) -> Strip:
        palette = self._sheet.layout.look.palette
        pill = " ↓ new below "
        at = max(0, self.scrollable_content_region.width - len(pill) - 1)
        end = at + len(pill)
        inked = Segment(pill, palette.cursor_ground + palette.accent + Style(meta={"row_action": "follow"}))
        return Strip.join([strip.crop(0, at), Strip([inked], len(pill)), strip.crop(end)])

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of the screen, as they were made by `_paint`; nothing is drawn here."""
        strips = self._screen_strips[crop.y : crop.bottom]
        width = crop.right
        if len(strips) < crop.height:
            blank = Strip.blank(width, self._sheet.layout.look.palette.ground)
            strips = strips + [blank] * (crop.height - len(strips))
        if crop.x or any(strip.cell_length != width for strip in strips):
            ground = self._sheet.layout.look.palette.ground
            return [strip.crop_extend(crop.x, width, ground) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """A line with the offsets by which a selection finds its text."""
        if not 0 <= y < len(self._screen_strips):
            return Strip.blank(self.size.width)
        strip = self._screen_strips[y]
        return strip.apply_offsets(-GUTTER, _line_number(self._places[y]))

    # selection

    def selection_updated(self, _selection: Selection | None) -> None:
        """Show what is selected."""
        self._paint()

    def _with_selection(self, strip: Strip, place: Place, selection: Selection) -> Strip:
        span = selection.get_span(_line_number(place))
        text = strip.text
        if span is None:
            return strip
        start = max(0, span[0]) + GUTTER
        end = len(text.rstrip()) if span[1] == -1 else span[1] + GUTTER
        if end <= start:
            return strip
        left, right = cell_len(text[:start]), cell_len(text[:end])
        ink = self._sheet.layout.look.palette.selection
        middle = strip.crop(left, right)
        marked = Strip([Segment(part, (style or Style()) + ink) for part, style, _ in middle], middle.cell_length)
        return Strip.join([strip.crop(0, left), marked, strip.crop(right)])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text of the selected lines, as they are on the screen."""
        if selection.start is None and selection.end is None:
            return "\n\n".join(self.copy_text(box.key) for box in self._sheet.rows()), "\n"
        layout = self._sheet.layout
        start = self._spot_of(selection.start.y) if selection.start is not None else Spot(layout.boxes[0])
        lines: list[str] = []
        if start is None:
            return None
        for place in islice(layout.down(start), _COPIED_LINES):
            number = _line_number(place)
            span = selection.get_span(number)
            if span is None:
                if lines:
                    break
                continue
            text = place.strip.text[GUTTER:]
            lines.append(text[max(0, span[0]) : None if span[1] == -1 else max(0, span[1])].rstrip())
        return "\n".join(lines), "\n"

    def _spot_of(self, number: int) -> Spot | None:
        layout = self._sheet.layout
        at, rest = divmod(number, _BOX_UNIT)
        if not 0 <= at < len(layout.boxes):
            return None
        layout.touch(layout.boxes[at])
        return Spot(layout.boxes[at], min(rest // _PIECE_UNIT, len(layout.boxes[at].pieces) - 1), rest % _PIECE_UNIT)

    # mouse and focus

    def _place_at(self, event: events.MouseEvent) -> Place | None:
        return self._places[event.y] if 0 <= event.y < len(self._places) else None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show the keys of the row under the mouse."""
        place = self._place_at(event)
        self._set_hover(place.box.key if place and place.piece == 1 and place.line == 0 else "")

    def on_leave(self) -> None:
        """The mouse is elsewhere."""
        self._set_hover("")

    def _set_hover(self, key: str) -> None:
        if key != self._hover:
            self._hover = key
            self._paint()

    def on_click(self, event: events.Click) -> None:
        """A click on the first line opens or folds a row; one on a hint acts; two do not select everything."""
        event.prevent_default()
        if self.text_selection is not None:
            return
        action = event.style.meta.get("row_action", "")
        if action == "follow":
            self.scroll_end()
            return
        place = self._place_at(event)
        if place is None or not place.piece:
            return
        self.selected_key = place.box.key
        if action:
            self.post_message(self.RowAction(place.box.key, action))
        elif place.piece == 1 and place.line == 0:
            self._activate(place.box.key)

    def watch_selected_key(self) -> None:
        """Show the cursor on its row."""
        if self.is_attached:
            self._paint()

    def on_focus(self) -> None:
        """Put the cursor on a row that is visible."""
        box = self._sheet.get(self.selected_key)
        if box is None or box not in [place.box for place in self._places]:
            self._select_visible()
        self._paint()

    def _select_visible(self) -> None:
        rows = [place.box for place in self._places if place.piece and place.box.key != STATUS_KEY]
        if rows:
            self.selected_key = (rows[-1] if self._follow else rows[0]).key

    def on_blur(self) -> None:
        """The cursor goes with the focus."""
        self._paint()


def _line_number(place: Place) -> int:
    """A number of a line that grows downwards and stays the same when heights elsewhere change."""
    return place.box.at * _BOX_UNIT + place.piece * _PIECE_UNIT + place.line


def _regions(lines: Sequence[int], width: int) -> list[Region]:
    """The given lines as regions, neighbours joined."""
    regions: list[Region] = []
    for y in lines:
        if regions and regions[-1].bottom == y:
            last = regions[-1]
            regions[-1] = Region(0, last.y, width, last.height + 1)
        else:
            regions.append(Region(0, y, width, 1))
    return regions
