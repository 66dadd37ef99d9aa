"""An engine that plays events instead of asking a model: what a front end hears, without everything behind it.

    engine = ScriptedEngine([TurnStarted("t", "1"), question, TurnEnded("t", "1", "completed")])

After a `QuestionAsked` it waits for the answer. `Wait()` in the script waits for `cancel`. An error at the script's
beginning is raised by the command that plays it.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roo_tui.domain.entries import AssistantMessage, Entry, TaskInfo, UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.events import Event, QuestionAsked, TaskOpened
from roo_tui.domain.views import ContextUse, FailureRow, Header, ReductionRow, Row, ToolRow


@dataclass(frozen=True)
class Wait:
    """Wait here until the engine is cancelled."""


Step = Event | RooError | Wait


class ScriptedStream:
    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()

    def put(self, event: Event | None) -> None:
        self._queue.put_nowait(event)

    async def batch(self) -> list[Event]:
        event = await self._queue.get()
        return [] if event is None else [event]

    def close(self) -> None:
        self.put(None)


@dataclass
class ScriptedReader:
    """`rows` are handed out for the entries with their ids."""

    shown: Header = field(default_factory=lambda: Header(price_known=False))
    rows: tuple[Row, ...] = ()
    stored: list[TaskInfo] = field(default_factory=list)
    exported: str = ""

    def rows_of(self, entries: Iterable[Entry]) -> tuple[Row, ...]:
        ids = {entry.id for entry in entries}
        return tuple(row for row in self.rows if row.entry_id in ids)

    def header(self) -> Header:
        return self.shown

    def context_use(self) -> ContextUse:
        return ContextUse(used=1234, window=200_000)

    async def tasks(self) -> list[TaskInfo]:
        return self.stored

    async def export(self, view: str, form: str) -> str:
        return f"{view} {form}"


class ScriptedEngine:
    def __init__(self, script: Sequence[Step] = (), reader: ScriptedReader | None = None, latest: str = "") -> None:
        self.read = reader or ScriptedReader()
        self.calls: list[tuple[object, ...]] = []
        self._script = list(script)
        self._latest = latest
        self._streams: list[ScriptedStream] = []
        self._job: asyncio.Task[None] | None = None
        self._answered = asyncio.Event()
        self._cancelled = asyncio.Event()

    def subscribe(self) -> ScriptedStream:
        self._streams.append(ScriptedStream())
        return self._streams[-1]

    async def start(self) -> None:
        self.calls.append(("start",))

    async def close(self) -> None:
        self.calls.append(("close",))

    async def new_task(self) -> str:
        return await self.open_task("new")

    async def measure(self) -> None:
        self.calls.append(("measure",))

    async def open_task(self, task_id: str) -> str:
        self.calls.append(("open", task_id))
        self._emit(TaskOpened(task_id))
        return task_id

    async def latest_task(self) -> str | None:
        return self._latest or None

    async def import_file(self, path: Path, form: str) -> str:
        self.calls.append(("import", path.name, form))
        return "abc123"

    async def submit(self, words: str) -> None:
        self.calls.append(("submit", words))
        self._play()

    async def condense(self, instructions: str = "", *, strategy: str = "", preset: str = "") -> None:
        self.calls.append(("condense", instructions))
        self._play()

    async def undo(self, marker_id: int | None = None) -> None:
        self.calls.append(("undo", marker_id))
        self._play()

    async def rewind(
        self, entry_id: int, *, conversation: bool = True, files: bool = False, overwrite: bool = False
    ) -> None:
        self.calls.append(("rewind", entry_id, conversation, files, overwrite))
        self._play()
        await self.idle()

    def answer(self, question_id: str, option_id: str, text: str = "") -> None:
        self.calls.append(("answer", question_id, option_id, text))
        self._answered.set()

    def cancel(self) -> bool:
        self.calls.append(("cancel",))
        self._cancelled.set()
        return True

    async def idle(self) -> None:
        if self._job is not None:
            await self._job

    def _play(self) -> None:
        if self._script and isinstance(self._script[0], RooError):
            raise self._script[0]
        self._job = asyncio.create_task(self._played())

    async def _played(self) -> None:
        for step in self._script:
            if isinstance(step, Wait):
                await self._cancelled.wait()
                continue
            assert not isinstance(step, RooError)
            self._emit(step)
            if isinstance(step, QuestionAsked):
                await self._answered.wait()
                self._answered.clear()

    def _emit(self, event: Event) -> None:
        for stream in self._streams:
            stream.put(event)


def entry(entry_id: int, body: AssistantMessage | UserMessage) -> Entry:
    """Return an entry of the log with this body."""
    return Entry(entry_id, entry_id - 1 or None, 1_700_000_000_000, body)


def row(entry_id: int, body: ToolRow | ReductionRow | FailureRow) -> Row:
    """Return the row of an entry."""
    return Row(f"e{entry_id}", entry_id, body)
