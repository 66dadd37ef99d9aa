"""Path rules: what the agent may not see (`.rooignore`), and what it may change only with approval."""

import logging
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

log = logging.getLogger(__name__)

ROO_IGNORE = ".rooignore"

# What configures the agent, the editor or git: Roo Code's list, and git's own folder.
_PROTECTED = (
    ROO_IGNORE,
    ".roo/",
    ".roomodes",
    ".roorules*",
    ".rooprotected",
    ".git",
    ".vscode/",
    "*.code-workspace",
    "AGENTS.md",
    "AGENT.md",
)


def parse(lines: Iterable[str]) -> "GitIgnoreSpec":
    """Return the patterns of a `.gitignore`-like file; an invalid line is logged and left out."""
    from pathspec import GitIgnoreSpec

    kept = list(lines)
    try:
        return GitIgnoreSpec.from_lines(kept)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in kept if _is_pattern(line)])


def read_patterns(path: Path) -> "GitIgnoreSpec | None":
    """Return the patterns of the file, None if it does not exist or cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        log.warning("%s cannot be read: %s", path, error)
        return None
    return parse(text.splitlines())


def is_protected(relative: str) -> bool:
    """Say whether a path (relative to the workspace) configures the agent, the editor or git."""
    return _protected().match_file(relative)


class RooIgnore:
    """The workspace's `.rooignore`, read again whenever the file changes."""

    def __init__(self, root: Path) -> None:
        self._file = root / ROO_IGNORE
        self._stamp: tuple[int, int, int] | None = None
        self._spec: GitIgnoreSpec | None = None

    def is_ignored(self, relative: str, *, is_dir: bool = False) -> bool:
        """Say whether a path (relative to the workspace, with `/`) is hidden from the agent."""
        self._reload()
        if self._spec is None or relative in ("", "."):
            return False
        return self._spec.match_file(relative + "/" if is_dir else relative)

    def _reload(self) -> None:
        try:
            status = self._file.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            self._stamp, self._spec = None, None
            return
        if stamp != self._stamp:
            self._spec = read_patterns(self._file)
            self._stamp = stamp


@cache
def _protected() -> "GitIgnoreSpec":
    return parse(_PROTECTED)


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError as error:
        log.warning("left an invalid line out of the ignore patterns: %s", error)
        return False
    return True
