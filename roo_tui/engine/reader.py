"""Everything a front end may read, as frozen values; what takes long is computed off the event loop."""

import asyncio
from collections.abc import Callable, Iterable

from roo_tui.context.history import found_entries, pinned
from roo_tui.domain.entries import CallRecord, Entry, QueuedMessage, StoredReduction, TaskInfo, UserMessage
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.events import Question
from roo_tui.domain.ids import EntryId
from roo_tui.domain.views import (
    ContextBreakdown,
    ContextUse,
    FoundEntry,
    Header,
    RewindPoint,
    RewindPreview,
    Row,
)
from roo_tui.engine.exchange import export_text
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.session import Session
from roo_tui.workspace.listing import all_files


class Reader:
    """The current state of the engine and its open task; `engine.read` is one."""

    def __init__(self, runtime: Runtime, session: Callable[[], Session | None]) -> None:
        self._runtime = runtime
        self._session = session

    @property
    def session(self) -> Session | None:
        """The open session, None if no task is open."""
        return self._session()

    async def rows(self) -> tuple[Row, ...]:
        """Return the whole transcript of the open task."""
        if self.session is None:
            return ()
        return await asyncio.to_thread(self.session.transcript.rows, self.session.task.log.path())

    def rows_of(self, entries: Iterable[Entry]) -> tuple[Row, ...]:
        """Return the rows of entries that were just appended."""
        if self.session is None:
            return ()
        return self.session.transcript.rows_of(entries, self.session.task.log.path())

    def header(self) -> Header:
        """Return the workspace, model, cost and todo progress to show."""
        return self._runtime.header(self.session.task if self.session else None)

    def context_use(self) -> ContextUse:
        """Return the figures of the context bar; all zero if no task is open."""
        return self.session.gauge.use() if self.session else ContextUse()

    async def context_breakdown(self) -> ContextBreakdown:
        """Return what fills the context window of the next request."""
        if self.session is None:
            return ContextBreakdown()
        return await self.session.gauge.breakdown()

    def pinned(self) -> tuple[EntryId, ...]:
        """Return the pinned entries of the open task, in the order of the path."""
        return pinned(self.session.task.log.path()) if self.session else ()

    def queue(self) -> tuple[QueuedMessage, ...]:
        """Return the messages that wait for the running turn, oldest first."""
        return tuple(self.session.task.queue) if self.session else ()

    def questions(self) -> tuple[Question, ...]:
        """Return the open questions, oldest first."""
        return self._runtime.questions.pending()

    async def tasks(self) -> list[TaskInfo]:
        """Return the tasks that have entries, newest first."""
        return [task for task in await self._runtime.store.tasks() if task.entries]

    async def reductions(self) -> tuple[StoredReduction, ...]:
        """Return every reduction of every task, including failed ones."""
        return await self._runtime.store.reductions()

    async def output(self, call_id: str) -> str:
        """Return the whole output of a call whose result shows only part of it.

        Raises:
            CommandRefused: no further output of this call is stored.
        """
        record = self._record(call_id)
        if record is None or not record.output_blob:
            raise CommandRefused("No further output of this call is stored.")
        return await self._runtime.store.get_blob(record.output_blob)

    async def rewind_points(self) -> tuple[RewindPoint, ...]:
        """Return the rewind points of the open task, oldest first."""
        return self.session.rewinding.points() if self.session else ()

    async def rewind_preview(self, entry_id: EntryId) -> RewindPreview:
        """Return what a rewind to this point would do to the messages and files.

        Raises:
            CommandRefused: no task is open, or there is no such point.
        """
        if self.session is None:
            raise CommandRefused("No task is open.")
        return await self.session.rewinding.preview(entry_id)

    async def find(self, query: str, limit: int = 50) -> tuple[FoundEntry, ...]:
        """Return the entries of the open task, other branches included, that contain words of the query, best first."""
        if self.session is None:
            return ()
        log, task_id = self.session.task.log, self.session.task.id
        hits = await self._runtime.store.search.find(query, task_id=task_id, limit=limit)
        return await asyncio.to_thread(
            found_entries, log.entries, log.path(), [hit.entry_id for hit in hits], query, task_id
        )

    def custom_commands(self) -> list[tuple[str, str]]:
        """Return the names and descriptions of the project's slash commands."""
        return [(command.name, command.description) for command in self._runtime.commands.values()]

    async def files(self) -> list[str]:
        """Return the paths of the workspace's files for `@` completion, without ignored ones."""
        return await all_files(self._runtime.workspace)

    async def export(self, view: str, form: str) -> str:
        """Return the open task as text; see `exchange.export_text`."""
        if self.session is None:
            raise CommandRefused("No task is open.")
        path, info = self.session.task.log.path(), self._runtime.model.info
        return await asyncio.to_thread(export_text, path, view, form, info)

    def _record(self, call_id: str) -> CallRecord | None:
        if self.session is None:
            return None
        for entry in reversed(self.session.task.log.path()):
            if isinstance(entry.body, UserMessage):
                for record in entry.body.calls:
                    if record.call_id == call_id:
                        return record
        return None
