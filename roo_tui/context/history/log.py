"""One task's log in memory: every entry, the head, and the path from the root to the head."""

from collections.abc import Iterable, Sequence
from itertools import count

from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.ids import EntryId


class Log:
    """The entries of one task and its head. Entries are only added; moving the head abandons entries but loses none.

    A head of None is before the first entry: the path is empty.
    """

    def __init__(self, entries: Iterable[Entry] = (), head: EntryId | None = None) -> None:
        self._entries: dict[EntryId, Entry] = {}
        self._head: EntryId | None = None
        self._path: list[Entry] = []
        self._path_view: tuple[Entry, ...] | None = ()
        for entry in entries:
            self._keep(entry)
        self.move(head)

    @property
    def head(self) -> EntryId | None:
        """Return the entry that becomes the parent of the next one, None before the first entry."""
        return self._head

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return every entry in the order added, including those of abandoned branches."""
        return tuple(self._entries.values())

    def entry(self, entry_id: EntryId) -> Entry:
        """Return the entry with this id.

        Raises:
            KeyError: the log has no such entry.
        """
        return self._entries[entry_id]

    def find(self, entry_id: EntryId) -> Entry | None:
        """Return the entry with this id, None if the log has no such entry."""
        return self._entries.get(entry_id)

    def path(self) -> tuple[Entry, ...]:
        """Return the entries from the root to the head: the same tuple until the path changes."""
        if self._path_view is None:
            self._path_view = tuple(self._path)
        return self._path_view

    def add(self, entries: Iterable[Entry]) -> None:
        """Add entries and move the head to the last of them.

        Raises:
            ValueError: an id is in the log already, or a parent is not.
        """
        for entry in entries:
            self._keep(entry)
            if entry.parent_id == self._head:
                self._path.append(entry)
                self._head = entry.id
                self._path_view = None
            else:
                self.move(entry.id)

    def move(self, head: EntryId | None) -> None:
        """Move the head to an entry; None moves it before the first entry.

        Raises:
            KeyError: the log has no such entry.
        """
        path: list[Entry] = []
        at = head
        while at is not None:
            entry = self._entries[at]
            path.append(entry)
            at = entry.parent_id
        path.reverse()
        self._head, self._path, self._path_view = head, path, None

    def _keep(self, entry: Entry) -> None:
        if entry.id in self._entries:
            raise ValueError(f"entry {entry.id} is already in the log")
        if entry.parent_id is not None and entry.parent_id not in self._entries:
            raise ValueError(f"the parent {entry.parent_id} of entry {entry.id} is not in the log")
        self._entries[entry.id] = entry


def appended(path: Sequence[Entry], *bodies: Body) -> tuple[Entry, ...]:
    """Return the path with the bodies appended. The new entries have provisional ids."""
    entries = list(path)
    first = max((entry.id for entry in path), default=0) + 1
    for entry_id, body in zip(count(first), bodies, strict=False):
        parent_id, at_ms = (entries[-1].id, entries[-1].at_ms) if entries else (None, 0)
        entries.append(Entry(entry_id, parent_id, at_ms, body))
    return tuple(entries)
