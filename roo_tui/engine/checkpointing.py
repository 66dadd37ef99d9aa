"""Take checkpoints of the workspace's files: before a turn's first change, and after each step that may change one."""

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
    """The checkpoints of one open task. Without git, or if one fails, the task goes on and the user is warned once."""

    def __init__(self, runtime: Runtime, task: OpenTask) -> None:
        self._runtime = runtime
        self._task = task
        self._told: set[str] = set()
        self._first: asyncio.Task[Snapshot | None] | None = None
        self._turn_has_one = False

    def start(self) -> None:
        """Take the first checkpoint in the background; it is complete before the first change."""
        if self._first is None and not self._task.read_only:
            self._first = asyncio.create_task(self._take(), name="first checkpoint")

    async def before_message(self) -> None:
        """Begin a new turn: record the first checkpoint if it is complete."""
        self._turn_has_one = False
        if self._first is not None and self._first.done():
            await self._record_first()

    async def before_change(self) -> None:
        """Take a checkpoint before a turn's first change, so that the user's own changes since the last are kept."""
        if self._turn_has_one:
            return
        if self._first is not None:
            await self._record_first()
        await self.take()
        self._turn_has_one = True

    async def settle(self) -> None:
        """Wait for the first checkpoint, if it is still being taken."""
        if self._first is not None:
            await asyncio.wait([self._first])

    def last_tree(self) -> str:
        """Return the git tree of the newest checkpoint on the path, "" if there is none."""
        for entry in reversed(self._task.log.path()):
            if isinstance(entry.body, Checkpoint):
                return entry.body.tree
        return ""

    async def take(self) -> None:
        """Take a checkpoint; it is recorded only if the files differ from the previous one."""
        await self._record(await self._take())

    async def _record_first(self) -> None:
        first, self._first = self._first, None
        if first is not None:
            await self._record(await asyncio.shield(first))

    async def _take(self) -> Snapshot | None:
        if not self._runtime.settings.checkpoints.enabled:
            return None
        if reason := self._runtime.checkpoints.available():
            self._tell(f"Files cannot be restored by a rewind: {reason}")
            return None
        try:
            return await self._runtime.checkpoints.snapshot()
        except CheckpointError as error:
            log.warning("checkpoint failed: %s", error)
            self._tell(f"Files cannot be restored by a rewind: {error}")
            return None

    async def _record(self, taken: Snapshot | None) -> None:
        if taken is None:
            return
        if taken.tree != self.last_tree():
            await self._task.record(Checkpoint(taken.tree, taken.commit, taken.files))
        names = "\n".join(taken.skipped)
        if names and names not in self._told:
            self._told.add(names)
            await self._task.record(Noted("info", "Not part of checkpoints; a rewind cannot restore them", names))

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._task.emit(Notice(self._task.id, "warning", text))
