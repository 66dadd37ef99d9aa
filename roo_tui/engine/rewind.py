"""Rewind and its undo: the conversation, the files, or both; all or nothing, even if the program crashes.

The intent is on disk before the first file is changed. After a crash, the files are put back when the task is opened
again.
"""

import logging
from dataclasses import dataclass, replace

from roo_tui.context.history import rewind_points, target_head
from roo_tui.domain.entries import CallRecord, Checkpoint, HeadMove, Noted, UserMessage
from roo_tui.domain.errors import CommandRefused, RooError, WouldOverwrite
from roo_tui.domain.events import PromptRestored, ViewChanged
from roo_tui.domain.ids import EntryId
from roo_tui.domain.views import RewindPoint, RewindPreview
from roo_tui.engine.checkpointing import Checkpointing
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import HeadMoveReason, OpenTask

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Move:
    """Where the head moves, and the git tree the files are restored to ("" leaves them as they are)."""

    head: EntryId | None
    tree: str
    reason: HeadMoveReason


class Rewinder:
    """Moves the head of one open task and restores files from checkpoints."""

    def __init__(self, runtime: Runtime, task: OpenTask, checkpointing: Checkpointing) -> None:
        self._runtime = runtime
        self._task = task
        self._checkpointing = checkpointing

    def points(self) -> tuple[RewindPoint, ...]:
        """Return the rewind points, oldest first."""
        return tuple(self._with_tree(point) for point in rewind_points(self._task.log.path()))

    def point(self, entry_id: EntryId) -> RewindPoint:
        """Return the rewind point at an entry.

        Raises:
            CommandRefused: there is none.
        """
        for point in self.points():
            if point.entry_id == entry_id:
                return point
        raise CommandRefused(
            f"e{entry_id} is not a rewind point. Choose a message, the result of a tool call, or a condense."
        )

    async def preview(self, entry_id: EntryId) -> RewindPreview:
        """Return what a rewind to this point would do to the messages and files."""
        point = self.point(entry_id)
        path = self._task.log.path()
        head = target_head(path, entry_id)
        kept = next((number for number, entry in enumerate(path, 1) if entry.id == head), 0)
        messages = sum(isinstance(entry.body, UserMessage) and bool(entry.body.words) for entry in path[kept:])
        reason = self._why_no_files(point.tree)
        if reason:
            return RewindPreview(point, messages, files_possible=False, note=reason)
        files, skipped = await self._runtime.checkpoints.preview(point.tree, self._checkpointing.last_tree())
        return RewindPreview(point, messages, files, skipped)

    async def rewind(self, entry_id: EntryId, *, conversation: bool, files: bool, overwrite: bool) -> None:
        """Rewind to a point. Files that the user changed since are overwritten only with `overwrite`.

        Raises:
            CommandRefused: there is no such point, or no checkpoint to restore the files from.
            WouldOverwrite: the user changed files that would be overwritten.
        """
        point = self.point(entry_id)
        if files and (reason := self._why_no_files(point.tree)):
            raise CommandRefused(reason)
        path = self._task.log.path()
        head = target_head(path, entry_id) if conversation else self._task.log.head
        await self._move(_Move(head, point.tree if files else "", "rewind"), overwrite)
        if conversation and point.words:
            self._task.emit(PromptRestored(self._task.id, point.words))

    def can_undo(self) -> HeadMove | None:
        """Return the rewind that an undo would reverse, None if the last move was an undo or there is none."""
        last = self._task.moves[-1] if self._task.moves else None
        return last if last is not None and last.reason in ("rewind", "redo") else None

    def can_redo(self) -> HeadMove | None:
        """Return the undo that a redo would reverse, None if the last move was no undo."""
        last = self._task.moves[-1] if self._task.moves else None
        return last if last is not None and last.reason == "undo" else None

    async def undo(self, move: HeadMove, *, overwrite: bool) -> None:
        """Undo a rewind: the head and the files go back to where they were before it."""
        await self._move(_Move(move.from_id, move.files_before, "undo"), overwrite)

    async def redo(self, move: HeadMove, *, overwrite: bool) -> None:
        """Redo a rewind that was undone."""
        await self._move(_Move(move.from_id, move.files_before, "redo"), overwrite)

    async def recover(self) -> None:
        """Complete a rewind that a crash interrupted: files restored without the conversation are put back."""
        intent = await self._runtime.store.get_value(self._intent_key())
        if not isinstance(intent, dict):
            return
        if len(self._task.moves) == intent["moves"] and intent["files_before"]:
            await self._runtime.checkpoints.restore(intent["files_before"])
            await self._task.record(Noted("warning", "A rewind was interrupted; the files were put back"))
        await self._runtime.store.set_value(self._intent_key(), None)

    async def _move(self, move: _Move, overwrite: bool) -> None:
        task, runtime = self._task, self._runtime
        task.require_writable()
        files_before = ""
        if move.tree:
            await self._refuse_conflicts(move.tree, overwrite)
            files_before = (await runtime.checkpoints.snapshot()).tree
            intent = {"moves": len(task.moves), "files_before": files_before}
            await runtime.store.set_value(self._intent_key(), intent)
            await runtime.checkpoints.restore(move.tree)
        try:
            await task.move_head(move.head, reason=move.reason, files_before=files_before, files_after=move.tree)
        except RooError:
            if files_before:
                await runtime.checkpoints.restore(files_before)
            raise
        finally:
            if move.tree:
                await runtime.store.set_value(self._intent_key(), None)
        task.emit(ViewChanged(task.id, "rewind"))

    async def _refuse_conflicts(self, tree: str, overwrite: bool) -> None:
        files, _ = await self._runtime.checkpoints.preview(tree, self._checkpointing.last_tree())
        conflicts = [change.path for change in files if change.conflict]
        if conflicts and not overwrite:
            named = ", ".join(conflicts[:5]) + (" …" if len(conflicts) > 5 else "")
            raise WouldOverwrite(f"You changed {named} since the last step. This would overwrite your changes.")

    def _why_no_files(self, tree: str) -> str:
        if reason := self._runtime.checkpoints.available():
            return f"Files cannot be restored: {reason}"
        return "" if tree else "No checkpoint here; only the conversation can be rewound."

    def _with_tree(self, point: RewindPoint) -> RewindPoint:
        """Give the point of a user message the files from before its turn's first change, if there is a checkpoint."""
        if point.kind != "user":
            return point
        path = self._task.log.path()
        start = next(index for index, entry in enumerate(path) if entry.id == point.entry_id)
        for entry in path[start:]:
            if isinstance(entry.body, Checkpoint):
                return replace(point, tree=entry.body.tree)
            if isinstance(entry.body, UserMessage) and any(may_change_files(call) for call in entry.body.calls):
                break
        return point

    def _intent_key(self) -> str:
        return f"rewind:{self._task.id}"


def may_change_files(call: CallRecord) -> bool:
    """Return whether this call may have changed files."""
    return call.decision != "denied" and call.facts.kind in ("write", "edit", "command", "other")
