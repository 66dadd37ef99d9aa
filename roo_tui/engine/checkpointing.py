"""When the workspace's files are snapshotted: before a turn's first change, and after each step that may change any."""

import asyncio
import logging

from roo_tui.domain.entries import Checkpoint, Noted
from roo_tui.domain.errors import CheckpointError
from roo_tui.domain.events import Notice
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.store.checkpoints import Snapshot

log = logging.getLogger(__name__)


class Checkpointing:
    """Snapshots of one open task. Without git, or when one fails, the task goes on and the person is told once."""

    def __init__(self, runtime: Runtime, task: OpenTask) -> None:
        self._runtime = runtime
        self._task = task
        self._told: set[str] = set()
        self._first: asyncio.Task[Snapshot | None] | None = None
        self._turn_has_one = False

    def start(self) -> None:
        """Take the first snapshot in the background; it is finished before the first change."""
        if self._first is None and not self._task.read_only:
            self._first = asyncio.create_task(self._snapshot(), name="first snapshot")

    async def before_message(self) -> None:
        """A new turn: the first snapshot becomes a row as soon as it is ready."""
        self._turn_has_one = False
        if self._first is not None and self._first.done():
            await self._record_first()

    async def before_change(self) -> None:
        """The files as the person left them, so that what they changed since the last turn can come back too."""
        if self._turn_has_one:
            return
        if self._first is not None:
            await self._record_first()
        await self.take()
        self._turn_has_one = True

    async def settle(self) -> None:
        """Wait for a snapshot that is being taken."""
        if self._first is not None:
            await asyncio.wait([self._first])

    def last_tree(self) -> str:
        """Return the newest snapshot on the path, empty if there is none."""
        for entry in reversed(self._task.log.path()):
            if isinstance(entry.body, Checkpoint):
                return entry.body.tree
        return ""

    async def take(self) -> None:
        """Snapshot; a row is added only if the files differ from the last one's."""
        await self._record(await self._snapshot())

    async def _record_first(self) -> None:
        first, self._first = self._first, None
        if first is not None:
            await self._record(await asyncio.shield(first))

    async def _snapshot(self) -> Snapshot | None:
        if not self._runtime.settings.checkpoints.enabled:
            return None
        if reason := self._runtime.checkpoints.available():
            self._tell(f"Files cannot be rewound: {reason}")
            return None
        try:
            return await self._runtime.checkpoints.snapshot()
        except CheckpointError as error:
            log.warning("snapshot failed: %s", error)
            self._tell(f"Files cannot be rewound: {error}")
            return None

    async def _record(self, snapshot: Snapshot | None) -> None:
        if snapshot is None:
            return
        if snapshot.tree != self.last_tree():
            await self._task.record(Checkpoint(snapshot.tree, snapshot.commit, snapshot.files))
        names = "\n".join(snapshot.skipped)
        if names and names not in self._told:
            self._told.add(names)
            await self._task.record(Noted("info", "Not part of checkpoints, so not restorable", names))

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._task.emit(Notice(self._task.id, "warning", text))
