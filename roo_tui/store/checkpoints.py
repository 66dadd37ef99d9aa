"""Checkpoints: the workspace's files, stored in a shadow git repository and restored from it.

Ignored files, nested repositories, files over 10 MB and unreadable files are left out and reported as not restorable. A
checkpoint is identified by its git tree hash. A restore takes back what the agent's steps did since, and nothing else.
"""

import asyncio
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from roo_tui.domain.errors import CheckpointError
from roo_tui.domain.views import FileChange
from roo_tui.store.checkpoint_history import CheckpointHistory
from roo_tui.store.restoring import apply, blocked_paths
from roo_tui.store.shadow_git import ABSENT, ShadowGit, TreeChange
from roo_tui.store.working_tree import WorkingFiles, store_working_files, untrack_ignored

T = TypeVar("T")
logger = logging.getLogger(__name__)

_JOURNAL = "restore.json"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A checkpoint that was taken.

    `files` changed since the previous checkpoint (none for the first); `skipped` are not in it.
    """

    tree: str
    commit: str
    files: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did. `before` is the tree from which it can be undone, `after` the tree of the files now.

    `files` were written or deleted. `skipped` were left alone, since a checkpoint left out what is at their paths.
    """

    before: str
    after: str
    files: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a restore would change, what it leaves alone though the agent changed it, and what the user changed."""

    changes: tuple[TreeChange, ...]
    skipped: tuple[str, ...]
    by_user: frozenset[str]


class Checkpoints:
    """The checkpoints of one workspace. `folder` holds the shadow repositories of all workspaces.

    Every method but `available` raises `CheckpointError` if checkpoints are not available or git fails.
    """

    def __init__(self, workspace: Path, folder: Path) -> None:
        self._workspace = workspace.resolve()
        name = hashlib.sha256(os.fsencode(self._workspace)).hexdigest()[:16]
        self._git = ShadowGit(self._workspace, folder.resolve() / name, shutil.which("git") or "")
        self._history = CheckpointHistory(self._git)

    def available(self) -> str:
        """Return why checkpoints are not available here, empty if they are."""
        if not self._git.program:
            return "git was not found. Install git to be able to rewind files."
        if Path.home().resolve().is_relative_to(self._workspace):
            return (
                f"{self._workspace} contains your whole home directory, which is too large for checkpoints. Start "
                "roo-tui in a project's folder to be able to rewind files."
            )
        if not self._workspace.is_dir():
            return f"{self._workspace} is not a folder."
        return ""

    async def snapshot(self, *, step_of: str = "", by_user: bool = True) -> Snapshot:
        """Store the files as they are now. If nothing has changed, return the newest checkpoint.

        What changed since the newest one is the work of a step of the task `step_of`, the user's, or (with both)
        anyone's.
        """
        self._require_available()
        async with self._git.session():
            await self._finish_interrupted_restore()
            now = await store_working_files(self._git)
            taken = await self._history.add(now.tree, now.left_out, step_of=step_of, by_user=by_user)
            return Snapshot(now.tree, taken.commit, taken.files, now.skipped)

    async def changes(self, from_tree: str, to_tree: str = "") -> tuple[FileChange, ...]:
        """Return the changes that turn one tree into another; an empty `to_tree` means the working files."""
        self._require_available()
        async with self._git.session():
            await self._finish_interrupted_restore()
            to_tree = to_tree or (await store_working_files(self._git)).tree
            return tuple(_file_change(change) for change in await self._git.changes(from_tree, to_tree))

    async def preview(self, tree: str, task: str) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """Return what restoring `tree` would do to the working files, and the paths that it cannot restore.

        A file is in conflict if not only the task's steps changed it since.
        """
        self._require_available()
        async with self._git.session():
            await self._finish_interrupted_restore()
            now = await store_working_files(self._git)
            plan = await self._plan(now, tree, task)
            files = tuple(_file_change(change, conflict=change.path in plan.by_user) for change in plan.changes)
            return files, tuple(sorted({*now.left_out, *plan.skipped}))

    async def restore(self, tree: str, task: str, *, keep_users: bool = False) -> Restored:
        """Restore to the state of `tree` what the task's steps changed since: all of it, or nothing.

        Files created since then are deleted, deleted ones are written again. Files that no step changed stay as they
        are, and so does what a checkpoint since then left out; with `keep_users`, so do files that the user changed as
        well. A restore that has begun is finished even if the caller is cancelled.

        Raises:
            CheckpointError: a file could not be written (nothing is changed), or the tree does not exist.
        """
        self._require_available()
        return await _uninterrupted(self._restore(tree, task, keep_users))

    async def _restore(self, tree: str, task: str, keep_users: bool) -> Restored:
        async with self._git.session():
            await self._finish_interrupted_restore()
            before = await store_working_files(self._git)
            plan = await self._plan(before, tree, task)
            kept = plan.by_user if keep_users else frozenset()
            changes = tuple(change for change in plan.changes if change.path not in kept)
            if not changes:
                return Restored(before.tree, before.tree, (), plan.skipped)
            await self._history.add(before.tree, before.left_out)
            await self._move(before.tree, tree, changes, task)
            await untrack_ignored(self._git, await self._absent(tree))
            after = await store_working_files(self._git)
            await self._history.add(after.tree, after.left_out, step_of=task, by_user=False)
            (self._git.folder / _JOURNAL).unlink()
            return Restored(before.tree, after.tree, tuple(change.path for change in changes), plan.skipped)

    async def _absent(self, tree: str) -> frozenset[str]:
        """Return the stored working files that a tree does not have."""
        now = await store_working_files(self._git)
        changes = await self._git.changes(now.tree, tree)
        return frozenset(change.path for change in changes if change.new_mode == ABSENT)

    async def _move(self, before: str, tree: str, changes: Sequence[TreeChange], task: str) -> None:
        """Apply all changes and leave the journal; if one fails, undo those already applied."""
        back = [change.reversed() for change in changes]
        new = await self._git.stage(tree, changes, "new")
        old = await self._git.stage(before, back, "old")
        journal = self._git.folder / _JOURNAL
        journal.write_text(json.dumps([before, tree, [change.path for change in changes], task]))
        try:
            await asyncio.to_thread(apply, self._workspace, changes, new)
        except OSError as error:
            try:
                await asyncio.to_thread(apply, self._workspace, back, old)
            except OSError as second:
                raise CheckpointError(
                    f"The files could not be restored ({error}), and undoing the restore failed too ({second}). Make "
                    "the workspace writable; the next checkpoint then undoes the rest."
                ) from error
            journal.unlink()
            raise CheckpointError(
                f"The files were not restored: {error}. Nothing was changed; make the file writable and try again."
            ) from error

    async def _finish_interrupted_restore(self) -> None:
        """Undo what a killed restore had changed; files edited since then stay as they are."""
        journal = self._git.folder / _JOURNAL
        try:
            before, tree, paths, *task = json.loads(journal.read_text())
        except FileNotFoundError:
            return
        except ValueError:
            # Killed while the journal was being written, before the first file was touched.
            journal.unlink()
            return
        working = (await store_working_files(self._git)).tree
        edited = {change.path for change in await self._git.changes(working, tree) if change.old_mode != ABSENT}
        changes, _ = await self._unblocked(await self._git.changes(working, before))
        ours = [change for change in changes if change.path in set(paths) and change.path not in edited]
        staged = await self._git.stage(before, ours, "old")
        try:
            await asyncio.to_thread(apply, self._workspace, ours, staged)
        except OSError as error:
            raise CheckpointError(
                f"An earlier restore was interrupted and cannot be undone ({error}). Make the workspace writable and "
                "try again."
            ) from error
        latest = await self._history.latest()
        if latest is not None and latest.tree != before:
            # The restore was complete and in the history: taking it back is not the user's doing.
            await self._history.add(before, latest.left_out, step_of="".join(task), by_user=False)
        journal.unlink()
        logger.warning("undid an interrupted restore; files written: %d", len(ours))

    async def _plan(self, working: WorkingFiles, tree: str, task: str) -> _Plan:
        since = await self._history.since(tree, task)
        latest = await self._history.latest()
        unstored = await self._git.changes(latest.tree, working.tree) if latest is not None else ()
        by_agent = [change for change in await self._git.changes(working.tree, tree) if change.path in since.by_agent]
        ours = [change for change in by_agent if not since.was_left_out(change.path)]
        changes, _ = await self._unblocked(ours)
        skipped = {change.path for change in by_agent} - {change.path for change in changes}
        by_user = since.by_user | {change.path for change in unstored}
        return _Plan(changes, tuple(sorted(skipped)), by_user)

    async def _unblocked(self, changes: Sequence[TreeChange]) -> tuple[tuple[TreeChange, ...], frozenset[str]]:
        """Return the changes that can be made, and the paths of the others, which must not be touched."""
        blocked = await asyncio.to_thread(blocked_paths, self._workspace, changes)
        return tuple(change for change in changes if change.path not in blocked), blocked

    def _require_available(self) -> None:
        reason = self.available()
        if reason:
            raise CheckpointError(f"Checkpoints are not available: {reason}")


def _file_change(change: TreeChange, *, conflict: bool = False) -> FileChange:
    action: Literal["restore", "delete", "create"] = "restore"
    if change.new_mode == ABSENT:
        action = "delete"
    elif change.old_mode == ABSENT:
        action = "create"
    return FileChange(change.path, action, change.added, change.removed, conflict)


async def _uninterrupted(work: Coroutine[object, None, T]) -> T:
    """Return the result of the work. If the caller is cancelled, the cancellation waits until the work is done."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.cancelled():
            await asyncio.wait([task])
        raise
