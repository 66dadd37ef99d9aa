"""Checkpoints: the workspace's files, stored in a shadow git repository and restored from it.

Ignored files (.gitignore), nested repositories, files over 10 MB and unreadable files are left out and reported as not
restorable. A checkpoint is identified by its git tree hash. The user's own repository is never read.
"""

import asyncio
import hashlib
import json
import logging
import os
import shutil
import stat
from collections.abc import Collection, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from roo_tui.domain.errors import CheckpointError
from roo_tui.domain.views import FileChange
from roo_tui.store.restoring import apply, blocked_paths
from roo_tui.store.shadow_git import ABSENT, ShadowGit, TreeChange

T = TypeVar("T")
logger = logging.getLogger(__name__)

HUGE_BYTES = 10_000_000
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

    `files` were written or deleted. `skipped` were left alone, since no checkpoint has what is at their paths now.
    """

    before: str
    after: str
    files: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


class Checkpoints:
    """The checkpoints of one workspace. `folder` holds the shadow repositories of all workspaces.

    Every method but `available` raises `CheckpointError` if checkpoints are not available or git fails.
    """

    def __init__(self, workspace: Path, folder: Path) -> None:
        self._workspace = workspace.resolve()
        name = hashlib.sha256(os.fsencode(self._workspace)).hexdigest()[:16]
        self._git = ShadowGit(self._workspace, folder.resolve() / name, shutil.which("git") or "")

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

    async def snapshot(self) -> Snapshot:
        """Store the files as they are now. If nothing has changed, return the newest checkpoint."""
        self._require_available()
        async with self._git.session():
            await self._finish_interrupted_restore()
            tree, skipped = await self._working_tree()
            commit, last_tree = await self._git.latest()
            if tree == last_tree:
                return Snapshot(tree, commit, (), skipped)
            changes = await self._git.changes(last_tree, tree) if last_tree else ()
            commit = await self._git.commit(tree, commit)
            return Snapshot(tree, commit, tuple(change.path for change in changes), skipped)

    async def changes(self, from_tree: str, to_tree: str = "") -> tuple[FileChange, ...]:
        """Return the changes that turn one tree into another; an empty `to_tree` means the working files."""
        self._require_available()
        async with self._git.session():
            await self._finish_interrupted_restore()
            to_tree = to_tree or (await self._working_tree())[0]
            return tuple(_file_change(change) for change in await self._git.changes(from_tree, to_tree))

    async def preview(self, tree: str, last_tree: str = "") -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """Return what restoring `tree` would do to the working files, and the paths that it cannot restore.

        A file is in conflict if it differs from `last_tree`, the newest checkpoint of the agent's own work.
        """
        self._require_available()
        async with self._git.session():
            await self._finish_interrupted_restore()
            working, skipped = await self._working_tree()
            changes, blocked = await self._plan(working, tree)
            touched = {change.path for change in await self._git.changes(last_tree, working)} if last_tree else set()
            files = tuple(_file_change(change, conflict=change.path in touched) for change in changes)
            return files, tuple(sorted({*skipped, *blocked, *await self._ignored()}))

    async def restore(self, tree: str, paths: Collection[str] | None = None) -> Restored:
        """Restore the working files, or only `paths`, to the state of `tree`: all of them, or none.

        Files created since then are deleted, deleted ones are written again. A restore that has begun is finished even
        if the caller is cancelled.

        Raises:
            CheckpointError: a file could not be written (nothing is changed), or the tree does not exist.
        """
        self._require_available()
        return await _uninterrupted(self._restore(tree, None if paths is None else frozenset(paths)))

    async def _restore(self, tree: str, paths: frozenset[str] | None) -> Restored:
        async with self._git.session():
            await self._finish_interrupted_restore()
            before, _ = await self._working_tree()
            changes, blocked = await self._plan(before, tree)
            changes = tuple(change for change in changes if paths is None or change.path in paths)
            if not changes:
                return Restored(before, before, (), blocked)
            commit, last_tree = await self._git.latest()
            if before != last_tree:
                await self._git.commit(before, commit)
            await self._move(before, tree, changes)
            after, _ = await self._working_tree()
            return Restored(before, after, tuple(change.path for change in changes), blocked)

    async def _move(self, before: str, tree: str, changes: Sequence[TreeChange]) -> None:
        """Apply all changes; if one fails, undo those already applied."""
        back = [change.reversed() for change in changes]
        new = await self._git.stage(tree, changes, "new")
        old = await self._git.stage(before, back, "old")
        journal = self._git.folder / _JOURNAL
        journal.write_text(json.dumps([before, tree, [change.path for change in changes]]))
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
        journal.unlink()

    async def _finish_interrupted_restore(self) -> None:
        """Undo what a killed restore had changed; files edited since then stay as they are."""
        journal = self._git.folder / _JOURNAL
        try:
            before, tree, paths = json.loads(journal.read_text())
        except FileNotFoundError:
            return
        except ValueError:
            # Killed while the journal was being written, before the first file was touched.
            journal.unlink()
            return
        working, _ = await self._working_tree()
        edited = {change.path for change in await self._git.changes(working, tree) if change.old_mode != ABSENT}
        changes, _ = await self._plan(working, before)
        ours = [change for change in changes if change.path in set(paths) and change.path not in edited]
        staged = await self._git.stage(before, ours, "old")
        try:
            await asyncio.to_thread(apply, self._workspace, ours, staged)
        except OSError as error:
            raise CheckpointError(
                f"An earlier restore was interrupted and cannot be undone ({error}). Make the workspace writable and "
                "try again."
            ) from error
        journal.unlink()
        logger.warning("undid an interrupted restore; files written: %d", len(ours))

    async def _plan(self, working: str, tree: str) -> tuple[tuple[TreeChange, ...], tuple[str, ...]]:
        """Return the changes from the working files to a tree, and the paths that must not be touched."""
        changes = await self._git.changes(working, tree)
        blocked = await asyncio.to_thread(blocked_paths, self._workspace, changes)
        return tuple(change for change in changes if change.path not in blocked), tuple(sorted(blocked))

    async def _working_tree(self) -> tuple[str, tuple[str, ...]]:
        """Store the working files as a tree; return the tree, and the paths left out that are not ignored."""
        listed = await self._git.names("ls-files", "-z", "-t", "-o", "-m", "-d", "--exclude-standard")
        kept, gone, skipped = await asyncio.to_thread(_sorted_out, self._workspace, listed)
        if gone:
            await self._git.run("update-index", "-z", "--force-remove", "--stdin", stdin=gone)
        if kept:
            await self._git.run("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=kept)
        return (await self._git.run("write-tree")).decode().strip(), skipped

    async def _ignored(self) -> list[str]:
        names = await self._git.names("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
        return [os.fsdecode(name) for name in names]

    def _require_available(self) -> None:
        reason = self.available()
        if reason:
            raise CheckpointError(f"Checkpoints are not available: {reason}")


def _sorted_out(root: Path, listed: list[bytes]) -> tuple[bytes, bytes, tuple[str, ...]]:
    """Return the paths for git to add and those to remove, NUL-terminated, and the paths left out.

    `listed` are paths with the tags of `git ls-files -t`: `?` other, `C` changed, `R` removed.
    """
    removed = {item[2:] for item in listed if item.startswith(b"R ")}
    kept, gone, skipped = [], list(removed), []
    for path in {item[2:] for item in listed} - removed:
        name = os.fsdecode(path)
        if name.endswith("/"):
            skipped.append(name)
            continue
        treatment = "gone" if _is_behind_link(root, name) else _treatment(root / name)
        if treatment == "keep":
            kept.append(path)
        else:
            gone.append(path)
        if treatment == "skip":
            skipped.append(name)
    return b"".join(path + b"\0" for path in kept), b"".join(path + b"\0" for path in gone), tuple(sorted(skipped))


def _is_behind_link(root: Path, name: str) -> bool:
    return any((root / parent).is_symlink() for parent in Path(name).parents if parent.parts)


def _treatment(path: Path) -> Literal["keep", "gone", "skip"]:
    try:
        status = path.lstat()
    except OSError:
        return "gone"
    if stat.S_ISDIR(status.st_mode):
        return "gone"
    if stat.S_ISLNK(status.st_mode):
        return "keep"
    readable = stat.S_ISREG(status.st_mode) and status.st_size <= HUGE_BYTES and os.access(path, os.R_OK)
    return "keep" if readable else "skip"


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
