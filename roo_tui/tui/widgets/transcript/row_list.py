"""The rows by key: rows not in context folded into one line, blank lines between kinds of rows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from roo_tui.domain.views import AnswerRow, ReductionRow, Row, ThinkingRow, ToolRow
from roo_tui.tui.widgets.rows import AnyBody, FoldedRow, StatusRow, gap_between, kind_of
from roo_tui.tui.widgets.transcript.layout import Layout
from roo_tui.tui.widgets.transcript.row_box import Look, RowBox

STATUS_KEY = "status"
FOLD_KEY = "fold:"
_LEAST_FOLDED = 2
_LIVE_OUTPUT = 200_000


class RowList:
    """The rows by key on a layout. Every change updates the layout.

    Rows that are not in context are folded into one line when they are added. Rows that leave the context while shown
    stay, dimmed, until the user folds them.
    """

    def __init__(self, look: Look) -> None:
        self.layout = Layout(look)
        self._by_key: dict[str, RowBox] = {}
        self._chosen: dict[str, bool] = {}
        self._leaving: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def get(self, key: str) -> RowBox | None:
        """Return the box of a key."""
        return self._by_key.get(key)

    def rows(self) -> Iterator[RowBox]:
        """Yield the boxes of real rows, oldest first."""
        return (box for box in self.layout.boxes if box.key != STATUS_KEY and not box.key.startswith(FOLD_KEY))

    def begin_anew(self) -> None:
        """Forget all rows and which were opened: the next ones may have the same keys."""
        self._chosen.clear()
        status = self._by_key.get(STATUS_KEY)
        self._by_key = {} if status is None else {STATUS_KEY: status}

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Show these rows and no others; boxes of rows that stay are kept."""
        status = self._by_key.get(STATUS_KEY)
        kept, self._by_key = self._by_key, {}
        boxes: list[RowBox] = []
        for row in rows:
            box = kept.get(row.key)
            if box is None:
                box = RowBox(row.key, row.body, row.in_context, self._expanded(row.key, row.body))
            else:
                self._take(box, row)
            self._by_key[row.key] = box
            boxes.append(box)
        self._leaving.clear()
        if status is not None:
            self._by_key[STATUS_KEY] = status
            boxes.append(status)
        self._arrange(boxes)

    def upsert(self, rows: Iterable[Row]) -> list[RowBox]:
        """Replace rows by key, add the others at the end. Return the boxes that are new at the end."""
        new: list[RowBox] = []
        arrange = False
        for row in rows:
            box = self._by_key.get(row.key)
            if box is not None:
                arrange |= box.in_context != row.in_context or isinstance(row.body, ReductionRow)
                self._take(box, row)
                self.layout.measure(box)
                continue
            box = RowBox(row.key, row.body, row.in_context, self._expanded(row.key, row.body))
            self._append(box)
            new.append(box)
            arrange |= not row.in_context or isinstance(row.body, ReductionRow)
        if arrange:
            self._arrange([box for box in self.layout.boxes if not box.key.startswith(FOLD_KEY)])
        return new

    def remove(self, keys: Iterable[str]) -> None:
        """Remove rows at the next `settle`, so that rows removed together cost one layout."""
        self._leaving.update(key for key in keys if key in self._by_key)

    def settle(self) -> None:
        """Carry out what `remove` asked for."""
        if not self._leaving:
            return
        leaving, self._leaving = self._leaving, set()
        for key in leaving:
            del self._by_key[key]
        boxes = self.layout.boxes
        if boxes and boxes[-1].key in leaving:
            last = len(boxes)
            while last and boxes[last - 1].key in leaving:
                last -= 1
            if not any(box.key in leaving for box in boxes[:last]):
                self.layout.replace(last, len(boxes), [])
                return
        self._arrange([box for box in boxes if box.key not in leaving and not box.key.startswith(FOLD_KEY)])

    def rename(self, key: str, new_key: str) -> bool:
        """Give a row another key; it keeps its drawing and stays open if it is open.

        Return false if the row is gone, or if another one has the key already.
        """
        if key not in self._by_key or new_key in self._by_key:
            return False
        box = self._by_key[new_key] = self._by_key.pop(key)
        box.key = new_key
        if key in self._chosen:
            self._chosen[new_key] = self._chosen.pop(key)
        return True

    def _take(self, box: RowBox, row: Row) -> None:
        same_words = (
            isinstance(row.body, AnswerRow)
            and isinstance(box.body, AnswerRow)
            and box.text == row.body.text
            and box.body.interrupted == row.body.interrupted
        )
        if not same_words and (box.body != row.body or box.stream is not None):
            box.stream = None
            expanded = self._expanded(row.key, row.body)
            running = isinstance(row.body, ToolRow) and row.body.state == "running"
            box.live_output = box.live_output if running else ""
            box.body, box.expanded = row.body, expanded
            box.forget()
            box.guess(self.layout.look.width)
        elif same_words:
            box.body = row.body
        if box.in_context != row.in_context:
            box.in_context = row.in_context
            box.forget()

    def _expanded(self, key: str, body: AnyBody) -> bool:
        return self._chosen.get(key, kind_of(body).opens_by_itself(body))

    def toggle(self, key: str, expanded: bool | None = None) -> RowBox | None:
        """Unfold or fold a row (or as `expanded` says); remember it. None if there is no such row."""
        box = self._by_key.get(key)
        if box is None:
            return None
        if isinstance(box.body, FoldedRow):
            is_open = not box.body.open if expanded is None else expanded
            self._chosen[key] = is_open
            self._arrange([each for each in self.layout.boxes if not each.key.startswith(FOLD_KEY)])
            return self._by_key.get(key)
        box.expanded = not box.expanded if expanded is None else expanded
        self._chosen[key] = box.expanded
        self._redo(box)
        return box

    def set_output(self, key: str, text: str) -> RowBox | None:
        """Add output of a running command; only its end is kept."""
        box = self._by_key.get(key)
        if box is not None and isinstance(box.body, ToolRow):
            box.live_output = (box.live_output + text)[-_LIVE_OUTPUT:]
            if box.body.state in ("waiting", "streaming"):
                box.body = replace(box.body, state="running")
        return box

    def _redo(self, box: RowBox) -> None:
        box.forget()
        box.guess(self.layout.look.width)
        self.layout.measure(box)

    def refresh(self, box: RowBox) -> None:
        """Redraw a row whose values changed."""
        self._redo(box)

    def set_status(self, body: StatusRow | None) -> None:
        """Show, change or remove the last row."""
        box = self._by_key.get(STATUS_KEY)
        boxes = self.layout.boxes
        if body is None:
            if box is not None:
                del self._by_key[STATUS_KEY]
                self.layout.replace(len(boxes) - 1, len(boxes), [])
        elif box is None:
            box = RowBox(STATUS_KEY, body)
            self._by_key[STATUS_KEY] = box
            box.gap = gap_between(boxes[-1].body if boxes else None, body)
            self.layout.replace(len(boxes), len(boxes), [box])
        else:
            box.body = body
            self._redo(box)

    def open_stream(self, key: str, body: AnswerRow | ThinkingRow) -> RowBox:
        """Return the box of a stream; if there is none with that key, add one at the end."""
        box = self._by_key.get(key)
        if box is None:
            box = RowBox(key, body, True, self._expanded(key, body))
            self._append(box)
        return box

    def _append(self, box: RowBox) -> None:
        boxes = self.layout.boxes
        end = len(boxes) - (STATUS_KEY in self._by_key)
        self._by_key[box.key] = box
        box.seen = True
        before = next((each.body for each in reversed(boxes[:end][-64:]) if not each.hidden), None)
        box.gap = gap_between(before, box.body)
        self.layout.replace(end, end, [box])
        if end + 1 < len(boxes):
            status = boxes[-1]
            status.gap = gap_between(box.body, status.body)
            self._redo(status)

    def _arrange(self, boxes: list[RowBox]) -> None:
        """Fold what is not in context, set the gaps, and lay everything out."""
        for key in [key for key in self._by_key if key.startswith(FOLD_KEY)]:
            del self._by_key[key]
        reductions = (at for at, box in enumerate(boxes) if isinstance(box.body, ReductionRow) and box.body.on)
        last = max(reductions, default=-1)
        arranged: list[RowBox] = []
        at = 0
        while at < len(boxes):
            box = boxes[at]
            end = at
            while end < last and not boxes[end].in_context and boxes[end].seen == box.seen:
                end += 1
            if end - at >= _LEAST_FOLDED:
                run = boxes[at:end]
                arranged.append(self._fold(run))
                arranged += run
                at = end
                continue
            box.hidden = False
            arranged.append(box)
            at += 1
        before: AnyBody | None = None
        for box in arranged:
            box.seen = not box.hidden
            if box.hidden:
                continue
            gap = gap_between(before, box.body)
            if gap != box.gap:
                box.forget()
                box.estimate += gap - box.gap if box.estimate else 0
                box.gap = gap
            before = box.body
        self.layout.replace(0, len(self.layout.boxes), arranged)

    def _fold(self, run: list[RowBox]) -> RowBox:
        key = FOLD_KEY + run[0].key
        is_open = self._chosen.get(key, run[0].seen)
        for box in run:
            box.hidden = not is_open
        fold = RowBox(key, FoldedRow(len(run), is_open))
        self._by_key[key] = fold
        return fold
