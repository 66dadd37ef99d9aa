"""The workspace: where a path leads, whether the agent may see it, and reading and writing its text.

A path is judged by where it really leads, through links and `..`. Paths outside can be read and written: whether they
may be is the caller's question to ask. What `.rooignore` names can be neither.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from roo_tui import atomic_file
from roo_tui.domain.errors import PathRefused
from roo_tui.plain_text import well_formed
from roo_tui.workspace import text_files
from roo_tui.workspace.ignore import RooIgnore, is_protected
from roo_tui.workspace.processes import Commands
from roo_tui.workspace.recent_files import RecentFiles
from roo_tui.workspace.text_files import TextFile

TEXT_LIMIT = 20_000_000
"""The largest text file that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where a path leads.

    `path` is absolute and free of links. `shown` is relative to the workspace with `/` (`.` for its root), or absolute
    for what lies outside. `names` are the relative names it goes by: as written, and as it really is.
    """

    path: Path
    shown: str
    inside: bool
    names: tuple[str, ...] = ()


class Workspace:
    """One folder and what goes on in it: files, ignore rules, files changed by others, commands.

    `hidden_variables` are names of environment variables that commands do not get, beside the known API keys.
    """

    def __init__(self, root: Path | str, *, hidden_variables: tuple[str, ...] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self.roo_ignore = RooIgnore(self.root)
        self.recent = RecentFiles()
        self.commands = Commands(self.root, hidden_variables)

    def resolve(self, path: str | Path) -> Location:
        """Return where a path leads; relative ones start at the root, `~/` at the home folder. It need not exist.

        Raises:
            PathRefused: no file can have this name (NUL, characters the system cannot write).
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
        """Say whether a path leads into the workspace, links and `..` followed."""
        return self.resolve(path).inside

    def is_ignored(self, path: str | Path | Location) -> bool:
        """Say whether `.rooignore` hides a path, as it is written or as it really is."""
        location = path if isinstance(path, Location) else self.resolve(path)
        is_dir = location.path.is_dir()
        return any(self.roo_ignore.is_ignored(name, is_dir=is_dir) for name in location.names)

    def is_protected(self, path: str | Path | Location) -> bool:
        """Say whether a path steers the agent, the editor or git, so that a change of it is always asked about."""
        location = path if isinstance(path, Location) else self.resolve(path)
        return any(is_protected(name) for name in location.names)

    def read_bytes(self, path: str | Path | Location, *, limit: int = TEXT_LIMIT) -> tuple[bytes, int]:
        """Return a regular file's bytes and its permission bits.

        Raises:
            PathRefused: ignored, missing, a folder, a device or pipe, more than `limit` bytes, or not readable.
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
        """Return a file's text. What is not UTF-8 is decoded for reading; its `encoding` says so.

        Raises:
            PathRefused: as `read_bytes`, or a binary file.
        """
        location = path if isinstance(path, Location) else self.resolve(path)
        data, mode = self.read_bytes(location, limit=limit)
        if text_files.is_binary(data):
            raise PathRefused("binary", location.shown, f"{len(data):,} bytes")
        return text_files.decode(data, mode)

    def read_for_edit(self, path: str | Path | Location) -> TextFile | None:
        """Return a file's text if it can be written back without loss, None if there is no such file yet.

        Raises:
            PathRefused: as `read_text`, or not UTF-8.
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
        """Replace a file's whole text in one step and return the digest of what was written; missing folders are made.

        `like` is the file as it was: its line ends (where uniform), byte order mark and permissions are kept.

        Raises:
            PathRefused: ignored, or not writable; nothing was changed.
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
