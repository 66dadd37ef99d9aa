"""A path as Roo Code's tagged messages: what the reader of its task folders is checked against."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roo_tui.domain.blocks import Block, Message
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Condense, Marker, Truncation
from roo_tui.store.exchange.export import messages_json

_TRUNCATED = "[Sliding window truncation: {} messages hidden to reduce context]"


def to_tagged(path: Sequence[Entry], active: Mapping[EntryId, Marker]) -> list[dict[str, Any]]:
    """Return a path as Roo Code's tagged messages, hidden ones included; what a model never gets is left out.

    `active` are the markers that are on, in path order; Roo Code knows no others, and no masks.
    """
    position = {entry.id: place for place, entry in enumerate(path)}
    places: dict[EntryId, tuple[int, int]] = {}
    parents: dict[EntryId, dict[str, str]] = {}
    for marker_id, marker in active.items():
        if isinstance(marker, Condense | Truncation):
            hides = [hidden_id for hidden_id in marker.hides if hidden_id in position]
            anchors = (places.get(hidden_id, (position[hidden_id], 0))[0] for hidden_id in hides)
            places[marker_id] = (max(anchors, default=position[marker_id]), position[marker_id])
            name = "condenseParent" if isinstance(marker, Condense) else "truncationParent"
            for hidden_id in hides:
                for covered in _covered(hidden_id, active) if isinstance(marker, Condense) else [hidden_id]:
                    parents.setdefault(covered, {}).setdefault(name, entry_ref(marker_id))
    placed = sorted(path, key=lambda entry: places.get(entry.id, (position[entry.id], 0)))
    tagged = ((_tagged(entry, active), entry) for entry in placed)
    return [message | {"ts": entry.at_ms} | parents.get(entry.id, {}) for message, entry in tagged if message]


def _covered(entry_id: EntryId, active: Mapping[EntryId, Marker]) -> Iterator[EntryId]:
    """Yield an entry, and if it is a marker that is on, what it hides."""
    yield entry_id
    marker = active.get(entry_id)
    if isinstance(marker, Condense | Truncation):
        for hidden_id in marker.hides:
            yield from _covered(hidden_id, active)


def _tagged(entry: Entry, active: Mapping[EntryId, Marker]) -> dict[str, Any]:
    body = entry.body
    match body:
        case UserMessage() | AssistantMessage():
            return {"role": body.kind, "content": _content(body.blocks)} if body.blocks else {}
        case Condense() if entry.id in active:
            summary = {"isSummary": True, "condenseId": entry_ref(entry.id)}
            return {"role": "user", "content": _content(body.summary)} | summary
        case Truncation() if entry.id in active:
            line = {"isTruncationMarker": True, "truncationId": entry_ref(entry.id)}
            return {"role": "user", "content": _TRUNCATED.format(len(body.hides))} | line
    return {}


def _content(blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
    (message,) = messages_json([Message("user", blocks)])
    content: list[dict[str, Any]] = message["content"]
    return content
