"""Files that were changed by someone else since the agent last looked at them."""

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from roo_tui.workspace.text_files import digest

_WATCHED = 500
_HASHED = 20_000_000


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that is not as the agent knows it; `path` as it was shown to the agent."""

    path: str
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    shown: str
    digest: str
    stamp: tuple[int, int] | None


class RecentFiles:
    """Remembers the content of the last 500 files the agent read or wrote."""

    def __init__(self) -> None:
        self._known: OrderedDict[Path, _Known] = OrderedDict()

    def note(self, path: Path, shown: str, content_digest: str) -> None:
        """Remember that the agent knows the file with this content (SHA-256 of its bytes)."""
        self._known.pop(path, None)
        self._known[path] = _Known(shown, content_digest, _stamp(path))
        while len(self._known) > _WATCHED:
            self._known.popitem(last=False)

    def changed(self, limit: int = 20) -> tuple[ChangedFile, ...]:
        """Return the files that differ now, those looked at last first, at most `limit`.

        A file stays among them until the agent looks again. Only files with another time or size are read.
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
        return digest(path.read_bytes()) == known.digest
    except OSError:
        return False
