"""The engine's interface for front ends.

`roo_tui.engine.Engine` satisfies `EngineApi`. Naming it here keeps the engine's import off the start path, and lets
tests drive a front end with a scripted engine. Every command may raise `RooError` with a sentence for the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # only names: importing entries and events before the first frame would delay it
    from roo_tui.domain.entries import Entry, QueuedMessage, StoredReduction, TaskInfo
    from roo_tui.domain.events import Event, Question
    from roo_tui.domain.ids import EntryId, TaskId
    from roo_tui.domain.previews import CondensePreview, CondenseRequest
    from roo_tui.domain.views import (
        ContextBreakdown,
        ContextUse,
        FoundEntry,
        Header,
        RewindPoint,
        RewindPreview,
        Row,
    )

SettingsChanges = Mapping[str, object]
"""Values by dotted key; None removes a profile."""


class EventSource(Protocol):
    """One subscription to the engine's events."""

    async def batch(self) -> list[Event]:
        """Wait for at least one event and return all there are; an empty list means the end."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class ProfileView(Protocol):
    """What a front end shows of a profile."""

    @property
    def name(self) -> str:
        """The name it is chosen by."""
        ...

    @property
    def provider(self) -> str:
        """Who serves the model."""
        ...

    @property
    def model(self) -> str:
        """The model's id."""
        ...


class SettingsView(Protocol):
    """What a front end shows of the settings."""

    @property
    def profile(self) -> str:
        """The name of the active profile."""
        ...

    @property
    def profiles(self) -> Mapping[str, ProfileView]:
        """Every profile by its name."""
        ...

    @property
    def source(self) -> Mapping[str, str]:
        """Where the value of a dotted key comes from; a default is not listed."""
        ...

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about values that could not be used."""
        ...

    def value(self, key: str) -> object:
        """Return the value of a dotted key; raises KeyError where there is no such setting."""
        ...


class EngineReader(Protocol):
    """What can be read of the engine and its open task: frozen values."""

    async def rows(self) -> tuple[Row, ...]:
        """Return the whole transcript."""
        ...

    def rows_of(self, entries: Iterable[Entry]) -> tuple[Row, ...]:
        """Return the rows of entries that were just appended."""
        ...

    def header(self) -> Header:
        """Return what header and footer show of the task."""
        ...

    def context_use(self) -> ContextUse:
        """Return the figures of the context bar."""
        ...

    async def context_breakdown(self) -> ContextBreakdown:
        """Return what fills the context window of the next request."""
        ...

    def pinned(self) -> tuple[EntryId, ...]:
        """Return the pinned entries in their order."""
        ...

    async def find(self, query: str, limit: int = 50) -> tuple[FoundEntry, ...]:
        """Return the entries of the task that hold words of the query, best first."""
        ...

    def queue(self) -> tuple[QueuedMessage, ...]:
        """Return the messages that wait for the running turn."""
        ...

    def questions(self) -> tuple[Question, ...]:
        """Return the open questions, oldest first."""
        ...

    async def tasks(self) -> list[TaskInfo]:
        """Return the stored tasks, newest first."""
        ...

    async def reductions(self) -> tuple[StoredReduction, ...]:
        """Return every reduction of every task."""
        ...

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        """Return the points the task can be rewound to."""
        ...

    async def rewind_preview(self, entry_id: EntryId) -> RewindPreview:
        """Return what a rewind to a point would do."""
        ...

    def custom_commands(self) -> list[tuple[str, str]]:
        """Return (name, description) of the project's own commands."""
        ...

    async def files(self) -> list[str]:
        """Return the workspace's files, ignored ones left out."""
        ...

    async def export(self, view: str, form: str) -> str:
        """Return the task as text."""
        ...


class EngineApi(Protocol):
    """The engine's commands.

    Each returns once what it starts is acknowledged, not when it is done; `idle` waits for that.
    """

    @property
    def read(self) -> EngineReader:
        """What can be read."""
        ...

    @property
    def settings(self) -> SettingsView:
        """The settings in force."""
        ...

    async def start(self) -> None:
        """Load what a task needs; await it before any other command."""
        ...

    async def measure(self) -> None:
        """Count the tokens of the open task and announce them."""
        ...

    async def warm_up(self) -> None:
        """Load the model's SDK, so that the first request is not late."""
        ...

    async def close(self) -> None:
        """Stop what runs, store what is known, and let go of the task."""
        ...

    def subscribe(self) -> EventSource:
        """Return a source of every event from now on."""
        ...

    async def idle(self) -> None:
        """Wait until nothing runs."""
        ...

    async def new_task(self) -> TaskId:
        """Open a new, empty task and return its id."""
        ...

    async def open_task(self, task_id: TaskId) -> TaskId:
        """Open a stored task by its id or the unique beginning of one."""
        ...

    async def latest_task(self) -> TaskId | None:
        """Return the newest task of the workspace that holds anything."""
        ...

    async def import_file(self, path: Path, form: str = "auto") -> TaskId:
        """Make a task of a file and return its id; the task is not opened."""
        ...

    async def submit(self, message: str) -> None:
        """Send a message, or queue it while a turn runs; a blank one sends what is queued or tries again."""
        ...

    async def edit_queued(self, item_id: int, message: str) -> None:
        """Change a queued message."""
        ...

    async def remove_queued(self, item_id: int) -> None:
        """Drop a queued message."""
        ...

    def answer(self, question_id: str, option_id: str, text: str = "") -> None:
        """Answer a question; one that is no longer open is ignored."""
        ...

    def cancel(self) -> bool:
        """Interrupt the turn or condense that runs. Return whether there was any."""
        ...

    async def condense(self, request: CondenseRequest = ...) -> None:
        """Condense now, or at the next safe boundary of the running turn."""
        ...

    async def preview_condense(self, request: CondenseRequest = ...) -> CondensePreview:
        """Return what a condense would do now, without asking a model."""
        ...

    async def compare_strategies(self, source: str, *, ask_model: bool = False) -> Sequence[CondensePreview]:
        """Return what each strategy would do to a file of messages or a stored task; changes nothing."""
        ...

    async def truncate(self) -> None:
        """Hide the oldest messages without a summary."""
        ...

    async def undo(self, marker_id: EntryId | None = None, *, overwrite: bool = False) -> None:
        """Undo a reduction, or (without an id) the newest reduction or rewind."""
        ...

    async def redo(self, marker_id: EntryId | None = None, *, overwrite: bool = False) -> None:
        """Redo what was undone last, or this reduction."""
        ...

    async def pin(self, entry_id: EntryId, *, on: bool = True) -> None:
        """Keep an entry's text word for word through every condense, or stop doing so."""
        ...

    async def append_receipt(self, marker_id: EntryId) -> None:
        """Add a condense's receipt to its summary."""
        ...

    async def rewind(
        self, entry_id: EntryId, *, conversation: bool = True, files: bool = False, overwrite: bool = False
    ) -> None:
        """Rewind the conversation, the files, or both to a rewind point."""
        ...

    async def choose_profile(self, name: str) -> None:
        """Use another profile from the next request on."""
        ...

    async def change_settings(self, changes: SettingsChanges) -> None:
        """Save settings and use them from the next request on."""
        ...
