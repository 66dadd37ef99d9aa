"""The lossless strategy: masks duplicate and outdated content, exactly and without a model.

    the same content again            becomes `[Same content as e90.]`
    a run of 20 or more equal lines   becomes a reference to the same lines, from which they can be restored exactly
    an outdated read                  becomes a note that names the entry with the newer state
    a repeated list or search         likewise

The copy in a text or a call's input stays if there is one, else the newest copy. A mask has no effect while the entry
it points to is not visible, so the model always has one copy.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from roo_tui.context.condense.cut_point import too_few
from roo_tui.context.condense.preview import preview_of_bodies
from roo_tui.context.history.effective import active_markers, effective_history, hidden_ids
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies import reduction_math as figures
from roo_tui.context.strategies.lossless.repeats import RUN, OutOfDate, Repeats, Run
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
    """The operations of the strategy; each can be switched off.

    `same_content`: repeated contents and lines. `asked_again`: repeated lists and searches. `out_of_date`: reads that a
    later read or write supersedes.
    """

    same_content: bool = True
    asked_again: bool = True
    out_of_date: bool = True


@dataclass
class LosslessStrategy:
    """Masks duplicate and outdated content."""

    id: str = "lossless"
    name: str = "Lossless"
    description: str = "Keeps one copy of what repeats and hides outdated content. Free, and nothing is lost."
    enabled: bool = True
    priority: int = 30

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        """Require more than one message."""
        del options
        if len(effective_history(given.path)) <= 1:
            return (too_few(given.path, "There are not enough messages to mask anything yet."),)
        return ()

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        """Return the plan with one mask.

        Raises:
            CondenseRefused: there is nothing to mask.
        """
        marker = hide_duplicates(given, options.counter, in_turn=options.in_turn)
        if marker is None:
            raise CondenseRefused("No duplicate or outdated content found.")
        return StrategyPlan(preview_of_bodies(given, self.id, (marker,), options.counter), (marker,))


def hide_duplicates(given: ReductionInput, counter: TokenCounter, *, in_turn: bool = False) -> Mask | None:
    """Return the mask with its figures, None if it would free nothing. Call it in a thread.

    `in_turn` means that a turn is running; nothing in its tool loop is masked.
    """
    started = time.monotonic()
    items = worthwhile(given.path, lossless_items(given.path, in_turn=in_turn), counter)
    return figures.mask(given, items, counter, "lossless", duration_s=time.monotonic() - started)


def worthwhile(path: Sequence[Entry], items: Sequence[MaskItem], counter: TokenCounter) -> tuple[MaskItem, ...]:
    """Return the items whose placeholder has fewer tokens than what they mask. Long stretches pass uncounted."""
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
    """Return the items that can mask the effective history without loss, in path order.

    `in_turn` means that a turn is running; nothing in its tool loop is masked. Takes about 60 ms per megabyte.
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
            # Part of it is already masked, so the rest is neither compared nor pointed to.
            continue
        else:
            items += [(number, item) for item in searching.repeated(piece, maskable)]
    return tuple(item for _, item in sorted(items, key=lambda item: (item[0], item[1].start)))


def _order(pieces: Sequence[Piece], fixed: Collection[EntryId]) -> list[tuple[int, Piece]]:
    """Return the pieces, those to keep first: untouchable ones, then texts and inputs, each newest first."""
    numbered = list(enumerate(pieces))
    numbered.reverse()
    numbered.sort(key=lambda pair: (pair[1].place.entry_id not in fixed, pair[1].place.part == "result"))
    return numbered


def _pointed_to(path: Sequence[Entry], newer: dict[PieceLocation, PieceLocation]) -> frozenset[EntryId]:
    """Return the entries that must stay unchanged because masks in force point to them.

    A note about outdated content does not count: the entry it names may become outdated too.
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
    """Compares each piece with what is kept of the pieces before it."""

    def __init__(self, names: Names, enabled: bool) -> None:
        self._names = names
        self._enabled = enabled
        self._kept: dict[object, PieceLocation] = {}
        self._repeats = Repeats()
        self._pieces: dict[int, Piece] = {}

    def superseded(self, piece: Piece, target: PieceLocation) -> MaskItem:
        """Return the item that masks an outdated piece and names the piece with the newer state."""
        entry = entry_ref(piece.place.entry_id)
        placeholder = render("strategies/superseded", place=self._names.of(target), entry=entry)
        return whole(piece, placeholder, target.entry_id)

    def repeated(self, piece: Piece, maskable: bool) -> list[MaskItem]:
        """Return the items for what repeats something kept, and keep the rest of the piece."""
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
            placeholder = render("strategies/same_lines_numbered", **values, number=run.number)
        else:
            name = "strategies/same_lines" if run.mode == "same" else "strategies/same_lines_bare"
            placeholder = render(name, **values)
        return stretch(piece, start, end, placeholder, kept.entry_id)


def _with_picture(piece: Piece) -> object | None:
    """Return the whole content of a result with images, for comparison; None for any other piece."""
    if isinstance(piece.block, ToolResult) and not isinstance(piece.block.content, str):
        return piece.block.content
    return None


def _line_ends(text: str) -> list[int]:
    """Return the offset of the end of each line."""
    ends: list[int] = []
    at = -1
    for line in text.split("\n"):
        at += len(line) + 1
        ends.append(at)
    return ends
