"""A store in memory that keeps what the real one keeps, through the same codec."""

from collections.abc import Sequence
from typing import Any, Literal

from roo_tui.domain.entries import AssistantMessage, Body, Entry, HeadMove, QueuedMessage, TaskInfo
from roo_tui.domain.errors import StoreError, TaskNotFound
from roo_tui.domain.ids import EntryId, new_id
from roo_tui.store import StoredTask
from roo_tui.store.codec import decode, encode

_STEP_MS = 1_000


class MemoryStore:
    """The methods of `Store` that a task needs. Its clock goes on by a second with every commit."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, EntryId | None, int, str]] = []
        self.moves: list[HeadMove] = []
        self.head: EntryId | None = None
        self.now_ms = _STEP_MS
        self._info = TaskInfo(new_id(), "", "", 0, 0)
        self._queue: list[QueuedMessage] = []
        self._draft: str | None = None
        self._values: dict[str, Any] = {}
        self._blobs: dict[str, str] = {}

    async def close(self) -> None:
        """Nothing to let go of."""

    def lock(self, task_id: str) -> "MemoryStore":
        return self

    def release(self) -> None:
        """The lock was never held."""

    # Tasks.

    async def create_task(self, workspace: str, **values: Any) -> TaskInfo:
        return self._info

    async def find_task(self, task_id: str) -> TaskInfo:
        if task_id != self._info.id:
            raise TaskNotFound("There is one task only.")
        return self._info

    async def set_title(self, task_id: str, title: str) -> None:
        self._commit()

    async def spend(self, task_id: str, cost_usd: float) -> None:
        self._commit()

    async def load(self, task_id: str) -> StoredTask:
        entries = tuple(Entry(id, parent, at, decode(text)) for id, parent, at, text in self.rows)
        draft = decode(self._draft) if self._draft else None
        assert draft is None or isinstance(draft, AssistantMessage)
        return StoredTask(self._info, entries, tuple(self.moves), self.head, tuple(self._queue), draft)

    # What a task is made of.

    async def append(
        self,
        task_id: str,
        bodies: Sequence[Body],
        *,
        parent: EntryId | None,
        at_ms: int | None = None,
        unqueue: int | None = None,
        drop_draft: bool = False,
    ) -> tuple[Entry, ...]:
        texts = [encode(body) for body in bodies]
        if parent is not None and not 1 <= parent <= len(self.rows):
            raise StoreError(f"There is no entry {parent}.")
        self._commit()
        entries = []
        for body, text in zip(bodies, texts, strict=True):
            number = len(self.rows) + 1
            self.rows.append((number, parent, self.now_ms, text))
            stored = decode(text) if "\ufffd" in text else body
            entries.append(Entry(number, parent, self.now_ms, stored))
            self.head = parent = number
        if unqueue is not None:
            self._queue = [item for item in self._queue if item.id != unqueue]
        if drop_draft:
            self._draft = None
        return tuple(entries)

    async def move_head(
        self,
        task_id: str,
        to: EntryId | None,
        *,
        reason: Literal["rewind", "undo", "redo"] = "rewind",
        files_before: str = "",
        files_after: str = "",
    ) -> HeadMove:
        self._commit()
        move = HeadMove(len(self.moves) + 1, self.head, to, self.now_ms, reason, files_before, files_after)
        self.moves.append(move)
        self.head = to
        return move

    async def save_draft(self, task_id: str, body: AssistantMessage) -> None:
        text = encode(body)
        self._commit()
        self._draft = text

    async def enqueue(self, task_id: str, words: str) -> QueuedMessage:
        self._commit()
        self._queue.append(QueuedMessage(self.now_ms, words))
        return self._queue[-1]

    async def put_blob(self, content: str) -> str:
        name = f"{hash(content):x}"
        self._blobs[name] = content
        return name

    async def get_blob(self, name: str) -> str:
        return self._blobs[name]

    async def get_value(self, key: str) -> Any:
        return self._values.get(key)

    async def set_value(self, key: str, value: Any) -> None:
        self._commit()
        self._values[key] = value

    def _commit(self) -> None:
        self.now_ms += _STEP_MS
