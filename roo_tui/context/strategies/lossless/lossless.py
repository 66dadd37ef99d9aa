"""Lossless: what the model can see twice is shown once. No model, no guessing.

    the same content again          the copy gives way to `[Same content as e90.]`
    a run of 20 or more equal lines gives way to where the lines are, and can be written again exactly
    a read that is out of date      gives way to a note which entry has the newer state
    a question that was asked again (a list, a search) likewise

What stays is the copy in a text or a call's input where there is one, else the newest. A mask comes off when the entry
it points to is not visible, so nothing that was shown once is out of reach.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from roo_tui.context.condense.preview import preview_of_bodies
from roo_tui.context.history.effective import active_markers, effective_history, hidden_ids
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies import reduction_math as figures
from roo_tui.context.strategies.lossless.repeats import RUN, Repeats, Run
from roo_tui.context.strategies.lossless.superseded import OutOfDate
from roo_tui.context.strategies.pieces import (
    SHORTEST,
    Names,
    Piece,
    PieceLocation,
    pieces_of,
    stretch,
    string_at,
    untouchable,
    whole,
)
from roo_tui.context.strategies.protocol import StrategyOptions, StrategyPlan
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import ToolResult
from roo_tui.domain.entries import Entry
from roo_tui.domain.errors import CondenseRefused
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Mask, MaskItem
from roo_tui.prompt_files import render

_LONG = 1_000


@dataclass(frozen=True, slots=True)
class LosslessOperations:
    """What lossless does; each can be switched off.

    `same_content`: the same content and the same lines again. `asked_again`: repeated lists and searches.
    `out_of_date`: reads that a later read or write supersedes.
    """

    same_content: bool = True
    asked_again: bool = True
    out_of_date: bool = True


@dataclass
class LosslessStrategy:
    """Masks whatever the model can see twice."""

    id: str = "lossless"
    name: str = "Lossless"
    description: str = "Shows repeated and out-of-date content once. Free; everything can still be read."
    enabled: bool = True
    priority: int = 30

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        del options
        return (
            () if len(effective_history(given.path)) > 1 else ("There are not enough messages to mask anything yet.",)
        )

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        marker = hide_duplicates(given, options.counter, in_turn=options.in_turn)
        if marker is None:
            raise CondenseRefused("No duplicate or outdated content found.")
        return StrategyPlan(preview_of_bodies(given, self.id, (marker,), options.counter), (marker,))


def hide_duplicates(given: ReductionInput, counter: TokenCounter, *, in_turn: bool = False) -> Mask | None:
    """Return the mask with its figures, None where nothing would be freed. Run in a thread.

    `in_turn` says that a turn is running: nothing of its tool loop is masked.
    """
    started = time.monotonic()
    items = worthwhile(given.path, lossless_items(given.path, in_turn=in_turn), counter)
    return figures.mask(given, items, counter, "lossless", duration_s=time.monotonic() - started)


def worthwhile(path: Sequence[Entry], items: Sequence[MaskItem], counter: TokenCounter) -> tuple[MaskItem, ...]:
    """Return the items that are shorter than what they mask; what is long need not be counted for that."""
    blocks = {entry.id: getattr(entry.body, "blocks", ()) for entry in path}
    return tuple(
        item
        for item in items
        if item.end - item.start >= _LONG
        or counter.count_text(string_at(blocks[item.entry_id], item)) > counter.count_text(item.placeholder)
    )


def lossless_items(
    path: Sequence[Entry], *, operations: LosslessOperations | None = None, in_turn: bool = False
) -> tuple[MaskItem, ...]:
    """Return what can be masked without loss on the effective history, in path order.

    `in_turn` says that a turn is running: nothing of its tool loop is masked. About 60 ms for a megabyte.
    """
    wanted = operations or LosslessOperations()
    pieces = pieces_of(path)
    fixed = untouchable(path, in_turn=in_turn)
    out_of_date = OutOfDate(pieces)
    newer = (out_of_date.reads if wanted.out_of_date else {}) | (out_of_date.questions if wanted.asked_again else {})
    pointed_to = _pointed_to(path, newer)
    searching = _Search(Names(pieces), wanted.same_content)
    items: list[tuple[int, MaskItem]] = []
    by_place = {piece.place: number for number, piece in enumerate(pieces)}
    for number, piece in _order(pieces, fixed):
        maskable = piece.place.entry_id not in fixed and piece.place.entry_id not in pointed_to
        if len(piece.shown) < SHORTEST:
            continue
        if maskable and piece.place in newer:
            target = newer[piece.place]
            items.append((by_place[piece.place], searching.superseded(piece, target)))
        elif piece.shown is not piece.text:
            # Part of it is masked already: what is left is neither compared nor pointed to.
            continue
        else:
            items += [(number, item) for item in searching.repeated(piece, maskable)]
    return tuple(item for _, item in sorted(items, key=lambda item: (item[0], item[1].start)))


def _order(pieces: Sequence[Piece], fixed: Collection[EntryId]) -> list[tuple[int, Piece]]:
    """Return the pieces with what is rather kept first: untouchable, then texts and inputs, then the newest."""
    numbered = list(enumerate(pieces))
    numbered.reverse()
    numbered.sort(key=lambda pair: (pair[1].place.entry_id not in fixed, pair[1].place.part == "result"))
    return numbered


def _pointed_to(path: Sequence[Entry], newer: dict[PieceLocation, PieceLocation]) -> frozenset[EntryId]:
    """Return the entries that masks in force need to stay as they are.

    A note that something is out of date needs nothing: the entry it names may become out of date too.
    """
    hidden = hidden_ids(path)
    places = {(place.entry_id, place.block) for place in newer}
    return frozenset(
        item.target
        for marker in active_markers(path).values()
        if isinstance(marker, Mask)
        for item in marker.items
        if item.target is not None and item.entry_id not in hidden and (item.entry_id, item.block) not in places
    )


class _Search:
    """Compares each piece with what is kept of those before it."""

    def __init__(self, names: Names, enabled: bool) -> None:
        self._names = names
        self._enabled = enabled
        self._kept: dict[object, PieceLocation] = {}
        self._repeats = Repeats()
        self._pieces: dict[int, Piece] = {}

    def superseded(self, piece: Piece, target: PieceLocation) -> MaskItem:
        words = render("strategies/superseded", place=self._names.of(target), entry=entry_ref(piece.place.entry_id))
        return whole(piece, words, target.entry_id)

    def repeated(self, piece: Piece, maskable: bool) -> list[MaskItem]:
        """Return the items for what repeats something kept; what is left of the piece is kept."""
        if not self._enabled:
            return []
        if (picture := _with_picture(piece)) is not None:
            return self._same(piece, picture, maskable)
        if not maskable:
            self._kept.setdefault(piece.text, piece.place)
            if piece.text.count("\n") + 1 >= RUN:
                self._pieces[self._repeats.keep(piece.text)] = piece
            return []
        if piece.text in self._kept:
            return self._same(piece, piece.text, maskable)
        if piece.text.count("\n") + 1 < RUN:
            self._kept[piece.text] = piece.place
            return []
        number, runs = self._repeats.runs(piece.text)
        self._pieces[number] = piece
        ends = _line_ends(piece.text) if runs else []
        items = [item for run in runs if (item := self._run(piece, run, ends)) is not None]
        if not runs:
            self._kept[piece.text] = piece.place
        return items

    def _same(self, piece: Piece, content: object, maskable: bool) -> list[MaskItem]:
        kept = self._kept.setdefault(content, piece.place)
        if kept == piece.place or not maskable:
            return []
        return [whole(piece, render("strategies/same_content", place=self._names.of(kept)), kept.entry_id)]

    def _run(self, piece: Piece, run: Run, ends: list[int]) -> MaskItem | None:
        start = ends[run.first - 1] + 1 if run.first else 0
        end = ends[run.first + run.length - 1]
        if end - start < SHORTEST:
            return None
        kept = self._pieces[run.of].place
        values = {"count": run.length, "place": self._names.of(kept), "first": run.at + 1}
        if run.mode == "numbered":
            words = render("strategies/same_lines_numbered", **values, number=run.number)
        else:
            words = render("strategies/same_lines" if run.mode == "same" else "strategies/same_lines_bare", **values)
        return stretch(piece, start, end, words, kept.entry_id)


def _with_picture(piece: Piece) -> object | None:
    """Return what is compared of a result that holds more than text: all of it, pictures included."""
    if isinstance(piece.block, ToolResult) and not isinstance(piece.block.content, str):
        return piece.block.content
    return None


def _line_ends(text: str) -> list[int]:
    """Return the offset of each line's end."""
    ends: list[int] = []
    at = -1
    for line in text.split("\n"):
        at += len(line) + 1
        ends.append(at)
    return ends
