"""Restore the workspace's files: find what must not be touched, and apply changes. Blocking; run in a thread."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from roo_tui.store.shadow_git import ABSENT, EXECUTABLE, LINK, TreeChange


def blocked_paths(root: Path, changes: Sequence[TreeChange]) -> frozenset[str]:
    """Return the paths that cannot be written without losing a file that no checkpoint has.

    Such a file is ignored, too large or part of another repository. It is at the path itself, at one of its parents, or
    in a folder at the path. A path behind a link is blocked too.
    """
    going = {change.path for change in changes if change.new_mode == ABSENT}
    return frozenset(
        change.path for change in changes if change.new_mode != ABSENT and _is_blocked(root, change, going)
    )


def apply(root: Path, changes: Sequence[TreeChange], staged: Path) -> None:
    """Delete and write files according to the changes, with contents from `staged`. It is safe to repeat this.

    Files keep their permissions except for the executable bit. Folders left empty are removed.

    Raises:
        OSError: a file could not be written; the changes before it have been applied.
    """
    for change in changes:
        if change.new_mode == ABSENT:
            _delete(root / change.path)
    _remove_empty_folders(root, (change.path for change in changes if change.new_mode == ABSENT))
    for change in changes:
        if change.new_mode != ABSENT:
            _write(staged / change.path, root / change.path, change.new_mode)


def _is_blocked(root: Path, change: TreeChange, going: set[str]) -> bool:
    parts = change.path.split("/")
    for depth in range(1, len(parts)):
        parent = "/".join(parts[:depth])
        mode = _mode(root / parent)
        if not mode:
            return False
        if not stat.S_ISDIR(mode):
            return parent not in going
    mode = _mode(root / change.path)
    if stat.S_ISDIR(mode):
        return any(path not in going for path in _files_below(root, change.path))
    return bool(mode) and change.old_mode == ABSENT


def _mode(path: Path) -> int:
    """Return the mode of a file, 0 if it does not exist. Links are not followed."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _files_below(root: Path, folder: str) -> Iterable[str]:
    for place, folders, files in os.walk(root / folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]  # noqa: PTH114, PTH118
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(place, name), root)  # noqa: PTH118


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except NotADirectoryError:
        pass


def _remove_empty_folders(root: Path, paths: Iterable[str]) -> None:
    folders = {parent for path in paths for parent in Path(path).parents if parent.parts}
    for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
        try:
            (root / folder).rmdir()
        except OSError:
            pass


def _write(source: Path, target: Path, mode: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    here = _mode(target)
    if stat.S_ISDIR(here):
        for place, _, _ in os.walk(target, topdown=False):
            Path(place).rmdir()
    temporary = target.with_name(f".roo-tui-{secrets.token_hex(6)}")
    try:
        if mode == LINK:
            temporary.symlink_to(source.readlink())
        else:
            shutil.copyfile(source, temporary)
            permissions = stat.S_IMODE(here if stat.S_ISREG(here) else source.stat().st_mode)
            temporary.chmod(_with_executable_bit(permissions, mode == EXECUTABLE))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _with_executable_bit(permissions: int, executable: bool) -> int:
    return permissions | (permissions & 0o444) >> 2 if executable else permissions & ~0o111
