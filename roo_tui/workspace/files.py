"""The workspace: resolves paths, hides what `.rooignore` names, reads and writes files, and notices changed ones.

A path is judged by the file it leads to, with links and `..` followed. Files outside the workspace can be read and
written; the caller must ask for approval. Files that `.rooignore` hides can be neither read nor written.
"""

import os
import stat
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from roo_tui import atomic_file
from roo_tui.domain.errors import PathRefused
from roo_tui.plain_text import well_formed
from roo_tui.workspace import text_files
from roo_tui.workspace.ignore import RooIgnore, is_protected
from roo_tui.workspace.processes import Commands
from roo_tui.workspace.text_files import TextFile

TEXT_LIMIT = 20_000_000
"""The largest text file that is read, in bytes."""

_WATCHED = 500
_HASHED = 20_000_000


@dataclass(frozen=True, slots=True)
class Location:
    """Where a path leads.

    `path` is absolute and free of links. `shown` is relative to the workspace, with `/` (`.` for its root), or absolute
    if the path is outside. `names` are its relative names: as written, and with links followed.
    """

    path: Path
    shown: str
    inside: bool
    names: tuple[str, ...] = ()


class Workspace:
    """One folder: its files, its ignore rules, the files that others changed, and its commands.

    `hidden_variables` names environment variables that commands do not get, in addition to the known API keys.
    """

    def __init__(self, root: Path | str, *, hidden_variables: tuple[str, ...] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self.roo_ignore = RooIgnore(self.root)
        self.recent = RecentFiles()
        self.commands = Commands(self.root, hidden_variables)

    def resolve(self, path: str | Path) -> Location:
        """Return where a path leads; relative paths start at the root, `~/` at the home folder. It need not exist.

        Raises:
            PathRefused: no file can have this name (it has a NUL, or characters that the system cannot encode).
        """
        text = str(path)
        try:
            if "\0" in text:
                raise ValueError("NUL in a path")
            os.fsencode(text)
            written = self.root / (Path(text).expanduser() if text.startswith("~/") else text)
            real = Path(os.path.realpath(written))
        except (ValueError, OSError, RuntimeError) as error:
            raise PathRefused("bad_path", text) from error
        lexical = Path(os.path.normpath(written))
        names = tuple(
            dict.fromkeys(
                candidate.relative_to(self.root).as_posix()
                for candidate in (lexical, real)
                if candidate.is_relative_to(self.root)
            )
        )
        inside = real.is_relative_to(self.root)
        shown = real.relative_to(self.root).as_posix() if inside else str(real)
        return Location(real, well_formed(shown), inside, names)

    def is_inside(self, path: str | Path) -> bool:
        """Say whether a path leads into the workspace, with links and `..` followed."""
        return self.resolve(path).inside

    def is_ignored(self, path: str | Path | Location) -> bool:
        """Say whether `.rooignore` hides a path, as written or with links followed."""
        location = path if isinstance(path, Location) else self.resolve(path)
        is_dir = location.path.is_dir()
        return any(self.roo_ignore.is_ignored(name, is_dir=is_dir) for name in location.names)

    def is_protected(self, path: str | Path | Location) -> bool:
        """Say whether a path configures the agent, the editor or git, so that changing it always needs approval."""
        location = path if isinstance(path, Location) else self.resolve(path)
        return any(is_protected(name) for name in location.names)

    def read_bytes(self, path: str | Path | Location, *, limit: int = TEXT_LIMIT) -> tuple[bytes, int]:
        """Return a regular file's bytes and its permission bits.

        Raises:
            PathRefused: it is ignored, missing, a folder, a device or pipe, larger than `limit` bytes, or not readable.
        """
        location = path if isinstance(path, Location) else self.resolve(path)
        if self.is_ignored(location):
            raise PathRefused("ignored", location.shown)
        try:
            status = location.path.stat()
            if stat.S_ISDIR(status.st_mode):
                raise PathRefused("folder", location.shown)
            if not stat.S_ISREG(status.st_mode):
                raise PathRefused("special", location.shown)
            if status.st_size > limit:
                raise PathRefused("too_large", location.shown, f"{status.st_size:,} bytes, at most {limit:,}")
            return location.path.read_bytes(), stat.S_IMODE(status.st_mode)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise PathRefused("missing", location.shown) from error
        except OSError as error:
            raise PathRefused("failed", location.shown, error.strerror or str(error)) from error

    def read_text(self, path: str | Path | Location, *, limit: int = TEXT_LIMIT) -> TextFile:
        """Return a file's text. Text that is not UTF-8 is decoded for reading only; see its `encoding`.

        Raises:
            PathRefused: as for `read_bytes`, or it is a binary file.
        """
        location = path if isinstance(path, Location) else self.resolve(path)
        data, mode = self.read_bytes(location, limit=limit)
        if text_files.is_binary(data):
            raise PathRefused("binary", location.shown, f"{len(data):,} bytes")
        return text_files.decode(data, mode)

    def read_for_edit(self, path: str | Path | Location) -> TextFile | None:
        """Return a file's text if it can be written back without loss, None if the file does not exist.

        Raises:
            PathRefused: as for `read_text`, or it is not UTF-8.
        """
        location = path if isinstance(path, Location) else self.resolve(path)
        try:
            file = self.read_text(location)
        except PathRefused as error:
            if error.reason == "missing":
                return None
            raise
        if not file.editable:
            raise PathRefused("not_utf8", location.shown, f"it looks like {file.encoding}")
        return file

    def write_text(self, path: str | Path | Location, text: str, *, like: TextFile | None = None) -> str:
        """Replace a file's whole text atomically and return the digest of what was written. Creates missing folders.

        `like` is the previous file: its line ends (if uniform), byte order mark and permissions are kept.

        Raises:
            PathRefused: it is ignored or not writable; nothing was changed.
        """
        location = path if isinstance(path, Location) else self.resolve(path)
        if self.is_ignored(location):
            raise PathRefused("ignored", location.shown)
        if like is not None:
            text = like.fit(text)
        try:
            atomic_file.write_text(location.path, text, like.mode if like else 0o644)
            return text_files.digest(location.path.read_bytes())
        except IsADirectoryError as error:
            raise PathRefused("folder", location.shown) from error
        except OSError as error:
            raise PathRefused("failed", location.shown, error.strerror or str(error)) from error


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that has changed since the agent last read or wrote it; `path` is as it was shown to the agent."""

    path: str
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    shown: str
    digest: str
    stamp: tuple[int, int] | None


class RecentFiles:
    """Remembers the last 500 files that the agent read or wrote, to find those that others have changed since."""

    def __init__(self) -> None:
        self._known: OrderedDict[Path, _Known] = OrderedDict()

    def note(self, path: Path, shown: str, content_digest: str) -> None:
        """Remember the content (SHA-256 of its bytes) that the agent last read or wrote."""
        self._known.pop(path, None)
        self._known[path] = _Known(shown, content_digest, _stamp(path))
        while len(self._known) > _WATCHED:
            self._known.popitem(last=False)

    def changed(self, limit: int = 20) -> tuple[ChangedFile, ...]:
        """Return at most `limit` files whose content has changed, the one most recently noted first.

        A file is returned until it is noted again. Only files with a different time or size are read.
        """
        found: list[ChangedFile] = []
        for path, known in reversed(list(self._known.items())):
            if len(found) == limit:
                break
            stamp = _stamp(path)
            if stamp is None:
                found.append(ChangedFile(known.shown, deleted=True))
            elif stamp != known.stamp:
                if _is_same(path, stamp, known):
                    self._known[path] = _Known(known.shown, known.digest, stamp)
                else:
                    found.append(ChangedFile(known.shown))
        return tuple(found)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _is_same(path: Path, stamp: tuple[int, int], known: _Known) -> bool:
    if stamp[1] > _HASHED:
        return False
    try:
        return text_files.digest(path.read_bytes()) == known.digest
    except OSError:
        return False
