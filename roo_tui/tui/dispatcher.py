"""Show the engine's events on the chat screen. Only this class knows both events and widgets."""

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, assert_never

from textual.notifications import SeverityLevel

from roo_tui.domain import events as ev
from roo_tui.domain.blocks import ToolUse
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.views import AnswerRow, Row, ThinkingRow, ToolRow, block_key, call_key
from roo_tui.engine_api import EngineApi
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import counted
from roo_tui.tui.screens.chat.display import ChatDisplay

_TEXTS = (ev.BlockText, ev.ToolOutput, ev.CondenseText)
_LEVELS: dict[str, SeverityLevel] = {"info": "information", "warning": "warning", "error": "error"}


class Dispatcher:
    """Shows one engine's events on one chat screen, a batch at a time, so that a burst costs one redraw.

    It subscribes when it is created; `run` shows the events.
    """

    def __init__(self, engine: EngineApi, screen: ChatDisplay) -> None:
        self._engine = engine
        self._screen = screen
        self._events = engine.subscribe()
        self._task_id = ""
        self._streams: set[str] = set()
        self._live: set[str] = set()
        self._calls: dict[str, Row] = {}
        self._arriving: dict[str, tuple[str, int]] = {}
        self._rows: Sequence[Row] = ()
        self._summary_length = 0
        self._failure = ""

    async def run(self) -> None:
        """Show everything until the engine closes the stream."""
        try:
            while batch := await self._events.batch():
                if any(isinstance(event, ev.TaskOpened | ev.ViewChanged) for event in batch):
                    # Read before the screen is held still; what the batch adds is among these rows already.
                    self._rows = await self._engine.read.rows()
                with self._screen.app.batch_update():
                    for event in _merged(batch):
                        await self._show(event)
                    self._show_progress()
        finally:
            self._events.close()

    async def _show(self, event: ev.Event) -> None:
        if isinstance(event, ev.TaskOpened):
            self._task_id = event.task_id
        elif event.task_id and self._task_id and event.task_id != self._task_id:
            return
        screen = self._screen
        match event:
            case ev.TaskOpened():
                await self._show_task()
            case ev.EntriesAppended(entries=entries, block_ids=block_ids):
                self._add(entries, block_ids)
            case ev.ViewChanged():
                self._end_streams()
                self._set_rows(self._rows)
            case ev.TurnStarted():
                # The next turn answers what the last one failed with; its row stays.
                screen.notices.withdraw(self._failure)
                screen.show_work("turn", True)
            case ev.RequestStarted():
                screen.transcript.set_status(None)
            case ev.BlockStarted():
                self._open_block(event)
            case ev.BlockText(block_id=block_id, text=text):
                self._extend_block(block_id, text)
            case ev.BlockEnded(block_id=block_id):
                self._close_stream(_live_key(block_id))
            case ev.RequestEnded():
                self._drop_live()
            case ev.RetryWaiting():
                self._show_retry(event)
            case ev.ToolStarted(call_id=call_id):
                self._change_call(call_id, "running")
            case ev.ToolOutput(call_id=call_id, text=text):
                screen.transcript.append_output(call_key(call_id), text)
            case ev.ToolEnded():
                pass  # the entry with the result replaces the row
            case ev.QuestionAsked(question=question):
                if isinstance(question.body, ev.Approval):
                    self._change_call(question.body.call_id, "waiting")
                await screen.questions.ask(question)
            case ev.QuestionClosed(question_id=question_id):
                await screen.questions.close_question(question_id)
            case ev.CondensePending():
                screen.show_hint(strings.CONDENSE_PENDING)
            case ev.CondenseStarted():
                self._summary_length = 0
                screen.show_work("condense", True)
                screen.show_empty(False)
                screen.transcript.set_status(f"{strings.CONDENSING}  {strings.ESC_CANCELS}")
            case ev.CondenseText(text=text):
                self._summary_length += len(text)
                self._arriving[""] = (strings.CONDENSING, self._summary_length)
            case ev.CondenseEnded():
                self._end_condense(event)
            case ev.ContextChanged(use=use):
                screen.show_context(use)
            case ev.HeaderChanged(header=header):
                screen.show_header(header)
            case ev.QueueChanged(items=items):
                await screen.show_queue(items)
            case ev.PromptRestored(words=restored):
                screen.restore_prompt(restored)
            case ev.Notice(level=level, text=text):
                screen.tell(text, _LEVELS[level])
            case ev.TurnEnded():
                self._end_turn(event)
            case _:
                assert_never(event)

    async def _show_task(self) -> None:
        """Show the open task from the beginning."""
        read, screen = self._engine.read, self._screen
        self._streams.clear()
        self._live.clear()
        self._arriving.clear()
        self._set_rows(self._rows)
        screen.transcript.set_status(None)
        screen.show_work("condense", False)
        screen.show_header(read.header())
        screen.show_context(read.context_use())
        screen.show_work("turn", False)
        await screen.show_queue(read.queue())
        await screen.questions.show(read.questions())
        # Showing a conversation does not wait for its tokens to be counted, nor for the model's SDK.
        screen.call_after_refresh(screen.warm_up, self._engine)

    # Rows

    def _set_rows(self, rows: Sequence[Row]) -> None:
        self._remember_calls(rows, anew=True)
        self._screen.show_empty(not rows, strings.DEMO_TASK if self._engine.read.header().demo else "")
        self._screen.transcript.set_rows(rows)

    def _add(self, entries: Sequence[Entry], block_ids: Sequence[str]) -> None:
        rows = self._engine.read.rows_of(entries)
        for entry in entries:
            if isinstance(entry.body, AssistantMessage):
                self._end_streams()
                self._join(entry.id, entry.body, block_ids, {row.key for row in rows})
                self._drop_live()
        if rows:
            self._screen.show_empty(False)
            self._end_streams()
            self._remember_calls(rows)
            self._screen.transcript.upsert(rows)

    def _join(
        self, entry_id: EntryId, answer: AssistantMessage, block_ids: Sequence[str], keys: Container[str]
    ) -> None:
        """Turn the rows of a stream into those of the stored answer; their drawing stays."""
        blocks = (*answer.blocks, *answer.unsent)
        for index, (block_id, block) in enumerate(zip(block_ids, blocks, strict=False)):
            called = isinstance(block, ToolUse) and block.id
            live, key = _live_key(block_id), call_key(called) if called else block_key(entry_id, index)
            if live in self._live and key in keys and self._screen.transcript.rename(live, key):
                self._live.discard(live)

    def _remember_calls(self, rows: Sequence[Row], *, anew: bool = False) -> None:
        """Remember the rows of unfinished calls: their state changes before their result arrives."""
        if anew:
            self._calls.clear()
        for row in rows:
            if isinstance(row.body, ToolRow):
                if row.body.state in ("waiting", "running", "streaming"):
                    self._calls[row.key] = row
                else:
                    self._calls.pop(row.key, None)

    def _change_call(self, call_id: str, state: Literal["waiting", "running"]) -> None:
        row = self._calls.get(call_key(call_id))
        if row is not None and isinstance(row.body, ToolRow) and row.body.state != state:
            changed = replace(row, body=replace(row.body, state=state))
            self._calls[row.key] = changed
            self._screen.transcript.upsert((changed,))

    # What streams

    def _open_block(self, event: ev.BlockStarted) -> None:
        key, transcript = _live_key(event.block_id), self._screen.transcript
        self._screen.show_empty(False)
        match event.type:
            case "text" | "thinking":
                self._end_streams()
                body = AnswerRow("", open=True) if event.type == "text" else ThinkingRow("", open=True)
                transcript.stream_open(key, body)
                self._streams.add(key)
            case "tool_use":
                self._end_streams()
                self._arriving[key] = (event.name, 0)
                transcript.upsert((_arriving_row(key, event.name, 0),))
            case "other":
                return
        self._live.add(key)

    def _extend_block(self, block_id: str, text: str) -> None:
        key = _live_key(block_id)
        if key in self._streams:
            self._screen.transcript.stream_text(key, text)
        elif key in self._arriving:
            name, length = self._arriving[key]
            self._arriving[key] = (name, length + len(text))

    def _close_stream(self, key: str) -> None:
        if key in self._streams:
            self._streams.discard(key)
            self._screen.transcript.stream_close(key)

    def _end_streams(self) -> None:
        for key in list(self._streams):
            self._close_stream(key)

    def _drop_live(self) -> None:
        """Remove the rows of a stream; what was kept of it arrives as entries."""
        self._end_streams()
        if self._live:
            self._screen.transcript.remove(tuple(self._live))
            self._live.clear()
        self._arriving.clear()

    def _show_progress(self) -> None:
        """Show the progress of streamed calls and of a summary, once per batch."""
        for key, (name, length) in self._arriving.items():
            if not key:
                text = strings.CONDENSING_MORE.format(count=counted(strings.CHARACTERS, length))
                self._screen.transcript.set_status(f"{text}  {strings.ESC_CANCELS}")
            elif length:
                self._screen.transcript.upsert((_arriving_row(key, name, length),))

    # What ends

    def _show_retry(self, event: ev.RetryWaiting) -> None:
        self._screen.show_empty(False)
        if event.what == "request":
            self._drop_live()
        if event.seconds <= 0:
            self._screen.transcript.set_status(strings.CONDENSING if event.what == "condense" else None)
            return
        # The reason comes last: where the line is too short for all of it, the wait and the way out still show.
        text = strings.RETRY.format(
            seconds=f"{event.seconds:.0f}",
            attempt=event.attempt,
            of=event.of,
            cancel=strings.ESC_CANCELS,
            reason=one_line(event.reason, 200),
        )
        self._screen.transcript.set_status(text)

    def _end_condense(self, event: ev.CondenseEnded) -> None:
        self._arriving.pop("", None)
        screen = self._screen
        screen.transcript.set_status(None)
        screen.show_work("condense", False)
        match event.outcome:
            case "condensed":
                # A notice that a condense is near no longer holds.
                screen.notices.let_go()
            case "refused":
                screen.tell(strings.CONDENSE_REFUSED.format(message=event.message), "warning")
            case "cancelled":
                screen.tell(strings.CONDENSE_CANCELLED)
            case "failed" | "truncated":
                if event.message:
                    screen.tell(event.message, "warning")

    def _end_turn(self, event: ev.TurnEnded) -> None:
        self._drop_live()
        screen = self._screen
        screen.show_work("turn", False)
        screen.transcript.set_status(None)
        if event.message and event.reason in ("failed", "context_full"):
            self._failure = event.message
            screen.tell(event.message, "error")


def _live_key(block_id: str) -> str:
    return f"live:{block_id}"


def _arriving_row(key: str, tool: str, length: int) -> Row:
    detail = counted(strings.CHARACTERS, length) if length else ""
    return Row(key, 0, ToolRow(call_id="", tool=tool, title="", state="streaming", detail=detail))


def _merged(batch: Sequence[ev.Event]) -> list[ev.Event]:
    """Return the batch with neighbouring texts of one stream joined."""
    merged: list[ev.Event] = []
    for _, neighbours in groupby(batch, key=_stream_of):
        events = list(neighbours)
        first = events[0]
        if len(events) > 1 and isinstance(first, _TEXTS):
            merged.append(replace(first, text="".join(event.text for event in events if isinstance(event, _TEXTS))))
        else:
            merged += events
    return merged


def _stream_of(event: ev.Event) -> tuple[type[ev.Event], str] | None:
    """Return the stream a text event belongs to, None for other events."""
    match event:
        case ev.BlockText(block_id=stream) | ev.ToolOutput(call_id=stream) | ev.CondenseText(condense_id=stream):
            return type(event), stream
        case _:
            return None
