"""Pieces: the single strings of the effective history that a mask can replace.

A piece is a text block, the text of a tool result, or a string in a call's input. For the model it is named by its
entry, and more precisely if the entry has several: `e12`, `e12.1` (block 1), `e12.1.content`, `e12.1/edits/0/new`.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal, NamedTuple

from roo_tui.context.condense.cut_point import command_blocks
from roo_tui.context.history.effective import Visible, active_markers, effective_history, hidden_ids
from roo_tui.context.history.pins import pinned
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse, result_text, tool_results
from roo_tui.domain.entries import Body, CallRecord, Entry, UserMessage
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Mask, MaskItem
from roo_tui.prompt_files import render

Part = Literal["result", "input", "text"]

SHORTEST = 200
"""The fewest characters worth masking. Shorter strings say what a call was about, and a placeholder is as long."""


class PieceLocation(NamedTuple):
    """The location of a piece. `field` names a string in a call's input, as in `MaskItem.field`."""

    entry_id: EntryId
    block: int
    part: Part
    field: str = ""


class Piece(NamedTuple):
    """One string: `text` in the entry, `shown` with masks applied. `message` is the index of its visible message.

    `record` describes a result's call; `call` is the tool use of an input or a result, None if unknown.
    """

    place: PieceLocation
    message: int
    text: str
    shown: str
    block: Block
    record: CallRecord | None = None
    call: ToolUse | None = None

    @property
    def is_error(self) -> bool:
        """Return whether this is the result of a failed call."""
        return isinstance(self.block, ToolResult) and self.block.is_error


def pieces_of(
    path: Sequence[Entry], *, parts: Collection[Part] = ("text", "input", "result"), until: int | None = None
) -> list[Piece]:
    """Return the pieces of the effective history that are not empty, in order. Replacements of markers have none.

    Includes only the wanted parts of the first `until` messages (None: all messages).
    """
    visible = effective_history(path)
    bodies = {entry.id: entry.body for entry in path}
    calls: dict[str, ToolUse] = {}
    found: list[Piece] = []
    for at, message in enumerate(visible[:until]):
        if message.source != "entry":
            continue
        body = bodies[message.entry_id]
        records: dict[str, CallRecord] = {}
        if isinstance(body, UserMessage):
            records = {record.call_id: record for record in body.calls}
        blocks: tuple[Block, ...] = getattr(body, "blocks", message.blocks)
        entry_id = message.entry_id
        for index, (raw, shown) in enumerate(zip(blocks, message.blocks, strict=True)):
            if isinstance(raw, ToolResult) and isinstance(shown, ToolResult):
                if "result" in parts and (text := result_text(raw)):
                    seen = text if shown is raw else result_text(shown)
                    known, call = records.get(raw.tool_use_id), calls.get(raw.tool_use_id)
                    found.append(Piece(PieceLocation(entry_id, index, "result"), at, text, seen, raw, known, call))
            elif isinstance(raw, ToolUse) and isinstance(shown, ToolUse):
                calls[raw.id] = raw
                if "input" not in parts:
                    continue
                now = None if shown is raw else dict(strings_of(shown.input))
                for field, text in strings_of(raw.input):
                    if text:
                        seen = text if now is None else now.get(field, text)
                        found.append(
                            Piece(PieceLocation(entry_id, index, "input", field), at, text, seen, raw, None, raw)
                        )
            elif "text" in parts and isinstance(raw, Text) and isinstance(shown, Text) and raw.text:
                found.append(Piece(PieceLocation(entry_id, index, "text"), at, raw.text, shown.text, raw))
    return found


def strings_of(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield (field, text) for every string in a call's input; the field of a nested string is its JSON pointer."""
    for name, value in values.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, Mapping | list | tuple):
            yield from _deeper(value, f"/{_escaped(name)}")


def _deeper(value: object, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _deeper(item, f"{at}/{_escaped(str(name))}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _deeper(item, f"{at}/{index}")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


class Names:
    """The names of pieces for the model."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._count = Counter(piece.place.entry_id for piece in pieces)

    def of(self, place: PieceLocation) -> str:
        """Return the shortest unambiguous name of a piece."""
        return name_of(place, self._count[place.entry_id] == 1)


def name_of(place: PieceLocation, alone: bool) -> str:
    """Return a piece's name; `alone` means that its entry has no other piece. An input's name includes its field."""
    name = entry_ref(place.entry_id)
    if place.field:
        return f"{name}.{place.block}{place.field if place.field.startswith('/') else f'.{place.field}'}"
    return name if alone else f"{name}.{place.block}"


def whole(piece: Piece, placeholder: str, target: EntryId | None = None) -> MaskItem:
    """Return the item that masks all of a piece."""
    return stretch(piece, 0, len(piece.text), placeholder, target)


def stretch(piece: Piece, start: int, end: int, placeholder: str, target: EntryId | None = None) -> MaskItem:
    """Return the item that masks part of a piece; offsets are characters of its text."""
    place = piece.place
    return MaskItem(place.entry_id, place.block, place.part, start, end, placeholder, target, place.field)


def string_at(blocks: Sequence[Block], item: MaskItem) -> str:
    """Return the text that an item masks in an entry's blocks."""
    block = blocks[item.block]
    match block:
        case Text():
            text = block.text
        case ToolResult():
            text = result_text(block)
        case ToolUse():
            text = dict(strings_of(block.input)).get(item.field, "")
        case _:
            text = ""
    return text[item.start : item.end]


def untouchable(path: Sequence[Entry], *, in_turn: bool) -> frozenset[EntryId]:
    """Return the visible entries that no mask may touch.

    These are the first and the newest message, pinned messages, messages with commands and, while a turn runs,
    everything since the message that began it, so that nothing in a running tool loop is masked.
    """
    visible = effective_history(path)
    kept = set(pinned(path))
    if visible:
        kept |= {visible[0].entry_id, visible[-1].entry_id}
    kept |= {entry.id for entry in path if _holds_command(entry.body)}
    if in_turn:
        began = next((at for at in range(len(visible) - 1, -1, -1) if _begins_turn(visible[at])), 0)
        kept |= {message.entry_id for message in visible[began:]}
    return frozenset(kept)


def _begins_turn(message: Visible) -> bool:
    return message.role == "user" and not tool_results(message.blocks)


def _holds_command(body: Body) -> bool:
    return (
        isinstance(body, UserMessage)
        and body.source == "typed"
        and any(isinstance(block, Text) and command_blocks(block.text) for block in body.blocks)
    )


def suppressed(entry_id: EntryId) -> str:
    """Return the placeholder for content that only recall finds."""
    before, after = _suppressed()
    return f"{before}{entry_ref(entry_id)}{after}"


@cache
def _suppressed() -> tuple[str, str]:
    """Return the placeholder's text before and after the entry's name; cached because hundreds are made at once."""
    before, _, after = render("strategies/suppressed", entry="\0").partition("\0")
    return before, after


def masks_in_force(path: Sequence[Entry]) -> tuple[MaskItem, ...]:
    """Return the items in force: those of active masks whose own entry and target are not hidden."""
    active = [marker for marker in active_markers(path).values() if isinstance(marker, Mask)]
    hidden = hidden_ids(path) if active else frozenset()
    return tuple(
        item for marker in active for item in marker.items if item.entry_id not in hidden and item.target not in hidden
    )


def orphaned(items: Sequence[MaskItem], changed: Sequence[MaskItem]) -> tuple[MaskItem, ...]:
    """Return the items that point to something that the `changed` items hide.

    Each changed item hides a whole string or its end. Items that point to a returned item are returned too, because
    its lines move. A run that points to the beginning of its own text stays if only the text's end is hidden.
    """
    found: dict[int, MaskItem] = {}
    ends = {place_of(item) for item in changed}
    entries = {item.entry_id for item in changed if item.target is None}
    while entries:
        lost = [
            item
            for item in items
            if item.target in entries
            and id(item) not in found
            and (item.entry_id != item.target or place_of(item) not in ends)
        ]
        found |= {id(item): item for item in lost}
        entries = {item.entry_id for item in lost}
        ends -= {place_of(item) for item in lost}
    return tuple(found.values())


def without_target(items: Sequence[MaskItem]) -> tuple[MaskItem, ...]:
    """Return the items without a target, with the placeholder for content that only recall finds."""
    return tuple(replace(item, placeholder=suppressed(item.entry_id), target=None) for item in items)


def place_of(item: MaskItem) -> tuple[EntryId, int, str]:
    """Return the string that an item masks, as its entry, block and input field."""
    return item.entry_id, item.block, item.field
