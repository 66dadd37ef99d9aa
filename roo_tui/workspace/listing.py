"""List files and folders, except those that `.rooignore` or `.gitignore` leaves out. Does not need git."""

import asyncio
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from roo_tui.domain.errors import PathRefused
from roo_tui.workspace.files import Location, Workspace
from roo_tui.workspace.ignore import read_patterns

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Walked only if named: what tools and package managers create, often in large numbers.
_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"}
    | {".pytest_cache", ".hypothesis"}
)

COMPLETED = 50_000
"""The most files that `all_files` returns."""


@dataclass(frozen=True, slots=True)
class Name:
    """One file or folder; `relative` starts at the workspace's root, or at the walked folder if that is outside."""

    relative: str
    path: str
    is_dir: bool

    def __str__(self) -> str:
        return self.relative + "/" if self.is_dir else self.relative


def walk(workspace: Workspace, folder: Location, *, recursive: bool = True) -> Iterator[Name]:
    """Yield the contents of a folder, sorted, upper levels first; links are listed but not followed.

    `.gitignore` applies in a recursive walk only, and not if it ignores the folder itself. Folders that cannot be read
    are left out.
    """
    prefix = "" if not folder.inside or folder.shown == "." else folder.shown + "/"
    chain = _chain_to(workspace, folder) if recursive else None
    waiting: deque[tuple[str, str, _Chain | None]] = deque([(str(folder.path), prefix, chain)])
    while waiting:
        path, prefix, chain = waiting.popleft()
        if chain is not None:
            chain = chain.with_folder(path, prefix)
        for entry in _entries(path):
            is_dir = entry.is_dir(follow_symlinks=False)
            name = Name(prefix + entry.name, entry.path, is_dir)
            if folder.inside and workspace.roo_ignore.is_ignored(name.relative, is_dir=is_dir):
                continue
            if chain is not None and (
                (is_dir and entry.name in _SKIPPED) or chain.is_ignored(name.relative, is_dir=is_dir)
            ):
                continue
            yield name
            if is_dir and recursive:
                waiting.append((entry.path, name.relative + "/", chain))


def list_folder(workspace: Workspace, path: str | Location, *, recursive: bool, limit: int) -> tuple[list[Name], bool]:
    """Return at most `limit` names and whether there are more.

    Raises:
        PathRefused: the folder is ignored, missing, not a folder, or not readable.
    """
    folder = path if isinstance(path, Location) else workspace.resolve(path)
    if workspace.is_ignored(folder):
        raise PathRefused("ignored", folder.shown)
    try:
        os.scandir(folder.path).close()
    except FileNotFoundError as error:
        raise PathRefused("missing", folder.shown) from error
    except NotADirectoryError as error:
        raise PathRefused("not_a_folder", folder.shown) from error
    except OSError as error:
        raise PathRefused("failed", folder.shown, error.strerror or str(error)) from error
    names = list(islice(walk(workspace, folder, recursive=recursive), limit + 1))
    return names[:limit], len(names) > limit


async def all_files(workspace: Workspace, limit: int = COMPLETED) -> list[str]:
    """Return the relative paths of the workspace's files, upper levels first. Runs in a thread."""

    def collect() -> list[str]:
        names = (name.relative for name in walk(workspace, workspace.resolve(".")) if not name.is_dir)
        return list(islice(names, limit))

    return await asyncio.to_thread(collect)


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


@dataclass(frozen=True, slots=True)
class _Chain:
    """The `.gitignore` files that apply to a folder, from the root down: (prefix, patterns)."""

    specs: "tuple[tuple[str, GitIgnoreSpec], ...]" = ()

    def with_folder(self, path: str, prefix: str) -> "_Chain":
        """Return the chain with a folder's `.gitignore` added, if it has one."""
        spec = read_patterns(Path(path) / ".gitignore")
        if spec is None or any(known == prefix for known, _ in self.specs):
            return self
        return _Chain((*self.specs, (prefix, spec)))

    def is_ignored(self, relative: str, *, is_dir: bool) -> bool:
        """Say whether the deepest file with a matching pattern ignores a path, as git does."""
        for prefix, spec in reversed(self.specs):
            name = relative[len(prefix) :] + ("/" if is_dir else "")
            decision = spec.check_file(name).include
            if decision is not None:
                return decision
        return False


def _chain_to(workspace: Workspace, folder: Location) -> _Chain:
    """Return the patterns that apply above a folder, none if they ignore the folder itself."""
    chain = _Chain()
    if not folder.inside or folder.shown == ".":
        return chain
    prefix, path = "", workspace.root
    for part in folder.shown.split("/"):
        chain = chain.with_folder(str(path), prefix)
        if chain.is_ignored(prefix + part, is_dir=True):
            return _Chain()
        prefix, path = f"{prefix}{part}/", path / part
    return chain
