"""Heights of the rows, with fast sums: which row is at a line, and at which line a row begins."""

from collections.abc import Iterable, Sequence


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
