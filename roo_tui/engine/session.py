"""The open task and all objects that work on it, created and closed together."""

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
    """One open task with its gauge, context, checkpoints, rewind, tool calls and transcript."""

    task: OpenTask
    gauge: ContextGauge
    context: ContextControl
    checkpointing: Checkpointing
    rewinding: Rewinder
    calls: ToolCalls
    transcript: TranscriptRows

    async def close(self) -> None:
        """Drop the background condense, wait for the checkpoint, and release the task."""
        await self.context.forget_background()
        await self.checkpointing.settle()
        self.task.close()


async def open_session(runtime: Runtime, task_id: str) -> Session:
    """Open a task, read-only if another process has it open, and complete what a crash interrupted.

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
    checkpointing = Checkpointing(runtime, task)
    rewinding = Rewinder(runtime, task, checkpointing)
    if not read_only:
        await _recover(task, stored.draft)
        await rewinding.recover()
    gauge = ContextGauge(runtime, task)
    context = ContextControl(runtime, task, gauge)
    return Session(
        task, gauge, context, checkpointing, rewinding, ToolCalls(runtime, task, gauge, checkpointing), TranscriptRows()
    )


async def _recover(task: OpenTask, draft: AssistantMessage | None) -> None:
    """Keep the answer that was streaming when the program ended, and give every open call a result."""
    if draft is not None:
        await task.record(draft, drop_draft=True)
    await close_open_calls(task)


async def close_open_calls(task: OpenTask) -> None:
    """Give every call without a result one that says so; no call is run again."""
    path = task.log.path()
    started = {entry.body.call_id for entry in path if isinstance(entry.body, CallStarted)}
    for call in open_calls(path):
        text = render("replies/was_running" if call.id in started else "replies/not_run").strip()
        record = CallRecord(call.id, call.name, synthetic=True)
        result = ToolResult(call.id, text, is_error=True)
        await task.record(UserMessage((result,), source="tools", calls=(record,)))
