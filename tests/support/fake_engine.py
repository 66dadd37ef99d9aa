"""An engine that does what a test tells it: records commands, emits events, holds rows. No model, store or files."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from roo_tui.domain import events as ev
from roo_tui.domain.entries import Entry, QueuedMessage, TaskInfo, UserMessage
from roo_tui.domain.events import Event, Question
from roo_tui.domain.ids import EntryId
from roo_tui.domain.views import (
    Comparison,
    ContextBreakdown,
    ContextUse,
    Forecast,
    FoundEntry,
    Header,
    RewindPoint,
    RewindPreview,
    Row,
)
from roo_tui.settings import Profile, Settings

TASK = "task1"
T0 = 1_790_000_000_000
"""The time at which everything in the tests happens."""


class FakeStream:
    """One subscription."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Event | None] = asyncio.Queue()

    async def batch(self) -> list[Event]:
        """All events there are, at least one; empty at the end."""
        first = await self.queue.get()
        found = [] if first is None else [first]
        while first is not None and not self.queue.empty():
            event = self.queue.get_nowait()
            if event is None:
                self.queue.put_nowait(None)
                break
            found.append(event)
        return found

    def close(self) -> None:
        """End it."""
        self.queue.put_nowait(None)


class FakeReader:
    """What the screens read: attributes that a test sets."""

    def __init__(self) -> None:
        self.all_rows: tuple[Row, ...] = ()
        self.rows_by_entry: dict[EntryId, tuple[Row, ...]] = {}
        self.the_header = Header(
            task_id=TASK,
            title="",
            workspace="/srv/ada/app",
            profile="default",
            model="claude-sonnet-5-5",
            cost_usd=0.42,
        )
        self.the_use = ContextUse(used=9_874, window=200_000, reserved=8_000, trigger_tokens=172_000)
        self.queued: tuple[QueuedMessage, ...] = ()
        self.open_questions: tuple[Question, ...] = ()
        self.running = False
        self.all_tasks: list[TaskInfo] = []
        self.points: tuple[RewindPoint, ...] = ()
        self.previews: dict[EntryId, RewindPreview] = {}
        self.commands: list[tuple[str, str]] = [("review", "Review the last change")]
        self.breakdown = ContextBreakdown()
        self.found: tuple[FoundEntry, ...] = ()
        self.all_pinned: tuple[EntryId, ...] = ()
        self.all_forecasts: tuple[Forecast, ...] = ()
        self.all_files = ["src/dates.py", "src/app.py", "tests/test_dates.py", "docs/my notes.md", "README.md"]

    async def rows(self) -> tuple[Row, ...]:
        return self.all_rows

    def rows_of(self, entries: Sequence[Entry]) -> tuple[Row, ...]:
        return tuple(row for entry in entries for row in self.rows_by_entry.get(entry.id, ()))

    def header(self) -> Header:
        return self.the_header

    def context_use(self) -> ContextUse:
        return self.the_use

    async def context_breakdown(self) -> ContextBreakdown:
        return self.breakdown

    def pinned(self) -> tuple[EntryId, ...]:
        return self.all_pinned

    async def forecasts(self) -> tuple[Forecast, ...]:
        return self.all_forecasts

    async def find(self, query: str, limit: int = 50) -> tuple[FoundEntry, ...]:
        """Every prepared hit that holds the query."""
        return tuple(one for one in self.found if query in f"{one.title} {one.excerpt}")[:limit]

    def queue(self) -> tuple[QueuedMessage, ...]:
        return self.queued

    def questions(self) -> tuple[Question, ...]:
        return self.open_questions

    async def tasks(self) -> list[TaskInfo]:
        return self.all_tasks

    async def output(self, call_id: str) -> str:
        return f"whole output of {call_id}"

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        return self.points

    async def rewind_preview(self, entry_id: EntryId) -> RewindPreview:
        return self.previews[entry_id]

    def custom_commands(self) -> list[tuple[str, str]]:
        return self.commands

    async def files(self) -> list[str]:
        return self.all_files


class FakeEngine:
    """`calls` holds every command as (name, arguments); `refuse[name]` is raised instead of doing it."""

    def __init__(self) -> None:
        self.read = FakeReader()
        self.settings = Settings()
        self.busy = False
        self.calls: list[tuple[Any, ...]] = []
        self.refuse: dict[str, Exception] = {}
        self.comparisons: list[Comparison] = []
        self.may_compare = asyncio.Event()
        self.may_compare.set()
        self._streams: list[FakeStream] = []
        self._next_entry = 1

    def _called(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, *arguments))
        if name in self.refuse:
            raise self.refuse[name]

    def emit(self, *events: Event) -> None:
        """Send events to everybody who listens."""
        for stream in self._streams:
            for event in events:
                stream.queue.put_nowait(event)

    def append(self, *rows: Row, body: Any = None) -> None:
        """Add one entry that is shown as these rows."""
        entry = Entry(self._next_entry, None, T0, body or UserMessage(()))
        self._next_entry += 1
        self.read.rows_by_entry[entry.id] = rows
        self.read.all_rows += rows
        self.emit(ev.EntriesAppended(TASK, (entry,)))

    def begin_turn(self) -> None:
        """A turn runs from now on."""
        self.busy = self.read.running = True
        self.emit(ev.TurnStarted(TASK, "turn1"), ev.RequestStarted(TASK, "turn1", "r1", 1))

    def end_turn(self, reason: Any = "completed", message: str = "") -> None:
        """The turn is over."""
        self.busy = self.read.running = False
        self.emit(ev.RequestEnded(TASK, "turn1", "r1", "finished"), ev.TurnEnded(TASK, "turn1", reason, message))

    def ask(self, question: Question) -> None:
        """Put a question."""
        self.read.open_questions += (question,)
        self.emit(ev.QuestionAsked(TASK, question))

    def set_header(self, **changes: Any) -> None:
        """Change the header."""
        self.read.the_header = replace(self.read.the_header, **changes)
        self.emit(ev.HeaderChanged(TASK, self.read.the_header))

    def set_use(self, **changes: Any) -> None:
        """Change the figures of the context bar."""
        self.read.the_use = replace(self.read.the_use, **changes)
        self.emit(ev.ContextChanged(TASK, self.read.the_use))

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

    def subscribe(self) -> FakeStream:
        self._streams.append(FakeStream())
        return self._streams[-1]

    async def new_task(self) -> str:
        self._called("new_task")
        self.emit(ev.TaskOpened(TASK))
        return TASK

    async def open_task(self, task_id: str) -> str:
        self._called("open_task", task_id)
        self.emit(ev.TaskOpened(TASK))
        return TASK

    async def latest_task(self) -> str | None:
        return "latest1"

    async def submit(self, words: str) -> None:
        self._called("submit", words)
        if self.busy:
            self.read.queued += (QueuedMessage(len(self.read.queued) + 1, words),)
            self.emit(ev.QueueChanged(TASK, self.read.queued))

    async def edit_queued(self, item_id: int, words: str) -> None:
        self._called("edit_queued", item_id, words)
        self.read.queued = tuple(
            QueuedMessage(item.id, words) if item.id == item_id else item for item in self.read.queued
        )
        self.emit(ev.QueueChanged(TASK, self.read.queued))

    async def remove_queued(self, item_id: int) -> None:
        self._called("remove_queued", item_id)
        self.read.queued = tuple(item for item in self.read.queued if item.id != item_id)
        self.emit(ev.QueueChanged(TASK, self.read.queued))

    def answer(self, question_id: str, option_id: str, text: str = "") -> None:
        self._called("answer", question_id, option_id, text)
        self.read.open_questions = tuple(one for one in self.read.open_questions if one.id != question_id)
        self.emit(ev.QuestionClosed(TASK, question_id, option_id))

    def cancel(self) -> bool:
        self._called("cancel")
        return self.busy

    async def condense(self, instructions: str = "", *, strategy: str = "", preset: Any = "") -> None:
        self._called("condense", instructions, *((strategy, preset) if strategy else ()))

    async def compare_strategies(self, source: str) -> list[Comparison]:
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

    async def redo(self, marker_id: EntryId | None = None, *, overwrite: bool = False) -> None:
        self._called("redo", marker_id, *(["overwrite"] if overwrite else []))

    async def append_receipt(self, marker_id: EntryId) -> None:
        self._called("append_receipt", marker_id)

    async def rewind(
        self, entry_id: EntryId, *, conversation: bool = True, files: bool = False, overwrite: bool = False
    ) -> None:
        self._called("rewind", entry_id, conversation, files, overwrite)
        self.emit(ev.ViewChanged(TASK, "rewind"))
        point = next(point for point in self.read.points if point.entry_id == entry_id)
        if conversation and point.words:
            self.emit(ev.PromptRestored(TASK, point.words))

    async def choose_profile(self, name: str) -> None:
        self._called("choose_profile", name)

    async def change_settings(self, changes: Mapping[str, Any]) -> None:
        self._called("change_settings", dict(changes))
        profiles = dict(self.settings.profiles)
        for key, value in changes.items():
            head, _, rest = key.partition(".")
            name, _, setting = rest.partition(".")
            if head == "profiles" and value is None:
                profiles.pop(name, None)
            elif head == "profiles":
                profiles[name] = replace(profiles.get(name, Profile(name)), **{setting: value})
        chosen = changes.get("profile", self.settings.profile)
        self.settings = replace(self.settings, profiles=profiles, profile=chosen)
