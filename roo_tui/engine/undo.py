"""Undo and redo: reductions are switched by toggles, rewinds reversed by moves of the head."""

from roo_tui.context.history import newest_switchable, redo_act, undo_act
from roo_tui.domain.entries import Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Toggle
from roo_tui.engine.session import Session


async def undo(session: Session, marker_id: EntryId | None, *, overwrite: bool) -> None:
    """Undo this marker or, with None, the newest change in force: a marker or a rewind.

    Raises:
        CommandRefused: there is nothing to undo, or a later marker covers this one (the message names it).
    """
    path = session.task.log.path()
    move = session.rewinding.can_undo() if marker_id is None else None
    if move is not None and move.at_ms >= _switched_at(path, on=False):
        await session.context.forget_background()
        await session.rewinding.undo(move, overwrite=overwrite)
        await session.gauge.refresh()
    else:
        await session.context.toggle(*undo_act(path, marker_id))


async def redo(session: Session, marker_id: EntryId | None, *, overwrite: bool) -> None:
    """Redo this marker or, with None, what was undone last.

    Raises:
        CommandRefused: nothing was undone, or a later marker covers this one.
    """
    path = session.task.log.path()
    move = session.rewinding.can_redo() if marker_id is None else None
    if move is not None and move.at_ms >= _switched_at(path, on=True):
        await session.context.forget_background()
        await session.rewinding.redo(move, overwrite=overwrite)
        await session.gauge.refresh()
    else:
        await session.context.toggle(*redo_act(path, marker_id))


def _switched_at(path: tuple[Entry, ...], *, on: bool) -> int:
    """Return when the marker that would be switched was made or last switched (ms); -1 if there is none."""
    marker_id = newest_switchable(path, on=on)
    times = [
        entry.at_ms
        for entry in path
        if entry.id == marker_id or (isinstance(entry.body, Toggle) and entry.body.marker_id == marker_id)
    ]
    return max(times, default=-1)
