"""The open task and everything that works on it, made together and closed together."""

from dataclasses import dataclass

from roo_tui.context.history import open_calls
from roo_tui.domain.blocks import ToolResult
from roo_tui.domain.entries import AssistantMessage, CallRecord, CallStarted, UserMessage
from roo_tui.domain.errors import TaskLocked
from roo_tui.engine.checkpointing import Checkpointing
from roo_tui.engine.context_control import ContextControl
from roo_tui.engine.context_gauge import ContextGauge
from roo_tui.engine.rewind import Rewinder
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.engine.tool_calls import ToolCalls
from roo_tui.engine.transcript_rows import TranscriptRows
from roo_tui.prompt_files import render


@dataclass(frozen=True, slots=True)
class Session:
    """One open task with its gauge, context, snapshots, rewind and transcript."""

    task: OpenTask
    gauge: ContextGauge
    context: ContextControl
    snapshots: Checkpointing
    rewinding: Rewinder
    calls: ToolCalls
    transcript: TranscriptRows

    async def close(self) -> None:
        await self.context.forget_background()
        await self.snapshots.settle()
        self.task.close()


async def open_session(runtime: Runtime, task_id: str) -> Session:
    """Open a task; read-only where another process has it. Finishes what a crash left half done.

    Raises:
        TaskNotFound: no task has this id.
    """
    read_only, lock = "", None
    try:
        lock = runtime.store.lock(task_id)
    except TaskLocked as error:
        read_only = str(error)
    stored = await runtime.store.load(task_id)
    task = OpenTask(stored, runtime.store, runtime.bus, lock, read_only)
    snapshots = Checkpointing(runtime, task)
    rewinding = Rewinder(runtime, task, snapshots)
    if not read_only:
        await _recover(task, stored.draft)
        await rewinding.recover()
    gauge = ContextGauge(runtime, task)
    context = ContextControl(runtime, task, gauge)
    return Session(
        task, gauge, context, snapshots, rewinding, ToolCalls(runtime, task, gauge, snapshots), TranscriptRows()
    )


async def _recover(task: OpenTask, draft: AssistantMessage | None) -> None:
    """Keep the answer that was streaming, and close every call."""
    if draft is not None:
        await task.record(draft, drop_draft=True)
    await close_open_calls(task)


async def close_open_calls(task: OpenTask) -> None:
    """Give every call that has no result one that says so, without running it again."""
    path = task.log.path()
    started = {entry.body.call_id for entry in path if isinstance(entry.body, CallStarted)}
    for call in open_calls(path):
        words = render("replies/was_running" if call.id in started else "replies/not_run").strip()
        record = CallRecord(call.id, call.name, synthetic=True)
        result = ToolResult(call.id, words, is_error=True)
        await task.record(UserMessage((result,), source="tools", calls=(record,)))
