"""The store: tasks with their entries, head, queue and draft, blobs, and a few values by key.

Each method that changes something is one transaction, committed to disk when it returns. Text is stored with
lone surrogates replaced by U+FFFD; methods return it as it is stored.
"""

import asyncio
import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from roo_tui.domain.entries import (
    AssistantMessage,
    Body,
    Entry,
    HeadMove,
    QueuedMessage,
    StoredReduction,
    TaskInfo,
)
from roo_tui.domain.errors import StoreError, TaskNotFound
from roo_tui.domain.ids import EntryId, TaskId, entry_ref, new_id
from roo_tui.domain.json_value import JsonValue
from roo_tui.domain.markers import Condense, CondenseFailed, Marker, Mask, Toggle, Truncation
from roo_tui.plain_text import well_formed
from roo_tui.store.codec import PAYLOAD_VERSION, decode, encode
from roo_tui.store.database import Database
from roo_tui.store.lock import TaskLock
from roo_tui.store.search import Search

_TASK_COLUMNS = "id, title, workspace, created_ms, updated_ms, entries, cost_usd, parent_task_id, parent_call_id"
_MOVE_COLUMNS = "id, from_id, to_id, at_ms, reason, files_before, files_after"


@dataclass(frozen=True, slots=True)
class StoredTask:
    """A whole task: `entries` by id (all branches), `moves` and `queue` oldest first.

    `head` is None before the first entry and after a rewind to the very beginning. `draft` is an unfinished answer, as
    last saved while it was streamed.
    """

    info: TaskInfo
    entries: tuple[Entry, ...]
    moves: tuple[HeadMove, ...]
    head: EntryId | None
    queue: tuple[QueuedMessage, ...]
    draft: AssistantMessage | None


def open_store(path: Path, *, now_ms: Callable[[], int] | None = None) -> "Store":
    """Open the store in a database file, created if needed. Blocks for some milliseconds.

    Raises:
        StoreError: the file cannot be used; the message says why and what to do.
    """
    return Store(Database(path), path.parent / "locks", now_ms or _now_ms)


class Store:
    """All tasks of one data folder; `search` is the full-text search over them.

    Methods raise `StoreError`, and `TaskNotFound` for an id that does not exist.
    """

    def __init__(self, database: Database, locks: Path, now_ms: Callable[[], int]) -> None:
        self._database = database
        self._locks = locks
        self._now_ms = now_ms
        self.search = Search(database)

    async def close(self) -> None:
        """Finish all writes and close the file."""
        await self.search.close()
        await self._database.close()

    def lock(self, task_id: TaskId) -> TaskLock:
        """Lock a task for writing; raises `TaskLocked` if another process holds its lock."""
        return TaskLock(self._locks, task_id)

    async def create_task(
        self, workspace: str, *, title: str = "", parent_task_id: TaskId = "", parent_call_id: str = ""
    ) -> TaskInfo:
        """Create an empty task. A subtask names its parent task and the call that started it."""
        now = self._now_ms()
        info = TaskInfo(
            new_id(),
            well_formed(title),
            well_formed(workspace),
            now,
            now,
            parent_task_id=parent_task_id,
            parent_call_id=well_formed(parent_call_id),
        )

        def work(connection: sqlite3.Connection) -> TaskInfo:
            connection.execute(
                "INSERT INTO tasks (id, title, workspace, created_ms, updated_ms, parent_task_id, parent_call_id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (info.id, info.title, info.workspace, now, now, info.parent_task_id, info.parent_call_id),
            )
            return info

        return await self._database.write(work)

    async def tasks(self, *, workspace: str | None = None, limit: int = 1000) -> list[TaskInfo]:
        """Return the tasks of one workspace (of all if None), the most recently changed first."""

        def work(connection: sqlite3.Connection) -> list[TaskInfo]:
            rows = connection.execute(
                f"SELECT {_TASK_COLUMNS} FROM tasks WHERE ?1 IS NULL OR workspace = ?1"
                " ORDER BY updated_ms DESC, rowid DESC LIMIT ?2",
                (None if workspace is None else well_formed(workspace), limit),
            )
            return [TaskInfo(*row) for row in rows]

        return await self._database.run(work)

    async def find_task(self, id_or_unique_prefix: str) -> TaskInfo:
        """Return the task with this id, or the only one whose id begins with it.

        Raises:
            TaskNotFound: no task matches, or several do.
        """
        wanted = well_formed(id_or_unique_prefix.strip())

        def work(connection: sqlite3.Connection) -> TaskInfo:
            rows = connection.execute(
                f"SELECT {_TASK_COLUMNS} FROM tasks WHERE substr(id, 1, ?) = ? ORDER BY id LIMIT 3",
                (len(wanted), wanted),
            ).fetchall()
            if wanted and len(rows) == 1:
                return TaskInfo(*rows[0])
            exact = [row for row in rows if row[0] == wanted]
            if exact:
                return TaskInfo(*exact[0])
            if wanted and rows:
                raise TaskNotFound(
                    f"Several task ids begin with “{wanted}” ({rows[0][0]}, {rows[1][0]}); give more of the id."
                )
            raise TaskNotFound(f"There is no task “{wanted}”. `roo-tui tasks` lists them.")

        return await self._database.run(work)

    async def set_title(self, task_id: TaskId, title: str) -> None:
        """Change the title of a task."""
        await self._update(task_id, "title = ?", well_formed(title))

    async def spend(self, task_id: TaskId, cost_usd: float) -> None:
        """Add a cost in US dollars that no entry records (a failed attempt) to a task."""
        await self._update(task_id, "cost_usd = cost_usd + ?", cost_usd)

    async def load(self, task_id: TaskId) -> StoredTask:
        """Return a whole task. Takes about 40 µs per entry."""

        def work(connection: sqlite3.Connection) -> StoredTask:
            row = connection.execute(f"SELECT head, {_TASK_COLUMNS} FROM tasks WHERE id = ?", (task_id,)).fetchone()
            if row is None:
                raise _no_task(task_id)
            entries = connection.execute(
                "SELECT id, parent_id, at_ms, body, version FROM entries WHERE task_id = ? ORDER BY id", (task_id,)
            )
            moves = connection.execute(f"SELECT {_MOVE_COLUMNS} FROM moves WHERE task_id = ? ORDER BY id", (task_id,))
            queue = connection.execute("SELECT id, words FROM queue WHERE task_id = ? ORDER BY id", (task_id,))
            draft = connection.execute("SELECT body, version FROM drafts WHERE task_id = ?", (task_id,)).fetchone()
            draft_body = decode(*draft) if draft else None
            return StoredTask(
                info=TaskInfo(*row[1:]),
                entries=tuple(
                    Entry(id, parent, at, decode(body, version)) for id, parent, at, body, version in entries
                ),
                moves=tuple(HeadMove(*move) for move in moves),
                head=row[0],
                queue=tuple(QueuedMessage(*item) for item in queue),
                draft=draft_body if isinstance(draft_body, AssistantMessage) else None,
            )

        return await self._database.run(work)

    async def reductions(self) -> tuple[StoredReduction, ...]:
        """Return every condense, truncation, mask and failed condense of every task, oldest first."""

        def work(connection: sqlite3.Connection) -> tuple[StoredReduction, ...]:
            rows = connection.execute(
                "SELECT task_id, id, at_ms, body, version FROM entries WHERE json_extract(body, '$.kind') IN"
                " ('condense', 'truncation', 'mask', 'condense_failed', 'toggle') ORDER BY at_ms, id"
            )
            found: dict[tuple[TaskId, EntryId], StoredReduction] = {}
            for task_id, id, at_ms, text, version in rows:
                body = decode(text, version)
                if isinstance(body, Toggle) and (task_id, body.marker_id) in found:
                    marker = found[task_id, body.marker_id]
                    found[task_id, body.marker_id] = replace(marker, undone=not body.on)
                elif isinstance(body, Marker | CondenseFailed):
                    found[task_id, id] = StoredReduction(task_id, id, at_ms, body)
            return tuple(found.values())

        return await self._database.run(work)

    async def append(
        self,
        task_id: TaskId,
        bodies: Sequence[Body],
        *,
        parent: EntryId | None,
        at_ms: int | Sequence[int] | None = None,
        unqueue: int | None = None,
        drop_draft: bool = False,
    ) -> tuple[Entry, ...]:
        """Append entries, each the child of the one before, and move the head to the last.

        `at_ms` is the time of all entries (default: now), or one time per entry. `unqueue` removes a message from the
        queue and `drop_draft` deletes the draft, both in the same transaction. Without bodies, the head stays.

        Raises:
            StoreError: `parent` does not exist, or the queued message was already sent or removed; nothing is changed.
        """
        bodies = tuple(bodies)
        now = self._now_ms() if at_ms is None else at_ms
        times = [now] * len(bodies) if isinstance(now, int) else list(now)

        def work(connection: sqlite3.Connection) -> tuple[Entry, ...]:
            last = _entry_count(connection, task_id)
            if bodies:
                _require_entry(parent, last)
            entries = []
            parent_id = parent
            for number, ((body, text), at) in enumerate(zip(map(_stored, bodies), times, strict=True), start=last + 1):
                connection.execute(
                    "INSERT INTO entries (task_id, id, parent_id, at_ms, version, body) VALUES (?, ?, ?, ?, ?, ?)",
                    (task_id, number, parent_id, at, PAYLOAD_VERSION, text),
                )
                entries.append(Entry(number, parent_id, at, body))
                parent_id = number
            if entries:
                connection.execute(
                    "UPDATE tasks SET head = ?, entries = ?, cost_usd = cost_usd + ?, updated_ms = ? WHERE id = ?",
                    (parent_id, parent_id, sum(_cost(body) for body in bodies), self._now_ms(), task_id),
                )
            if unqueue is not None:
                _change_queue(connection, "DELETE FROM queue WHERE task_id = ? AND id = ?", task_id, unqueue)
            if drop_draft:
                connection.execute("DELETE FROM drafts WHERE task_id = ?", (task_id,))
            return tuple(entries)

        appended = await self._database.write(work)
        self.search.grown(len(appended))
        return appended

    async def move_head(
        self,
        task_id: TaskId,
        to: EntryId | None,
        *,
        reason: Literal["rewind", "undo", "redo"] = "rewind",
        files_before: str = "",
        files_after: str = "",
    ) -> HeadMove:
        """Move the head to an entry, or before the first one (None). `files_before` and `files_after` are git trees."""

        def work(connection: sqlite3.Connection) -> HeadMove:
            _require_entry(to, _entry_count(connection, task_id))
            (head,) = connection.execute("SELECT head FROM tasks WHERE id = ?", (task_id,)).fetchone()
            (moves,) = connection.execute("SELECT count(*) FROM moves WHERE task_id = ?", (task_id,)).fetchone()
            now = self._now_ms()
            move = HeadMove(moves + 1, head, to, now, reason, files_before, files_after)
            connection.execute(
                f"INSERT INTO moves (task_id, {_MOVE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (task_id, move.id, head, to, now, reason, files_before, files_after),
            )
            connection.execute("UPDATE tasks SET head = ?, updated_ms = ? WHERE id = ?", (to, now, task_id))
            return move

        return await self._database.write(work)

    async def save_draft(self, task_id: TaskId, body: AssistantMessage) -> None:
        """Save the part of an answer that was streamed so far. Replaces the previous draft."""

        def work(connection: sqlite3.Connection) -> None:
            _entry_count(connection, task_id)
            connection.execute(
                "INSERT OR REPLACE INTO drafts VALUES (?, ?, ?)", (task_id, PAYLOAD_VERSION, encode(body))
            )

        await self._database.write(work)

    async def enqueue(self, task_id: TaskId, message: str) -> QueuedMessage:
        """Add a message to the end of the queue; its id is never used again."""
        text = well_formed(message)

        def work(connection: sqlite3.Connection) -> QueuedMessage:
            _entry_count(connection, task_id)
            cursor = connection.execute("INSERT INTO queue (task_id, words) VALUES (?, ?)", (task_id, text))
            assert cursor.lastrowid is not None
            return QueuedMessage(cursor.lastrowid, text)

        return await self._database.write(work)

    async def edit_queued(self, task_id: TaskId, queued_id: int, message: str) -> QueuedMessage:
        """Change a queued message; raises `StoreError` if it was already sent or removed."""
        text = well_formed(message)

        def work(connection: sqlite3.Connection) -> QueuedMessage:
            _change_queue(
                connection, "UPDATE queue SET words = ?3 WHERE task_id = ?1 AND id = ?2", task_id, queued_id, text
            )
            return QueuedMessage(queued_id, text)

        return await self._database.write(work)

    async def remove_queued(self, task_id: TaskId, queued_id: int) -> None:
        """Remove a message from the queue; raises `StoreError` if it was already sent or removed."""
        await self._database.write(
            lambda connection: _change_queue(
                connection, "DELETE FROM queue WHERE task_id = ? AND id = ?", task_id, queued_id
            )
        )

    async def put_blob(self, content: str | bytes) -> str:
        """Store a long text, compressed, and return its SHA-256 in hexadecimal. Equal contents are stored once."""

        def pack() -> tuple[str, bytes]:
            data = content if isinstance(content, bytes) else well_formed(content).encode()
            return hashlib.sha256(data).hexdigest(), zlib.compress(data, 3)

        name, compressed = await asyncio.to_thread(pack)
        await self._database.write(
            lambda connection: connection.execute(
                "INSERT OR IGNORE INTO blobs VALUES (?, ?)", (name, compressed)
            ).close()
        )
        return name

    async def get_blob(self, name: str) -> str:
        """Return a stored text by its hash; bytes that are not UTF-8 become U+FFFD.

        Raises:
            StoreError: there is no such text, or it is damaged.
        """

        def work(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT compressed FROM blobs WHERE hash = ?", (name,)).fetchone()
            return row[0] if row else None

        compressed = await self._database.run(work)
        if compressed is None:
            raise StoreError(
                f"The stored output {name[:12]} is not in this data folder. Run the command again to see it."
            )
        try:
            return await asyncio.to_thread(lambda: zlib.decompress(compressed).decode("utf-8", "replace"))
        except zlib.error as error:
            raise StoreError(f"The stored output {name[:12]} is damaged. Run the command again to see it.") from error

    async def get_value(self, key: str) -> JsonValue:
        """Return the value stored under a key, None if there is none."""

        def work(connection: sqlite3.Connection) -> JsonValue:
            row = connection.execute("SELECT json FROM key_values WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            value: JsonValue = json.loads(row[0])
            return value

        return await self._database.run(work)

    async def set_value(self, key: str, value: object) -> None:
        """Store a value under a key. Replaces the previous value."""
        text = json.dumps(value)
        await self._database.write(
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO key_values VALUES (?, ?)", (key, text)
            ).close()
        )

    async def _update(self, task_id: TaskId, assignment: str, value: str | float) -> None:
        def work(connection: sqlite3.Connection) -> None:
            if not connection.execute(f"UPDATE tasks SET {assignment} WHERE id = ?", (value, task_id)).rowcount:
                raise _no_task(task_id)

        await self._database.write(work)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _no_task(task_id: TaskId) -> TaskNotFound:
    return TaskNotFound(f"There is no task “{task_id}”. `roo-tui tasks` lists them.")


def _entry_count(connection: sqlite3.Connection, task_id: TaskId) -> int:
    """Return the number of entries of a task. It is also the newest entry's id, since none is ever removed."""
    row = connection.execute("SELECT entries FROM tasks WHERE id = ?", (task_id,)).fetchone()
    if row is None:
        raise _no_task(task_id)
    return int(row[0])


def _require_entry(entry_id: EntryId | None, newest: EntryId) -> None:
    if entry_id is not None and not 1 <= entry_id <= newest:
        raise StoreError(f"The task has no entry {entry_ref(entry_id)}; its newest is {entry_ref(newest)}.")


def _change_queue(connection: sqlite3.Connection, statement: str, task_id: TaskId, queued_id: int, *more: str) -> None:
    if not connection.execute(statement, (task_id, queued_id, *more)).rowcount:
        raise StoreError("This message is no longer in the queue: it was already sent or removed.")


def _stored(body: Body) -> tuple[Body, str]:
    """Return the body as it will be read back, and its JSON."""
    text = encode(body)
    return (decode(text) if "\ufffd" in text else body), text


def _cost(body: Body) -> float:
    match body:
        case AssistantMessage(cost_usd=cost) | CondenseFailed(cost_usd=cost):
            return cost or 0.0
        case Condense(figures=figures) | Truncation(figures=figures) | Mask(figures=figures):
            return figures.cost_usd or 0.0
        case _:
            return 0.0
