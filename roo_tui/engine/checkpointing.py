"""Take checkpoints of the workspace's files: before and after each step that may change any.

What changed between the two is the agent's doing, everything else the user's; a rewind takes back only the agent's.
"""

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
        self._step_open = False

    def start(self) -> None:
        """Take the first checkpoint in the background; it is complete before the first change."""
        if self._first is None and not self._task.read_only:
            self._first = asyncio.create_task(self._take_before(), name="first checkpoint")

    async def before_message(self) -> None:
        """Record the first checkpoint if it is complete."""
        if self._first is not None and self._first.done():
            await self._record_first()

    async def before_change(self) -> None:
        """Take a checkpoint before a step, so that the user's own changes since the last one are kept."""
        if self._first is not None:
            await self._record_first()
        await self._record(await self._take_before())
        self._step_open = True

    async def after_change(self) -> None:
        """Take a checkpoint after a step, complete or interrupted; nothing is done if none was begun."""
        if self._step_open:
            await self._record(await self._take(step_of=self._task.id, by_user=False))
            self._step_open = False

    def step_was_cut_short(self) -> None:
        """Remember that the program ended in a step: what changed since may be its doing or the user's."""
        self._step_open = True

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

    async def _record_first(self) -> None:
        first, self._first = self._first, None
        if first is not None:
            await self._record(await asyncio.shield(first))

    async def _take_before(self) -> Snapshot | None:
        """Take a checkpoint of what the user changed; a step that had none after it may have changed it, too."""
        taken = await self._take(step_of=self._task.id if self._step_open else "", by_user=True)
        self._step_open = False
        return taken

    async def _take(self, *, step_of: str, by_user: bool) -> Snapshot | None:
        if not self._runtime.settings.checkpoints.enabled:
            return None
        if reason := self._runtime.checkpoints.available():
            self._tell(f"Files cannot be restored by a rewind: {reason}")
            return None
        try:
            return await self._runtime.checkpoints.snapshot(step_of=step_of, by_user=by_user)
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
