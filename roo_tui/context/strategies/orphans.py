"""Masks that lost what they point to: the entry they name was masked itself, so they say that theirs is hidden too."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from roo_tui.context.effective import active_markers, hidden_ids
from roo_tui.domain.entries import Entry
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Mask, MaskItem
from roo_tui.prompt_files import render


def suppressed(entry_id: EntryId) -> str:
    """Return the placeholder of something that is found by recall only."""
    return render("condense/suppressed", entry=entry_ref(entry_id))


def masks_in_force(path: Sequence[Entry]) -> tuple[MaskItem, ...]:
    """Return the items of every mask that is on and whose entries are visible."""
    active = [marker for marker in active_markers(path).values() if isinstance(marker, Mask)]
    hidden = hidden_ids(path) if active else frozenset()
    return tuple(item for marker in active for item in marker.items if item.entry_id not in hidden)


def orphaned(items: Sequence[MaskItem], changed: Collection[EntryId]) -> tuple[MaskItem, ...]:
    """Return new items for those that point to a changed entry from another one; they need no target."""
    return tuple(
        replace(item, placeholder=suppressed(item.entry_id), target=None)
        for item in items
        if item.target in changed and item.entry_id != item.target
    )
