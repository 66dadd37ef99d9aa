"""Store the workspace's files as a git tree, and says which files are left out of it."""

import asyncio
import json
import os
import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from roo_tui.store.shadow_git import MODES, ShadowGit

HUGE_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class WorkingFiles:
    """The files as they are now. `skipped` are too large, unreadable, or repositories of their own; `ignored` are left
    out because the user's ignore rules say so. Names of folders end in a slash."""

    tree: str
    skipped: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Everything that is there but not in the tree."""
        return tuple(sorted({*self.skipped, *self.ignored}))


async def store_working_files(git: ShadowGit) -> WorkingFiles:
    """Store the files as a tree, with their modes beside them."""
    listed = await git.names("ls-files", "-z", "-t", "-c", "-o", "-m", "-d", "--exclude-standard")
    sorted_out = await asyncio.to_thread(_sorted_out, git.workspace, listed)
    modes = await asyncio.to_thread(_unusual_modes, git.workspace, sorted_out.in_tree, git.usual_modes())
    if sorted_out.gone:
        await git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_joined(sorted_out.gone))
    if sorted_out.kept:
        await git.run("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=_joined(sorted_out.kept))
    tree = await git.write_tree(json.dumps(modes, sort_keys=True).encode())
    return WorkingFiles(tree, sorted_out.skipped, await _ignored(git))


async def untrack_ignored(git: ShadowGit, paths: Collection[str]) -> None:
    """Let go of those paths that the ignore rules cover by now; otherwise git keeps what it has once stored."""
    covered = await git.names("ls-files", "-z", "-c", "-i", "--exclude-standard")
    going = [name for name in covered if os.fsdecode(name) in paths]
    if going:
        await git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_joined(going))


async def _ignored(git: ShadowGit) -> tuple[str, ...]:
    names = [
        os.fsdecode(name) for name in await git.names("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
    ]
    # git also lists a folder of which only the contents are ignored; what is created there later is not.
    holding = {"/".join(parts[:depth]) + "/" for parts in map(_parts, names) for depth in range(1, len(parts))}
    return tuple(name for name in names if name not in holding)


def _parts(name: str) -> list[str]:
    return name.rstrip("/").split("/")


@dataclass(frozen=True, slots=True)
class _SortedOut:
    """Paths for git to add, paths for it to remove, those then in the tree, and the names of those left out."""

    kept: list[bytes]
    gone: list[bytes]
    in_tree: list[str]
    skipped: tuple[str, ...]


def _sorted_out(root: Path, listed: list[bytes]) -> _SortedOut:
    """Sort out the lines of `git ls-files -t`. Tags: `H` unchanged, `?` other, `C` changed, `R` removed."""
    tagged = [(item[:1], item[2:]) for item in listed if item[2:] != MODES.encode()]
    removed = {path for tag, path in tagged if tag == b"R"}
    looked_at = {path for tag, path in tagged if tag in b"?C"} - removed
    kept, gone, skipped = [], list(removed), []
    for path in looked_at:
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
    if os.path.lexists(root / MODES):
        skipped.append(MODES)
    in_tree = ({path for tag, path in tagged if tag == b"H"} | set(kept)) - set(gone)
    return _SortedOut(kept, gone, [os.fsdecode(path) for path in in_tree], tuple(sorted(skipped)))


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


def _unusual_modes(root: Path, names: Iterable[str], usual: tuple[int, int]) -> dict[str, str]:
    """Return the permissions, in octal, of the files that have others than git would give them."""
    plain, executable = usual
    found = {}
    for name in names:
        try:
            mode = os.lstat(f"{root}/{name}").st_mode
        except OSError:
            continue
        permissions = stat.S_IMODE(mode)
        if stat.S_ISREG(mode) and permissions != (executable if mode & stat.S_IXUSR else plain):
            found[name] = f"{permissions:o}"
    return found


def _joined(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)
