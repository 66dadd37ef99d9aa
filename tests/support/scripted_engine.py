"""An engine that does what a test tells it: no model, store or files, only commands recorded and events sent.

Two ways to tell it. A test of a screen sends events itself, while the app runs:

    engine.begin_turn(); engine.append(Row(...)); engine.end_turn()

A test of a headless run gives a script, which `submit` and its like play:

    ScriptedEngine([TurnStarted(TASK, "1"), question, TurnEnded(TASK, "1", "completed")])

After a `QuestionAsked` the script waits for the answer, at a `Wait()` for `cancel`; an error at its beginning is raised
by the command that would play it.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from roo_tui.domain import events as ev
from roo_tui.domain.entries import AssistantMessage, Body, Entry, QueuedMessage, StoredReduction, TaskInfo, UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.events import Event, Question
from roo_tui.domain.ids import EntryId
from roo_tui.domain.previews import CondensePreview, CondenseRequest
from roo_tui.domain.views import (
    ContextBreakdown,
    ContextUse,
    FoundEntry,
    Header,
    RewindPoint,
    RewindPreview,
    Row,
    RowBody,
)
from roo_tui.settings import Profile, Settings

TASK = "task1"
T0 = 1_790_000_000_000
"""The time at which everything in the tests happens."""
HEADER = Header(task_id=TASK, workspace="/srv/ada/app", profile="default", model="claude-sonnet-5-5", cost_usd=0.42)
USE = ContextUse(used=9_874, window=200_000, reserved=8_000, trigger_tokens=172_000)

AS_SET = CondenseRequest()
"""A condense as the settings say."""


@dataclass(frozen=True)
class Wait:
    """Wait here until the engine is cancelled."""


Step = Event | RooError | Wait


class ScriptedStream:
    """One subscription."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()

    def put(self, event: Event) -> None:
        """Add an event."""
        self._queue.put_nowait(event)

    async def batch(self) -> list[Event]:
        """All events there are, at least one; empty at the end."""
        found: list[Event] = []
        while not found or not self._queue.empty():
            event = await self._queue.get()
            if event is None:
                if found:
                    self.close()
                break
            found.append(event)
        return found

    def close(self) -> None:
        """End it."""
        self._queue.put_nowait(None)


@dataclass
class ScriptedReader:
    """What can be read: fields that a test sets.

    An entry is shown as what `rows_by_entry` says, else as the rows that bear its id.
    """

    all_rows: tuple[Row, ...] = ()
    rows_by_entry: dict[EntryId, tuple[Row, ...]] = field(default_factory=dict)
    the_header: Header = HEADER
    the_use: ContextUse = USE
    queued: tuple[QueuedMessage, ...] = ()
    open_questions: tuple[Question, ...] = ()
    all_tasks: list[TaskInfo] = field(default_factory=list)
    points: tuple[RewindPoint, ...] = ()
    previews: dict[EntryId, RewindPreview] = field(default_factory=dict)
    commands: tuple[tuple[str, str], ...] = (("review", "Review the last change"),)
    breakdown: ContextBreakdown = field(default_factory=ContextBreakdown)
    found: tuple[FoundEntry, ...] = ()
    all_pinned: tuple[EntryId, ...] = ()
    all_files: tuple[str, ...] = (
        "src/dates.py",
        "src/app.py",
        "tests/test_dates.py",
        "docs/my notes.md",
        "README.md",
    )

    async def rows(self) -> tuple[Row, ...]:
        return self.all_rows

    def rows_of(self, entries: Iterable[Entry]) -> tuple[Row, ...]:
        return tuple(
            row
            for entry in entries
            for row in self.rows_by_entry.get(entry.id)
            or tuple(each for each in self.all_rows if each.entry_id == entry.id)
        )

    def header(self) -> Header:
        return self.the_header

    def context_use(self) -> ContextUse:
        return self.the_use

    async def context_breakdown(self) -> ContextBreakdown:
        return self.breakdown

    def pinned(self) -> tuple[EntryId, ...]:
        return self.all_pinned

    async def find(self, query: str, limit: int = 50) -> tuple[FoundEntry, ...]:
        """Every prepared hit that holds the query."""
        return tuple(one for one in self.found if query in f"{one.title} {one.excerpt}")[:limit]

    def queue(self) -> tuple[QueuedMessage, ...]:
        return self.queued

    def questions(self) -> tuple[Question, ...]:
        return self.open_questions

    async def tasks(self) -> list[TaskInfo]:
        return self.all_tasks

    async def reductions(self) -> tuple[StoredReduction, ...]:
        return ()

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        return self.points

    async def rewind_preview(self, entry_id: EntryId) -> RewindPreview:
        return self.previews[entry_id]

    def custom_commands(self) -> list[tuple[str, str]]:
        return list(self.commands)

    async def files(self) -> list[str]:
        return list(self.all_files)

    async def export(self, view: str, form: str) -> str:
        return f"{view} {form}"


class ScriptedEngine:
    """`calls` holds every command as (name, arguments); `refuse[name]` is raised instead of doing it."""

    def __init__(self, script: Sequence[Step] = (), reader: ScriptedReader | None = None, latest: str = "") -> None:
        self.read = reader or ScriptedReader()
        self.settings = Settings()
        self.busy = False
        self.calls: list[tuple[object, ...]] = []
        self.refuse: dict[str, Exception] = {}
        self.preview = CondensePreview("native")
        self.comparisons: list[CondensePreview] = []
        self.may_compare = asyncio.Event()
        self.may_compare.set()
        self._script = list(script)
        self._latest = latest
        self._streams: list[ScriptedStream] = []
        self._next_entry = 1
        self._job: asyncio.Task[None] | None = None
        self._answered = asyncio.Event()
        self._cancelled = asyncio.Event()

    # What a test tells it

    def emit(self, *events: Event) -> None:
        """Send events to everybody who listens."""
        for stream in self._streams:
            for event in events:
                stream.put(event)

    def append(self, *rows: Row, body: Body | None = None, block_ids: tuple[str, ...] = ()) -> None:
        """Add one entry that is shown as these rows."""
        entry = Entry(self._next_entry, None, T0, body or UserMessage(()))
        self._next_entry += 1
        self.read.rows_by_entry[entry.id] = rows
        self.read.all_rows += rows
        self.emit(ev.EntriesAppended(TASK, (entry,), block_ids))

    def begin_turn(self) -> None:
        """A turn runs from now on."""
        self.busy = True
        self.emit(ev.TurnStarted(TASK, "turn1"), ev.RequestStarted(TASK, "turn1", "r1", 1))

    def end_turn(self, message: str = "") -> None:
        """The turn is over: completed, or failed with a message."""
        self.busy = False
        outcome, reason = ("failed", "failed") if message else ("finished", "completed")
        self.emit(ev.RequestEnded(TASK, "turn1", "r1", outcome), ev.TurnEnded(TASK, "turn1", reason, message))  # type: ignore[arg-type]

    def ask(self, question: Question) -> None:
        """Put a question."""
        self.read.open_questions += (question,)
        self.emit(ev.QuestionAsked(TASK, question))

    def set_header(self, **changes: object) -> None:
        """Change the header."""
        self.read.the_header = replace(self.read.the_header, **changes)  # type: ignore[arg-type]
        self.emit(ev.HeaderChanged(TASK, self.read.the_header))

    def set_use(self, **changes: int) -> None:
        """Change the figures of the context bar."""
        self.read.the_use = replace(self.read.the_use, **changes)  # type: ignore[arg-type]
        self.emit(ev.ContextChanged(TASK, self.read.the_use))

    # How the script is played

    def _called(self, name: str, *arguments: object) -> None:
        self.calls.append((name, *arguments))
        if name in self.refuse:
            raise self.refuse[name]

    def _play(self) -> None:
        if self._script and isinstance(self._script[0], RooError):
            raise self._script[0]
        if self._script:
            self._job = asyncio.create_task(self._played())

    async def _played(self) -> None:
        for step in self._script:
            if isinstance(step, Wait):
                await self._cancelled.wait()
                continue
            assert not isinstance(step, RooError)
            self.emit(step)
            if isinstance(step, ev.QuestionAsked):
                await self._answered.wait()
                self._answered.clear()

    async def idle(self) -> None:
        if self._job is not None:
            await self._job

    # The engine's commands

    async def start(self) -> None:
        self._called("start")

    async def measure(self) -> None:
        self._called("measure")

    async def warm_up(self) -> None:
        self._called("warm_up")

    async def close(self) -> None:
        self._called("close")
        for stream in self._streams:
            stream.close()

    def subscribe(self) -> ScriptedStream:
        self._streams.append(ScriptedStream())
        return self._streams[-1]

    async def new_task(self) -> str:
        self._called("new_task")
        self.emit(ev.TaskOpened(TASK))
        return TASK

    async def open_task(self, task_id: str) -> str:
        self._called("open_task", task_id)
        self.emit(ev.TaskOpened(TASK))
        return task_id

    async def latest_task(self) -> str | None:
        return self._latest or None

    async def import_file(self, path: Path, form: str = "auto") -> str:
        self._called("import_file", path.name, form)
        return "abc123"

    async def submit(self, message: str) -> None:
        self._called("submit", message)
        if self.busy:
            self._set_queue(*self.read.queued, QueuedMessage(len(self.read.queued) + 1, message))
        else:
            self._play()

    def _set_queue(self, *items: QueuedMessage) -> None:
        self.read.queued = items
        self.emit(ev.QueueChanged(TASK, items))

    async def edit_queued(self, item_id: int, message: str) -> None:
        self._called("edit_queued", item_id, message)
        self._set_queue(*(QueuedMessage(one.id, message) if one.id == item_id else one for one in self.read.queued))

    async def remove_queued(self, item_id: int) -> None:
        self._called("remove_queued", item_id)
        self._set_queue(*(one for one in self.read.queued if one.id != item_id))

    def answer(self, question_id: str, option_id: str, text: str = "") -> None:
        self._called("answer", question_id, option_id, text)
        self.read.open_questions = tuple(one for one in self.read.open_questions if one.id != question_id)
        self.emit(ev.QuestionClosed(TASK, question_id, option_id))
        self._answered.set()

    def cancel(self) -> bool:
        self._called("cancel")
        self._cancelled.set()
        return self.busy

    async def condense(self, request: CondenseRequest = AS_SET) -> None:
        strategy = (request.strategy, request.preset) if request.strategy else ()
        self._called("condense", request.instructions, *strategy)
        self._play()

    async def preview_condense(self, request: CondenseRequest = AS_SET) -> CondensePreview:
        self._called("preview_condense", request)
        return self.preview

    async def compare_strategies(self, source: str, *, ask_model: bool = False) -> list[CondensePreview]:
        """The prepared comparisons, once they may come."""
        self._called("compare_strategies", source)
        await self.may_compare.wait()
        return self.comparisons

    async def pin(self, entry_id: EntryId, *, on: bool = True) -> None:
        self._called("pin", entry_id, on)
        others = tuple(one for one in self.read.all_pinned if one != entry_id)
        self.read.all_pinned = (*others, entry_id) if on else others

    async def truncate(self) -> None:
        self._called("truncate")

    async def undo(self, marker_id: EntryId | None = None, *, overwrite: bool = False) -> None:
        self._called("undo", marker_id, *(["overwrite"] if overwrite else []))
        self._play()

    async def redo(self, marker_id: EntryId | None = None, *, overwrite: bool = False) -> None:
        self._called("redo", marker_id, *(["overwrite"] if overwrite else []))

    async def append_receipt(self, marker_id: EntryId) -> None:
        self._called("append_receipt", marker_id)

    async def rewind(
        self, entry_id: EntryId, *, conversation: bool = True, files: bool = False, overwrite: bool = False
    ) -> None:
        self._called("rewind", entry_id, conversation, files, overwrite)
        self._play()
        await self.idle()
        self.emit(ev.ViewChanged(TASK, "rewind"))
        for point in self.read.points:
            if point.entry_id == entry_id and conversation and point.words:
                self.emit(ev.PromptRestored(TASK, point.words))

    async def choose_profile(self, name: str) -> None:
        self._called("choose_profile", name)

    async def change_settings(self, changes: Mapping[str, object]) -> None:
        self._called("change_settings", dict(changes))
        profiles = dict(self.settings.profiles)
        for key, value in changes.items():
            head, _, rest = key.partition(".")
            name, _, setting = rest.partition(".")
            if head == "profiles" and value is None:
                profiles.pop(name, None)
            elif head == "profiles":
                profiles[name] = replace(profiles.get(name, Profile(name)), **{setting: value})  # type: ignore[arg-type]
        chosen = str(changes.get("profile", self.settings.profile))
        self.settings = replace(self.settings, profiles=profiles, profile=chosen)


def entry(entry_id: int, body: AssistantMessage | UserMessage) -> Entry:
    """Return an entry of the log with this body."""
    return Entry(entry_id, entry_id - 1 or None, T0, body)


def row(entry_id: int, body: RowBody) -> Row:
    """Return the row of an entry."""
    return Row(f"e{entry_id}", entry_id, body)
