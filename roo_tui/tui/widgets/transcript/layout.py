"""The positions of all rows: boxes one below the other, drawn only when they come into view.

A position is a `Spot`: a line of a piece of a box. It does not move when heights elsewhere turn out to differ from
their estimates, so the text on the screen stays where it is.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from textual.strip import Strip

from roo_tui.tui.widgets.transcript.row_box import Look, RowBox

DRAWN_BOXES = 400
"""Boxes whose drawing is kept; the least recently seen are forgotten first."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A position in the transcript: line `line` of piece `piece` of a box."""

    box: RowBox
    piece: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """One line as it is drawn."""

    box: RowBox
    piece: int
    line: int
    strip: Strip


class Layout:
    """The boxes with their heights. Positions count lines from the first row."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.boxes: list[RowBox] = []
        self._heights = Heights()
        self._drawn: OrderedDict[int, RowBox] = OrderedDict()

    @property
    def total(self) -> int:
        """Lines of all rows; undrawn rows are estimated."""
        return self._heights.total

    def set_look(self, look: Look) -> None:
        """Set another width or other colours, and redraw everything."""
        self.look = look
        for box in self._drawn.values():
            box.forget()
        self._drawn.clear()
        for box in self.boxes:
            box.guess(look.width)
        self._heights = Heights(box.height for box in self.boxes)

    def replace(self, start: int, stop: int, boxes: Sequence[RowBox]) -> None:
        """Put boxes in the place of `start:stop`."""
        for box in boxes:
            if not box.pieces and not box.estimate:
                box.guess(self.look.width)
        self.boxes[start:stop] = boxes
        self._heights.replace(start, stop, [box.height for box in boxes])
        changed = boxes if stop - start == len(boxes) else self.boxes[start:]
        for at, box in enumerate(changed, start):
            box.at = at

    def measure(self, box: RowBox) -> None:
        """Take over a box's height after it changed."""
        self._heights[box.at] = box.height

    def touch(self, box: RowBox) -> None:
        """Make a box ready to be drawn, and forget those not seen for long."""
        if not box.pieces:
            box.prepare(self.look.width)
            self.measure(box)
        self._drawn[id(box)] = box
        self._drawn.move_to_end(id(box))
        while len(self._drawn) > DRAWN_BOXES:
            _, old = self._drawn.popitem(last=False)
            old.forget()

    def draw(self, box: RowBox, piece: int) -> list[Strip]:
        """Return the strips of a piece and take over what its height turned out to be."""
        if box.strips[piece] is None:
            before = box.heights[piece]
            strips = box.draw(piece, self.look)
            if len(strips) != before and not box.hidden:
                self._heights[box.at] += len(strips) - before
            return strips
        return box.draw(piece, self.look)

    def line_of(self, spot: Spot) -> int:
        """Return the line a spot is at."""
        self.touch(spot.box)
        return self._heights.before(spot.box.at) + sum(spot.box.heights[: spot.piece]) + spot.line

    def top_of(self, box: RowBox) -> int:
        """Return the line a box begins at."""
        return self._heights.before(box.at)

    def spot_at(self, line: int) -> Spot | None:
        """Return the spot at a line; the last one beyond the end, None where there are no rows."""
        if not self._heights.total:
            return None
        index, inside = self._heights.find(min(max(0, line), self._heights.total - 1))
        box = self.boxes[index]
        self.touch(box)
        for piece, bottom in enumerate(accumulate(box.heights)):
            if inside < bottom:
                return Spot(box, piece, inside - (bottom - box.heights[piece]))
        last = len(box.pieces) - 1
        return Spot(box, last, max(0, len(self.draw(box, last)) - 1))

    def next_box(self, at: int) -> RowBox | None:
        """Return the first box from index `at` on that takes lines."""
        while at < len(self.boxes):
            if self._heights[at]:
                return self.boxes[at]
            at, inside = self._heights.find(self._heights.before(at))
            if at >= len(self.boxes) or inside:
                return None
        return None

    def box_before(self, at: int) -> RowBox | None:
        """Return the last box before index `at` that takes lines."""
        above = self._heights.before(at)
        return self.boxes[self._heights.find(above - 1)[0]] if above else None

    def down(self, spot: Spot) -> Iterator[PlacedLine]:
        """Yield the lines from a spot on, drawing them as they are asked for."""
        box: RowBox | None = spot.box
        piece, line = spot.piece, spot.line
        while box is not None:
            if not box.hidden:
                self.touch(box)
                while piece < len(box.pieces):
                    strips = self.draw(box, piece)
                    for number in range(line, len(strips)):
                        yield PlacedLine(box, piece, number, strips[number])
                    piece, line = piece + 1, 0
            box, piece, line = self.next_box(box.at + 1), 0, 0

    def up(self, spot: Spot | None) -> Iterator[Spot]:
        """Yield the spots above a spot (None: from the very end), nearest first."""
        box = spot.box if spot else self.box_before(len(self.boxes))
        piece, line = (spot.piece, spot.line) if spot else (-1, 0)
        while box is not None:
            if not box.hidden:
                self.touch(box)
                if piece < 0:
                    piece = len(box.pieces) - 1
                    line = len(self.draw(box, piece))
                while True:
                    for number in range(line - 1, -1, -1):
                        yield Spot(box, piece, number)
                    if not piece:
                        break
                    piece -= 1
                    line = len(self.draw(box, piece))
            box, piece = self.box_before(box.at), -1

    def move(self, spot: Spot, lines: int) -> Spot:
        """Return the spot that many lines further down (up if negative), at most the first or last one."""
        if lines < 0:
            for count, found in enumerate(self.up(spot), 1):
                spot = found
                if count == -lines:
                    break
            return spot
        for count, place in enumerate(self.down(spot)):
            spot = Spot(place.box, place.piece, place.line)
            if count == lines:
                break
        return spot

    def end(self, height: int) -> Spot | None:
        """Return the spot from which the last `height` lines show; the first one where there are fewer."""
        spot = None
        for count, found in enumerate(self.up(None), 1):
            spot = found
            if count == height:
                break
        return spot

    def is_last(self, place: PlacedLine) -> bool:
        """Return whether a drawn line is the last one of all."""
        box = place.box
        below = box.pieces[place.piece + 1 :]
        return (
            place.line == len(self.draw(box, place.piece)) - 1
            and not any(self.draw(box, place.piece + 1 + at) for at in range(len(below)))
            and self.next_box(box.at + 1) is None
        )

    def valid(self, spot: Spot) -> bool:
        """Return whether a spot is still on a shown line."""
        box = spot.box
        return box.at < len(self.boxes) and self.boxes[box.at] is box and not box.hidden


class Heights:
    """A list of line counts with prefix sums (a Fenwick tree): O(log n) to change, append, sum and find."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._build()

    def _build(self) -> None:
        tree = [0, *self._heights]
        for at in range(1, len(tree)):
            parent = at + (at & -at)
            if parent < len(tree):
                tree[parent] += tree[at]
        self._tree = tree
        self.total = sum(self._heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        change = height - self._heights[index]
        if not change:
            return
        self._heights[index] = height
        self.total += change
        at = index + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def append(self, height: int) -> None:
        """Add a height at the end."""
        at = len(self._tree)
        low = at & -at
        node = height
        step = 1
        while step < low:
            node += self._tree[at - step]
            step <<= 1
        self._tree.append(node)
        self._heights.append(height)
        self.total += height

    def pop(self) -> int:
        """Take the last height off and return it."""
        height = self._heights.pop()
        self._tree.pop()
        self.total -= height
        return height

    def replace(self, start: int, stop: int, heights: Sequence[int]) -> None:
        """Put `heights` in the place of `start:stop`; O(n), but for a change at the very end."""
        if stop == len(self._heights) and stop - start + len(heights) < 64:
            for _ in range(stop - start):
                self.pop()
            for height in heights:
                self.append(height)
            return
        self._heights[start:stop] = heights
        self._build()

    def before(self, index: int) -> int:
        """Return the sum of the heights before `index`: the line at which it begins."""
        total, at = 0, index
        while at:
            total += self._tree[at]
            at -= at & -at
        return total

    def find(self, line: int) -> tuple[int, int]:
        """Return the (index, line within it) that a line falls on; beyond the end (length, excess)."""
        at, step = 0, 1 << (len(self._heights).bit_length())
        left = max(0, line)
        while step:
            following = at + step
            if following < len(self._tree) and self._tree[following] <= left:
                at = following
                left -= self._tree[at]
            step >>= 1
        return at, left
