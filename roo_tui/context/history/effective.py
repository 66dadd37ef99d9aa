"""The effective history: what the model gets of a task, computed from the path and never stored.

    path       u1  a2  u3  a4  u5  [condense hides 1-4]  u7      (u user, a assistant)
    effective              [summary]  u5  u7

A marker that is on hides the entries it names and shows its replacement at its anchor, right after the last entry
it hides. A marker that is hidden by another active one shows nothing, and what it hides stays hidden.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, Literal

from roo_tui.context.history.log import appended
from roo_tui.domain.blocks import Block, Image, Role, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Marker, Mask, MaskItem, Toggle, Truncation
from roo_tui.prompt_files import render

# Tuples, because `isinstance` would rebuild a union for each of many entries.
_REPLACING = (Condense, Truncation)
_MARKERS = (Condense, Truncation, Mask)
_DECIDING = (Condense, Truncation, Mask, Toggle)


@dataclass(frozen=True, slots=True)
class Visible:
    """One message of the effective history, before neighbours of one role are merged.

    `entry_id` is the entry it comes from; for a summary or truncation line, the marker. `blocks` has the masks applied
    and is never empty.
    """

    entry_id: EntryId
    role: Role
    blocks: tuple[Block, ...]
    source: Literal["entry", "summary", "truncation"] = "entry"


@dataclass(frozen=True, slots=True)
class _View:
    """Everything computed from one path."""

    path: tuple[Entry, ...]
    visible: tuple[Visible, ...]
    hidden: frozenset[EntryId]
    active: dict[EntryId, Marker]


# A path grows by a few entries a turn, so the views of recent paths make the next one cheap. Paths are immutable, so a
# view is never out of date.
_recent: deque[_View] = deque(maxlen=4)


def effective_history(path: Sequence[Entry]) -> tuple[Visible, ...]:
    """Return the messages that the model gets, in path order, with replacements at their anchors.

    Entries that show nothing to a model (checkpoints, notices, messages without blocks) are left out. A path that only
    grew since the last call takes under 1 ms. A new path or marker takes about 3 ms for 1,000 entries: call it in a
    thread then.
    """
    return _view(path).visible


def with_marker(path: Sequence[Entry], marker: Marker) -> tuple[Visible, ...]:
    """Return the effective history of the path with this marker appended.

    More may change than what the marker hides: a mask has no effect once its target is hidden.
    """
    return _computed(appended(path, marker)).visible


def hidden_ids(path: Sequence[Entry]) -> frozenset[EntryId]:
    """Return the ids of all entries on the path that active markers hide, including hidden markers."""
    return _view(path).hidden


def active_markers(path: Sequence[Entry]) -> dict[EntryId, Marker]:
    """Return the active markers by id, in path order, including those that another marker hides.

    A marker is active unless the last toggle on the path that names it says otherwise.
    """
    return dict(_view(path).active)


def covering(path: Sequence[Entry], marker_id: EntryId) -> EntryId | None:
    """Return the outermost later active marker that hides this marker or anything it hides, None if there is none.

    A covered marker cannot be switched, because nothing it shows or hides would reach the model.
    """
    view = _view(path)
    body = next((entry.body for entry in view.path if entry.id == marker_id), None)
    if not isinstance(body, _MARKERS):
        return None
    outermost = None
    covered = {marker_id, *body.touches}
    for later_id, later in view.active.items():
        if later_id > marker_id and not covered.isdisjoint(later.hides):
            outermost = later_id
            covered.add(later_id)
    return outermost


def _view(path: Sequence[Entry]) -> _View:
    path = tuple(path)
    newest_first = tuple(_recent)[::-1]
    for known in newest_first:
        if known.path is path:
            return known
    for known in newest_first:
        if _is_prefix(known.path, path) and (view := _grown(known, path)) is not None:
            break
    else:
        view = _computed(path)
    _recent.append(view)
    return view


def _is_prefix(first: tuple[Entry, ...], path: tuple[Entry, ...]) -> bool:
    return 0 < len(first) <= len(path) and first[-1] is path[len(first) - 1] and all(map(is_, first, path))


def _grown(known: _View, path: tuple[Entry, ...]) -> _View | None:
    """Return the view of a path that only got new messages, None if it also got markers or toggles."""
    added = path[len(known.path) :]
    if any(isinstance(entry.body, _DECIDING) for entry in added):
        return None
    shown = (visible for entry in added if (visible := _message(entry)) is not None)
    return _View(path, (*known.visible, *shown), known.hidden, known.active)


def _computed(path: tuple[Entry, ...]) -> _View:
    position = {entry.id: index for index, entry in enumerate(path)}
    markers = {entry.id: entry.body for entry in path if isinstance(entry.body, _MARKERS)}
    off = _switched_off(path)
    active = {marker_id: marker for marker_id, marker in markers.items() if marker_id not in off}
    hidden: set[EntryId] = set()
    anchors: dict[EntryId, int] = {}
    for marker_id, marker in active.items():
        own = position[marker_id]
        hides = [hidden_id for hidden_id in marker.hides if position.get(hidden_id, own) < own]
        hidden.update(hides)
        # A hidden marker counts at its own anchor, where its replacement was, not where it was appended.
        anchors[marker_id] = max((anchors.get(hidden_id, position[hidden_id]) for hidden_id in hides), default=own)
    counts = _hidden_counts(active)
    items = _mask_items(active, position.keys() - hidden)

    placed: list[tuple[int, int, Visible]] = []
    for index, entry in enumerate(path):
        if entry.id in hidden:
            continue
        if isinstance(entry.body, _REPLACING):
            if entry.id in active and (shown := _replacement(entry.id, entry.body, counts)) is not None:
                placed.append((anchors[entry.id], index, shown))
        elif (message := _message(entry)) is not None:
            if entry.id in items:
                message = replace(message, blocks=masked(message.blocks, items[entry.id]))
            placed.append((index, index, message))
    placed.sort(key=lambda place: place[:2])
    return _View(path, tuple(visible for _, _, visible in placed), frozenset(hidden), active)


def _switched_off(path: tuple[Entry, ...]) -> set[EntryId]:
    off: set[EntryId] = set()
    for entry in path:
        if isinstance(entry.body, Toggle):
            (off.discard if entry.body.on else off.add)(entry.body.marker_id)
    return off


def _message(entry: Entry) -> Visible | None:
    body = entry.body
    if isinstance(body, UserMessage) and body.blocks:
        return Visible(entry.id, "user", body.blocks)
    if isinstance(body, AssistantMessage) and body.blocks:
        return Visible(entry.id, "assistant", body.blocks)
    return None


def _replacement(marker_id: EntryId, marker: Condense | Truncation, counts: dict[EntryId, int]) -> Visible | None:
    if isinstance(marker, Truncation):
        # An imported one may hide only what a summary hides already.
        count = counts[marker_id]
        return Visible(marker_id, "user", (truncation_line(count),), "truncation") if count else None
    return Visible(marker_id, "user", marker.summary, "summary") if marker.summary else None


def truncation_line(count: int) -> Text:
    """Return the line that replaces `count` hidden messages."""
    return Text(render("history/truncated", count=count))


def _hidden_counts(active: dict[EntryId, Marker]) -> dict[EntryId, int]:
    """Return how many messages each truncation replaces, including those of an earlier truncation it hides."""
    counts: dict[EntryId, int] = {}
    for marker_id, marker in active.items():
        if isinstance(marker, Truncation):
            counts[marker_id] = sum(counts.get(hidden_id, 1) for hidden_id in marker.hides)
    return counts


def _mask_items(active: dict[EntryId, Marker], shown: set[EntryId]) -> dict[EntryId, list[MaskItem]]:
    """Return the items to apply, by entry. An item whose target is not shown is left out."""
    items: dict[EntryId, list[MaskItem]] = {}
    for marker in active.values():
        if isinstance(marker, Mask):
            for item in marker.items:
                if item.target is None or item.target in shown:
                    items.setdefault(item.entry_id, []).append(item)
    return items


def masked(blocks: tuple[Block, ...], items: Iterable[MaskItem]) -> tuple[Block, ...]:
    """Return the blocks with the items' stretches replaced.

    An item whose block, part or field does not exist changes nothing. Offsets count characters of the string in the
    entry; for a result with several parts, of its `result_text`. A nested string of a call's input has a JSON pointer
    as its field, such as `/edits/0/text`. Of nested stretches the outer one is used, of equal ones the later one; for
    overlapping stretches, the placeholder of the first replaces both. A whole block becomes a text; a result keeps its
    call and a call its name.
    """
    by_place: dict[tuple[int, str, str], list[MaskItem]] = {}
    for item in items:
        by_place.setdefault((item.block, item.part, item.field), []).append(item)
    changed = list(blocks)
    for (index, part, field), stretches in by_place.items():
        if 0 <= index < len(changed):
            changed[index] = _masked_block(changed[index], part, field, _disjoint(stretches))
    return tuple(changed)


def _disjoint(items: list[MaskItem]) -> list[MaskItem]:
    merged: list[MaskItem] = []
    newest_first = reversed(items)
    for item in sorted(newest_first, key=lambda item: (item.start, -item.end)):
        if merged and item.start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, item.end))
        else:
            merged.append(item)
    return merged


def _masked_block(block: Block, part: str, field: str, items: Sequence[MaskItem]) -> Block:
    match block:
        case ToolUse() if part == "block":
            return replace(block, input={})
        case ToolResult() if part == "block":
            return replace(block, content=items[-1].placeholder)
        case _ if part == "block":
            return Text(items[-1].placeholder)
        case Text() if part == "text":
            return replace(block, text=_masked_text(block.text, items))
        case ToolUse() if part == "input" and isinstance(block.input.get(field), str):
            return replace(block, input={**block.input, field: _masked_text(block.input[field], items)})
        case ToolUse() if part == "input" and field.startswith("/"):
            steps = [step.replace("~1", "/").replace("~0", "~") for step in field[1:].split("/")]
            return replace(block, input=_masked_value(block.input, steps, items))
        case ToolResult() if part == "result":
            if isinstance(block.content, str):
                return replace(block, content=_masked_text(block.content, items))
            return replace(block, content=_masked_parts(block.content, items))
    return block


def _masked_text(text: str, items: Sequence[MaskItem]) -> str:
    for item in reversed(items):
        start, end = max(0, item.start), min(item.end, len(text))
        if start < end:
            text = text[:start] + item.placeholder + text[end:]
    return text


def _masked_value(value: Any, steps: Sequence[str], items: Sequence[MaskItem]) -> Any:
    """Return the value with the string that the steps lead to masked; steps that lead nowhere change nothing."""
    if not steps:
        return _masked_text(value, items) if isinstance(value, str) else value
    step, *rest = steps
    if isinstance(value, Mapping) and step in value:
        return {**value, step: _masked_value(value[step], rest, items)}
    if isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value):
        at = int(step)
        return [*value[:at], _masked_value(value[at], rest, items), *value[at + 1 :]]
    return value


def _masked_parts(parts: tuple[Text | Image, ...], items: Sequence[MaskItem]) -> tuple[Text | Image, ...]:
    """Return the masked parts of a result. An image is removed if its `[Image]` lies within a stretch.

    A stretch over several parts shows its placeholder only in the first text part, or in place of the first image if it
    covers images alone.
    """
    spans: list[tuple[int, int]] = []
    offset = 0
    for part in parts:
        length = len(part.text) if isinstance(part, Text) else len("[Image]")
        spans.append((offset, offset + length))
        offset += length + 1
    kept: list[Text | Image] = []
    shown: set[int] = set()
    for part, (first, last) in zip(parts, spans, strict=True):
        here = [(index, item) for index, item in enumerate(items) if item.start < last and first < item.end]
        if isinstance(part, Text):
            local = [
                replace(
                    item,
                    start=max(0, item.start - first),
                    end=item.end - first,
                    placeholder="" if index in shown else item.placeholder,
                )
                for index, item in here
            ]
            shown.update(index for index, _ in here)
            kept.append(Text(_masked_text(part.text, local)))
            continue
        removing = [(index, item) for index, item in here if item.start <= first and last <= item.end]
        if not removing:
            kept.append(part)
        for index, item in removing:
            if index not in shown and not _covers_text(item, parts, spans):
                shown.add(index)
                kept.append(Text(item.placeholder))
    return tuple(kept)


def _covers_text(item: MaskItem, parts: Sequence[Text | Image], spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a stretch covers any of a result's texts."""
    return any(
        isinstance(part, Text) and item.start < last and first < item.end
        for part, (first, last) in zip(parts, spans, strict=True)
    )
