"""Build the input of a reduction of the open task: its values, and the services it may call."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from roo_tui.context import Digests, Fold, ReductionInput, ReductionServices, Summariser
from roo_tui.context.condense import outlines_of, prefix_hash
from roo_tui.context.window import limits
from roo_tui.domain.entries import Entry, UserMessage
from roo_tui.domain.errors import WorkspaceError
from roo_tui.domain.events import CondenseText, RetryWaiting
from roo_tui.domain.markers import Trigger
from roo_tui.domain.requests import ModelEvent, Request, ToolSpec
from roo_tui.engine.context_gauge import ContextGauge
from roo_tui.engine.environment import environment_details
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.llm.protocol import Model
from roo_tui.llm.retry import Restarted, with_retries
from roo_tui.outline import Outliner
from roo_tui.workspace.files import Workspace


@dataclass(frozen=True, slots=True)
class Sent:
    """The last answered request, the model that answered it, and when (seconds on the event loop's clock)."""

    request: Request
    model: str
    at_s: float


async def reduction_input_of(
    runtime: Runtime,
    task: OpenTask,
    gauge: ContextGauge,
    tools: tuple[ToolSpec, ...],
    trigger: Trigger,
    instructions: str = "",
    sent: Sent | None = None,
) -> ReductionInput:
    """Return the input of a reduction that starts now."""
    path, profile = task.log.path(), runtime.settings.active
    if sent is not None and sent.model != runtime.model.info.id:
        # Another model does not have this request in its cache.
        sent = None
    environment = ""
    if trigger in ("automatic", "forced"):
        environment = await asyncio.to_thread(environment_details, runtime, task, datetime.now())
    return ReductionInput(
        path=path,
        system=runtime.system,
        tools=tools,
        model=runtime.model.info,
        limits=gauge.limits(),
        context_tokens=gauge.tokens,
        ratio=await gauge.ratio_now(),
        trigger=trigger,
        instructions=instructions,
        environment=environment,
        read_files=read_files(path),
        todos=task.todos(),
        last_prefix=await asyncio.to_thread(prefix_hash, sent.request) if sent else "",
        idle_s=asyncio.get_running_loop().time() - sent.at_s if sent else None,
        thinking=sent.request.thinking if sent else profile.thinking,
        temperature=sent.request.temperature if sent else profile.temperature,
        summariser=_summariser(runtime),
        summary_tokens=runtime.learned.of(condense_model(runtime).info).summary_tokens,
    )


def reduction_services_of(runtime: Runtime, task: OpenTask, condense_id: str) -> ReductionServices:
    """Return what one reduction may call; its streamed text and its retries become events of `condense_id`."""

    def waiting(attempt: int, of: int, seconds: float, reason: str) -> None:
        """Announce a wait before a retry."""
        task.emit(RetryWaiting(task.id, "condense", attempt, of, seconds, reason))

    def on_text(text: str) -> None:
        task.emit(CondenseText(task.id, condense_id, text))

    return ReductionServices(
        ask=asker(condense_model(runtime), waiting),
        counter=runtime.counter,
        fold=fold_files(runtime.workspace, runtime.outliner),
        digests=_digests(runtime.workspace),
        on_text=on_text,
    )


def asker(
    model: Model, waiting: Callable[[int, int, float, str], None] = lambda *_: None
) -> Callable[[Request], AsyncIterator[ModelEvent]]:
    """Return a function that sends a request to a model, with retries; each attempt begins with `Started`."""

    async def ask(request: Request) -> AsyncIterator[ModelEvent]:
        """Yield the events of the answer, those of every attempt."""
        async with aclosing(with_retries(model, request, waiting)) as events:
            async for event in events:
                if not isinstance(event, Restarted):
                    yield event

    return ask


def condense_model(runtime: Runtime) -> Model:
    """Return the model that writes summaries: the condense profile's, else the conversation's own."""
    name = runtime.settings.context.condense_profile
    profile = runtime.settings.profiles.get(name) if name else None
    return runtime.model if profile is None else runtime.models.of(profile)


def _summariser(runtime: Runtime) -> Summariser | None:
    """Return the condense profile's model, None if the conversation's own model writes summaries."""
    name = runtime.settings.context.condense_profile
    profile = runtime.settings.profiles.get(name) if name else None
    if profile is None:
        return None
    info = runtime.models.of(profile).info
    window = limits(info, window=profile.window, max_output=profile.max_output).window
    return Summariser(info, window, runtime.calibration.ratio(info))


def _digests(workspace: Workspace) -> Digests:
    def read(paths: tuple[str, ...]) -> list[tuple[str, str]]:
        """Return the readable paths with their digests. Reads files."""
        found = ((path, _digest(workspace, path)) for path in paths)
        return [(path, digest) for path, digest in found if digest is not None]

    async def digests(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
        """Return what `read` does, off the event loop."""
        return await asyncio.to_thread(read, paths)

    return digests


def _digest(workspace: Workspace, path: str) -> str | None:
    """Return the hash of a file's bytes: "" if the file is gone, None if it cannot be read."""
    try:
        data, _ = workspace.read_bytes(path)
    except WorkspaceError as error:
        return "" if getattr(error, "reason", "") == "missing" else None
    return hashlib.sha256(data).hexdigest()


def read_files(path: tuple[Entry, ...]) -> tuple[str, ...]:
    """Return the paths of the files the agent has read, relative to the workspace, newest first, each once."""
    found: dict[str, None] = {}
    for entry in reversed(path):
        if isinstance(entry.body, UserMessage):
            for record in reversed(entry.body.calls):
                if record.facts.kind == "read" and record.facts.path:
                    found.setdefault(record.facts.path)
    return tuple(found)


def fold_files(workspace: Workspace, outliner: Outliner) -> Fold:
    """Return a function that outlines files by path, newest first; it leaves out unreadable and ignored files."""

    async def read(path: str) -> str:
        """Return the text of a file."""
        return (await asyncio.to_thread(workspace.read_text, Path(path))).text

    return outlines_of(read, outliner.outline, WorkspaceError)
