"""Undo and redo of markers: find the marker to switch and make the toggle that switches it."""

from collections.abc import Sequence

from roo_tui.context.history.effective import active_markers, covering
from roo_tui.context.history.log import appended
from roo_tui.domain.entries import Entry
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Marker, Toggle


def undo_marker(path: Sequence[Entry], marker_id: EntryId | None = None) -> Toggle:
    """Return the toggle that switches a marker off; None means the one last made or switched on.

    Raises:
        CommandRefused: the path has no such marker, it is off, or a later marker covers it.
    """
    return _switch(path, marker_id, on=False)


def redo_marker(path: Sequence[Entry], marker_id: EntryId | None = None) -> Toggle:
    """Return the toggle that switches a marker on again; None means the one last switched off.

    Raises:
        CommandRefused: the path has no such marker, it is on, or a later marker covers it.
    """
    return _switch(path, marker_id, on=True)


def undo_act(path: Sequence[Entry], marker_id: EntryId | None = None) -> tuple[Toggle, ...]:
    """Return the toggles that undo a marker and all that was appended together with it, newest first.

    Raises:
        CommandRefused: as `undo_marker` does, for the newest marker of the act.
    """
    if marker_id is None:
        marker_id = newest_switchable(path, on=False)
    act = [one for one in reversed(_act(path, marker_id)) if one in active_markers(path)]
    return _switch_all(path, act or [marker_id], on=False)


def redo_act(path: Sequence[Entry], marker_id: EntryId | None = None) -> tuple[Toggle, ...]:
    """Return the toggles that redo a marker and all that was appended together with it, oldest first.

    Raises:
        CommandRefused: as `redo_marker` does, for the oldest marker of the act.
    """
    if marker_id is None:
        marker_id = newest_switchable(path, on=True)
    act = [one for one in _act(path, marker_id) if one not in active_markers(path)]
    return _switch_all(path, act or [marker_id], on=True)


def newest_switchable(path: Sequence[Entry], *, on: bool) -> EntryId | None:
    """Return the marker switched last that can now be switched to `on`, None if there is none."""
    active = active_markers(path)
    seen: set[EntryId] = set()
    for entry in reversed(path):
        body = entry.body
        if isinstance(body, Marker):
            marker_id = entry.id
        elif isinstance(body, Toggle):
            marker_id = body.marker_id
        else:
            continue
        if marker_id not in seen:
            seen.add(marker_id)
            if (marker_id in active) != on and _is_marker(path, marker_id) and covering(path, marker_id) is None:
                return marker_id
    return None


def _act(path: Sequence[Entry], marker_id: EntryId | None) -> list[EntryId]:
    """Return the markers appended together with one, itself included, oldest first; the commit gave them one time."""
    at = next((at for at, entry in enumerate(path) if entry.id == marker_id), None)
    if at is None or not isinstance(path[at].body, Marker):
        return []
    first = last = at
    while first > 0 and _together(path[first - 1], path[at]):
        first -= 1
    while last + 1 < len(path) and _together(path[last + 1], path[at]):
        last += 1
    return [entry.id for entry in path[first : last + 1]]


def _together(entry: Entry, other: Entry) -> bool:
    return isinstance(entry.body, Marker) and entry.at_ms == other.at_ms


def _switch_all(path: Sequence[Entry], marker_ids: Sequence[EntryId | None], *, on: bool) -> tuple[Toggle, ...]:
    toggles: list[Toggle] = []
    for marker_id in marker_ids:
        toggle = _switch(path, marker_id, on=on)
        toggles.append(toggle)
        path = appended(path, toggle)
    return tuple(toggles)


def _switch(path: Sequence[Entry], marker_id: EntryId | None, *, on: bool) -> Toggle:
    if marker_id is None:
        newest = newest_switchable(path, on=on)
        if newest is None:
            raise CommandRefused(
                "There is nothing to redo: no condense, truncation or mask of this conversation is undone."
                if on
                else "There is nothing to undo: no condense, truncation or mask of this conversation is in force."
            )
        return Toggle(newest, on)
    if not _is_marker(path, marker_id):
        raise CommandRefused(
            f"{entry_ref(marker_id)} is not a condense, truncation or mask of this conversation. Choose one in the "
            "transcript."
        )
    if (marker_id in active_markers(path)) == on:
        raise CommandRefused(
            f"{entry_ref(marker_id)} is already in force." if on else f"{entry_ref(marker_id)} is already undone."
        )
    if (outer := covering(path, marker_id)) is not None:
        raise CommandRefused(
            f"{entry_ref(marker_id)} is covered by a later change to the context. Undo {entry_ref(outer)} first."
        )
    return Toggle(marker_id, on)


def _is_marker(path: Sequence[Entry], marker_id: EntryId) -> bool:
    return any(entry.id == marker_id and isinstance(entry.body, Marker) for entry in path)
