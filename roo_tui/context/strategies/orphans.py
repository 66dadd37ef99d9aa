"""Masks that lost what they point to: the entry they name was masked itself, so they say that theirs is hidden too."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from roo_tui.context.effective import active_markers, hidden_ids
from roo_tui.domain.entries import Entry
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Mask, MaskItem
from roo_tui.prompt_files import render


def suppressed(entry_id: EntryId) -> str:
    """Return the placeholder of something that is found by recall only."""
    before, after = _suppressed()
    return f"{before}{entry_ref(entry_id)}{after}"


@cache
def _suppressed() -> tuple[str, str]:
    """Return the placeholder's words around the entry's name; hundreds are written at once."""
    before, _, after = render("strategies/suppressed", entry="\0").partition("\0")
    return before, after


def masks_in_force(path: Sequence[Entry]) -> tuple[MaskItem, ...]:
    """Return the items of every mask that is on and shows: its entry is visible, and so is the one it points to."""
    active = [marker for marker in active_markers(path).values() if isinstance(marker, Mask)]
    hidden = hidden_ids(path) if active else frozenset()
    return tuple(
        item for marker in active for item in marker.items if item.entry_id not in hidden and item.target not in hidden
    )


def orphaned(items: Sequence[MaskItem], changed: Sequence[MaskItem]) -> tuple[MaskItem, ...]:
    """Return the items that point to something the changed ones hide.

    `changed` hide a whole string or its end. What points to an item returned here is returned too: its lines are not
    where they were. A run that points to the beginning of its own text stays, if only the text's end is hidden.
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
    """Return the items with a placeholder that points nowhere."""
    return tuple(replace(item, placeholder=suppressed(item.entry_id), target=None) for item in items)


def place_of(item: MaskItem) -> tuple[EntryId, int, str]:
    """Return which string an item masks: entry, block, field of an input."""
    return item.entry_id, item.block, item.field
