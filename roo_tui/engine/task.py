"""The open task: its log in memory, its record in the store, and the only way to add entries."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from roo_tui.context.history import Log
from roo_tui.domain.entries import AssistantMessage, Body, Entry, QueuedMessage, TaskInfo, TodosChanged
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.events import EntriesAppended, Event, QueueChanged
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Truncation
from roo_tui.domain.views import Todos
from roo_tui.engine.bus import Bus
from roo_tui.store import Store, StoredTask, TaskLock

HeadMoveReason = Literal["rewind", "undo", "redo"]


class OpenTask:
    """A task that this process has open. `read_only` says why nothing can be added; "" means that entries can be."""

    def __init__(self, stored: StoredTask, store: Store, bus: Bus, lock: TaskLock | None, read_only: str = "") -> None:
        self.info: TaskInfo = stored.info
        self.log = Log(stored.entries, stored.head)
        self.moves = list(stored.moves)
        self.queue: list[QueuedMessage] = list(stored.queue)
        self.read_only = read_only
        self.cost_usd = stored.info.cost_usd
        self.always_allowed: set[str] = set()
        self._store = store
        self._bus = bus
        self._lock = lock
        self._writing = asyncio.Lock()

    @property
    def id(self) -> str:
        """The task's id."""
        return self.info.id

    def emit(self, event: Event) -> None:
        """Announce an event to every subscriber."""
        self._bus.emit(event)

    def require_writable(self) -> None:
        """Check that entries can be added.

        Raises:
            CommandRefused: another process has the task open.
        """
        if self.read_only:
            raise CommandRefused(self.read_only)

    async def record(
        self, *bodies: Body, unqueue: int | None = None, drop_draft: bool = False, block_ids: tuple[str, ...] = ()
    ) -> tuple[Entry, ...]:
        """Commit entries below the head, then announce them. Nothing is shown before it is on disk.

        `block_ids` are the ids of an answer's blocks in the events of its stream.
        """
        self.require_writable()
        writing = asyncio.ensure_future(self._record(bodies, unqueue, drop_draft, block_ids))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            # The commit cannot be stopped: the log in memory has to catch up with it before the cancel goes on.
            await writing
            raise

    async def _record(
        self, bodies: Sequence[Body], unqueue: int | None, drop_draft: bool, block_ids: tuple[str, ...]
    ) -> tuple[Entry, ...]:
        async with self._writing:
            entries = await self._store.append(
                self.id, bodies, parent=self.log.head, unqueue=unqueue, drop_draft=drop_draft
            )
            self.log.add(entries)
            self.cost_usd += sum(cost_of(body) or 0.0 for body in bodies)
            if unqueue is not None:
                self.queue = [item for item in self.queue if item.id != unqueue]
        self.emit(EntriesAppended(self.id, entries, block_ids))
        if unqueue is not None:
            self.queue_changed()
        return entries

    async def move_head(
        self, to: EntryId | None, *, reason: HeadMoveReason, files_before: str, files_after: str
    ) -> None:
        """Commit a move of the head; the arguments are the fields of `HeadMove`."""
        self.require_writable()
        async with self._writing:
            move = await self._store.move_head(
                self.id, to, reason=reason, files_before=files_before, files_after=files_after
            )
            self.moves.append(move)
            self.log.move(to)

    async def spend(self, cost_usd: float) -> None:
        """Record a cost that no entry shows, such as that of a failed attempt."""
        self.cost_usd += cost_usd
        await self._store.spend(self.id, cost_usd)

    def queue_changed(self) -> None:
        """Announce the queue."""
        self.emit(QueueChanged(self.id, tuple(self.queue)))

    def todos(self) -> Todos:
        """Return the current todo list."""
        for entry in reversed(self.log.path()):
            if isinstance(entry.body, TodosChanged):
                return entry.body.items
        return ()

    def close(self) -> None:
        """Release the task's lock."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def cost_of(body: Body) -> float | None:
    """Return what the models of an entry cost, None if that is unknown or there were none."""
    match body:
        case AssistantMessage(cost_usd=cost) | CondenseFailed(cost_usd=cost):
            return cost
        case Condense(figures=figures) | Truncation(figures=figures) | Mask(figures=figures):
            return figures.cost_usd
    return None
