"""Find what repeats (`Repeats`: runs of equal lines) and what is superseded (`OutOfDate`: results of older calls).

A run is 20 or more lines that also occur elsewhere in the same order, ignoring line numbers.

    e5    10 | def f():        e9     1 | def f():         e5    [20 lines, the same as e9 from its line 1 on, …]
          11 |     x = 1              2 |     x = 1
          …                           …

Texts are added one after the other. Each is compared with the kept lines of earlier texts and of its own beginning; its
other lines are kept for later texts. So the lines that a run points to are never masked themselves.
"""

import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Literal, NamedTuple

from roo_tui.context.strategies.pieces import Piece, PieceLocation
from roo_tui.domain.entries import CallFacts

RUN = 20
# Any run of 20 lines in a kept text contains a whole block of 10 that is in the index.
_BLOCK = 10
_MOST_PLACES = 8
NUMBER = re.compile(r"^[ \t]*[0-9]+(?: \| ?|→|\t|:)", re.MULTILINE)
_PARTS = re.compile(r"([ ]*)([0-9]+)(.*)", re.DOTALL)

Mode = Literal["same", "numbered", "bare"]


class Run(NamedTuple):
    """Lines `first` to `first + length` (from 0) of a text equal `length` lines of text `of` from its line `at` on.

    `mode` says how to restore them: unchanged, numbered from `number` on, or without their line numbers there.
    """

    first: int
    length: int
    of: int
    at: int
    mode: Mode
    number: str = ""


class Lines:
    """A text's lines: `bare` without line numbers, `ids` equal for equal bare lines, `raw` unchanged."""

    __slots__ = ("_raw", "bare", "ids", "text")

    def __init__(self, text: str, bare: list[str], ids: list[int]) -> None:
        self.text, self.bare, self.ids = text, bare, ids
        self._raw: list[str] | None = None

    @property
    def raw(self) -> list[str]:
        """Return the unchanged lines, split on first use."""
        if self._raw is None:
            self._raw = self.text.split("\n")
        return self._raw


class _Segment:
    """Kept lines of one text; `end` grows while the text is read."""

    __slots__ = ("end", "start", "text")

    def __init__(self, text: int, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end


class Repeats:
    """Keeps texts and finds the runs of a new text that repeat them."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._texts: list[Lines] = []
        self._blocks: dict[int, list[tuple[_Segment, int]]] = {}
        # Two lines of each block in the index. They rule out most lines of a new text.
        self._heads: set[int] = set()

    def keep(self, text: str) -> int:
        """Keep all of a text and return its number."""
        lines, number = self._add(text)
        self._index(_Segment(number, 0, len(lines.ids)), 0, len(lines.ids))
        return number

    def runs(self, text: str) -> tuple[int, list[Run]]:
        """Return the text's number and its runs, in order and not overlapping, and keep the rest of it."""
        lines, number = self._add(text)
        found: list[Run] = []
        segment = _Segment(number, 0, 0)
        indexed = go_on = 0
        ids = lines.ids
        for at in self._candidates(ids):
            if at < go_on:
                continue
            # Not the last block, so that a run found here and extended backwards does not reach into the index.
            indexed = self._index(segment, indexed, at - 1 - _BLOCK)
            if _head(ids, at) not in self._heads:
                continue
            segment.end = at
            run, looked_to = self._longest(lines, at, segment)
            if run is None:
                # Skip equal lines that cannot be restored exactly, instead of trying each.
                go_on = max(at + 1, looked_to)
                continue
            found.append(run)
            segment.end = run.first
            self._index(segment, indexed, run.first)
            indexed = go_on = run.first + run.length
            segment = _Segment(number, go_on, go_on)
        segment.end = len(ids)
        self._index(segment, indexed, segment.end)
        return number, found

    def _candidates(self, ids: list[int]) -> list[int]:
        """Return the lines at which a block may begin that is in the index or occurs twice in this text."""
        heads = [first << 32 | other for first, other in zip(ids[: 1 - _BLOCK], ids[5:], strict=False)]
        once: set[int] = set()
        again = {head for head in heads if head in once or once.add(head)}  # type: ignore[func-returns-value]
        again |= once & self._heads
        return [at for at, head in enumerate(heads) if head in again] if again else []

    def _add(self, text: str) -> tuple[Lines, int]:
        bare = NUMBER.sub("", text).split("\n")
        lines = Lines(text, bare, list(map(self._numbers.__getitem__, bare)))
        self._texts.append(lines)
        return lines, len(self._texts) - 1

    def _index(self, segment: _Segment, start: int, end: int) -> int:
        """Put the whole blocks between two lines into the index and return the line of the next block."""
        ids = self._texts[segment.text].ids
        while start + _BLOCK <= end:
            places = self._blocks.setdefault(hash(tuple(ids[start : start + _BLOCK])), [])
            if len(places) < _MOST_PLACES:
                places.append((segment, start))
                self._heads.add(_head(ids, start))
            start += _BLOCK
        return start

    def _longest(self, lines: Lines, at: int, segment: _Segment) -> tuple[Run | None, int]:
        """Return the longest run around line `at` within the segment that is read, None if there is none.

        Also return the line at which to go on if equal lines were found but no run.
        """
        best: Run | None = None
        looked_to = 0
        block = lines.ids[at : at + _BLOCK]
        for place in self._blocks.get(hash(tuple(block)), ()):
            if self._texts[place[0].text].ids[place[1] : place[1] + _BLOCK] != block:
                continue
            first, there, count = self._extended(lines, at, segment.start, *place)
            if count >= RUN and (best is None or count > best.length):
                looked_to = max(looked_to, first + count)
                for run in self._written(lines, first, place[0].text, there, count):
                    if best is None or run.length > best.length:
                        best = run
        return best, looked_to

    def _extended(self, lines: Lines, at: int, lowest: int, other: _Segment, there: int) -> tuple[int, int, int]:
        """Return the first equal line in this text, the first in the other, and how many lines are equal."""
        ids, theirs = lines.ids, self._texts[other.text].ids
        first, begin = at, there
        own = theirs is ids
        while first > lowest and begin > other.start and ids[first - 1] == theirs[begin - 1]:
            first, begin = first - 1, begin - 1
        end, stop = at + _BLOCK, there + _BLOCK
        # Within one text, the lines pointed to must end before the run begins.
        limit = min(other.end, first) if own else other.end
        while end < len(ids) and stop < limit and ids[end] == theirs[stop]:
            end, stop = end + 1, stop + 1
        return (first, begin, end - first) if stop <= limit else (first, begin, 0)

    def _written(self, lines: Lines, first: int, of: int, there: int, count: int) -> Iterator[Run]:
        """Yield the runs among equal lines that can be restored exactly, for each mode."""
        source = self._texts[of]
        raw, bare = lines.raw[first : first + count], source.bare[there : there + count]
        for start, end in _agreeing(raw, source.raw[there : there + count]):
            yield Run(first + start, end - start, of, there + start, "same")
        for start, end in _agreeing(raw, bare):
            yield Run(first + start, end - start, of, there + start, "bare")
        start = 0
        while start + RUN <= count:
            number = NUMBER.match(raw[start])
            if number is not None:
                length = _equal(islice(raw, start, None), numbered(islice(bare, start, None), number[0]))
                if length >= RUN:
                    yield Run(first + start, length, of, there + start, "numbered", number[0])
                start += max(length, 1)
            else:
                start += 1


def _head(ids: list[int], at: int) -> int:
    """Return two lines of the block that begins at a line, as one number."""
    return ids[at] << 32 | ids[at + 5]


def numbered(bare: Iterable[str], first: str) -> Iterator[str]:
    """Yield the lines with line numbers; `first` is the prefix of the first one, such as `  9 | `."""
    found = _PARTS.fullmatch(first)
    if found is None:
        yield from bare
        return
    width = len(found[1]) + len(found[2])
    for number, line in enumerate(bare, int(found[2])):
        yield f"{number:>{width}}{found[3]}{line}"


def _agreeing(raw: list[str], again: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the stretches (first, end) of at least 20 lines that are the same in both."""
    start = 0
    if raw != again:
        for at, (line, other) in enumerate(zip(raw, again, strict=True)):
            if line != other:
                if at - start >= RUN:
                    yield start, at
                start = at + 1
    if len(raw) - start >= RUN:
        yield start, len(raw)


def _equal(lines: Iterable[str], others: Iterable[str]) -> int:
    """Return how many of the first lines are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, others, strict=True)))


class OutOfDate:
    """Outdated pieces, each with the newer piece that has the present state: `reads`, and `questions` asked again."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.reads: dict[PieceLocation, PieceLocation] = {}
        self.questions: dict[PieceLocation, PieceLocation] = {}
        whole_inputs = _written_contents(pieces)
        covered: dict[str, list[tuple[tuple[int, int] | None, PieceLocation]]] = {}
        asked: dict[str, PieceLocation] = {}
        for piece in reversed(pieces):
            if piece.record is None or piece.is_error:
                continue
            facts = piece.record.facts
            if facts.kind in ("list", "search") and piece.call is not None and not piece.record.synthetic:
                question = json.dumps([piece.call.name, piece.call.input], sort_keys=True, default=str)
                if question in asked:
                    self.questions[piece.place] = asked[question]
                else:
                    asked[question] = piece.place
            path = posixpath.normpath(facts.path) if facts.path else ""
            if not path or facts.kind not in ("read", "write"):
                continue
            later = covered.setdefault(path, [])
            if facts.kind == "read":
                newer = next((place for lines, place in later if _covers(lines, facts)), None)
                if newer is not None:
                    self.reads[piece.place] = newer
            if facts.full_content and not piece.record.synthetic:
                source = piece.place if facts.kind == "read" else whole_inputs.get(piece.record.call_id)
                if source is not None:
                    later.append((facts.lines, source))


def _written_contents(pieces: Sequence[Piece]) -> dict[str, PieceLocation]:
    """Return the longest string of each call's input, by call id; for a write call, that is what it wrote."""
    longest: dict[str, Piece] = {}
    for piece in pieces:
        if piece.call is not None and piece.place.part == "input":
            known = longest.get(piece.call.id)
            if known is None or len(piece.text) > len(known.text):
                longest[piece.call.id] = piece
    return {call_id: piece.place for call_id, piece in longest.items()}


def _covers(later: tuple[int, int] | None, facts: CallFacts) -> bool:
    """Return whether the lines of a later read (None: the whole file) include those of an earlier one."""
    if later is None:
        return True
    return facts.lines is not None and later[0] <= facts.lines[0] and facts.lines[1] <= later[1]
