"""The transcript widget: takes rows and streams, and handles cursor, keys and mouse."""

import asyncio
from collections.abc import Iterable
from time import monotonic, perf_counter
from typing import ClassVar

from textual import events
from textual.await_remove import AwaitRemove
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer

from roo_tui.domain.views import AnswerRow, Row, ThinkingRow
from roo_tui.plain_text import clean
from roo_tui.tui import strings
from roo_tui.tui.widgets.rows import StatusRow
from roo_tui.tui.widgets.transcript.layout import PlacedLine
from roo_tui.tui.widgets.transcript.row_box import RowBox
from roo_tui.tui.widgets.transcript.row_list import STATUS_KEY
from roo_tui.tui.widgets.transcript.stream_buffer import StreamBuffer
from roo_tui.tui.widgets.transcript.view import RowListView
from roo_tui.tui.widgets.views.markdown import warm_up

FRAME_S = 1 / 15
"""Seconds between two drawings of a stream; more where drawing takes long, so that keys stay quick."""
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class TranscriptView(RowListView, can_focus=True):
    """Rows of a conversation, oldest first.

    At the end, it follows new lines; elsewhere, the lines on the screen stay where they are, even if rows above change
    their height. Rows are replaced by key. Changes made together are drawn together.
    """

    DEFAULT_CSS = """
    TranscriptView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", show=False),
        Binding("down,j", "cursor(1)", show=False),
        Binding("home", "cursor_home", show=False),
        Binding("end", "cursor_end", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("enter,space", "activate", show=False),
        *(Binding(key, f"row_key('{key}')", show=False) for key in "uracms"),
    ]
    HELP = strings.TRANSCRIPT_HELP

    class RowAction(Message):
        """A key or click requests an action: undo, redo, append_receipt, retry or copy."""

        def __init__(self, key: str, action: str) -> None:
            super().__init__()
            self.key = key
            self.action = action

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._stream_buffer = StreamBuffer(self._list)
        self._frame_timer: Timer | None = None
        self._frame_end = 0.0
        self._frame_cost = 0.0
        self._status: tuple[str, str] | None = None
        self._status_timer: Timer | None = None
        self._status_since = 0.0

    def on_mount(self) -> None:
        """Show the rows that were set before mounting."""
        self._changed()
        self._request_frame()
        if self._status is not None:
            self._status_timer = self.set_interval(0.2, self._tick)

    async def warm_up(self) -> None:
        """Import what Markdown and colours need, in a thread; it takes a tenth of a second."""
        await asyncio.to_thread(warm_up)

    # rows

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Show these rows and no others, in this order.

        Rows that stay remain open or folded, and the screen stays where it is. A different first row means another
        conversation: its end is shown.
        """
        rows = list(rows)
        first = next(self._list.rows(), None)
        if first is None or not rows or (first.key, first.body) != (rows[0].key, rows[0].body):
            self._list.begin_anew()
            self._stream_buffer.clear()
            self._follow, self._top, self.selected_key = True, None, ""
        self._list.set_rows(rows)
        self._changed()

    def upsert(self, rows: Iterable[Row]) -> None:
        """Replace rows by their key; append those that are new."""
        if self._list.upsert(rows) and not self._follow:
            self.behind = True
        self._changed()

    def remove(self, keys: Iterable[str] | None = None) -> AwaitRemove:
        """Remove rows; without keys, remove the widget itself, as in any widget."""
        if keys is None:
            return super().remove()
        self._list.remove(keys)
        self._changed()
        return AwaitRemove([])

    def rename(self, key: str, new_key: str) -> bool:
        """Turn the row of a stream into that of its entry. Return whether that worked."""
        renamed = self._list.rename(key, new_key)
        if renamed and self.selected_key == key:
            self.selected_key = new_key
        return renamed

    def set_status(self, text: str | None, hint: str = "") -> None:
        """Show the current activity as the last row, with its seconds and the key that stops it; None removes it."""
        if text is None:
            self._status = None
            if self._status_timer is not None:
                self._status_timer.stop()
                self._status_timer = None
            self._list.set_status(None)
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
        self._list.set_status(StatusRow(text, int(passed), _SPINNER[int(passed * 5) % len(_SPINNER)], hint))
        self._changed()

    # streams

    def stream_open(self, key: str, body: AnswerRow | ThinkingRow | None = None) -> None:
        """Open a row for streamed text; an existing row with that key continues."""
        self._stream_buffer.open(key, body or AnswerRow(""))
        if not self._follow:
            self.behind = True
        self._request_frame()

    def stream_text(self, key: str, text: str) -> None:
        """Add text to an open row; it is drawn at most 15 times a second."""
        if not self._stream_buffer.is_open(key):
            self.stream_open(key)
        self._stream_buffer.add(key, text)
        self._request_frame()

    def stream_close(self, key: str) -> None:
        """Close a complete row; its text stays as drawn."""
        if self._stream_buffer.is_open(key):
            self._stream_buffer.close(key)
            self._changed()

    def append_output(self, key: str, text: str) -> None:
        """Add output of a running command; its last lines show below its title."""
        self._stream_buffer.add_output(key, text)
        self._request_frame()

    def _request_frame(self) -> None:
        """Schedule a redraw: at once after a pause, else one frame later, or more if drawing is slow."""
        if self._frame_timer is None and self.is_attached:
            pause = max(FRAME_S, 6 * self._frame_cost)
            self._frame_timer = self.set_timer(max(0.001, self._frame_end + pause - monotonic()), self._frame)

    def _frame(self) -> None:
        started = perf_counter()
        self._frame_timer = None
        if not self._follow and self._stream_buffer.waits:
            self.behind = True
        self._stream_buffer.take()
        self._flush()
        self._frame_cost = perf_counter() - started
        self._frame_end = monotonic()
        if self._stream_buffer.waits:
            self._request_frame()

    # folding, cursor, copies

    def toggle(self, key: str) -> None:
        """Open a folded row, fold an open one."""
        old = self._list.get(key)
        y = next((y for y, place in enumerate(self._places) if place.box is old and place.piece), None)
        box = self._list.toggle(key)
        if box is not None and y is not None:
            self._keep_at(box, y)
        self._changed()

    def set_all(self, expanded: bool) -> None:
        """Open every row, including folded-away ones; or fold every row to its title."""
        for box in list(self._list.layout.boxes):
            if box.key in self._list and box.key != STATUS_KEY:
                self._list.toggle(box.key, expanded)
        self._changed()

    def action_cursor(self, step: int) -> None:
        """Move the cursor by a row; scroll through a row that is longer than the screen first."""
        layout = self._list.layout
        box = self._list.get(self.selected_key)
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
        """Return the first line on the screen and the one after the last, counted as `top_of` does."""
        top = self._list.layout.line_of(self._top) if self._top else 0
        return top, top + self._height

    def _select(self, box: RowBox) -> None:
        self.selected_key = box.key
        layout = self._list.layout
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
        if first := self._list.layout.next_box(0):
            self._select(first)

    def action_cursor_end(self) -> None:
        """Put the cursor on the last row and follow the end."""
        last = next(
            (box for box in reversed(self._list.layout.boxes) if box.key != STATUS_KEY and not box.hidden), None
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
        """Request the action of a key in the title of the cursor's row."""
        box = self._list.get(self.selected_key)
        if box is None:
            return
        self._list.layout.touch(box)
        hints = box.view.title.hints if box.view and box.view.title else ()
        action = next((hint.action for hint in hints if hint.key == key), "copy" if key == "c" else "")
        if action:
            self.post_message(self.RowAction(box.key, action))

    def _activate(self, key: str) -> None:
        box = self._list.get(key)
        if box is None:
            return
        self._list.layout.touch(box)
        if box.view is not None and box.view.foldable:
            self.toggle(key)

    # mouse and focus

    def _place_at(self, event: events.MouseEvent) -> PlacedLine | None:
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

    def on_focus(self) -> None:
        """Put the cursor on a row that is visible."""
        box = self._list.get(self.selected_key)
        if box is None or box not in [place.box for place in self._places]:
            self._select_visible()
        self._paint()

    def on_blur(self) -> None:
        """The cursor goes with the focus."""
        self._paint()
