"""Commands on stored tasks: list, import, export, condense, rewind and undo."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TextIO

from roo_tui.domain.entries import Body, TaskInfo
from roo_tui.domain.errors import CondenseRefused
from roo_tui.domain.events import CondenseEnded, EntriesAppended, Event, PromptRestored
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.json_value import JsonValue
from roo_tui.domain.markers import Condense, CondenseFailed, Marker, Mask, PassMetrics, Truncation
from roo_tui.domain.previews import CondenseRequest
from roo_tui.engine_api import EngineApi
from roo_tui.headless.as_json import encode, fields_of
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.headless.run import cancelled_by_signals, listening, require_writable
from roo_tui.plain_text import clean, one_line, plural

_CONDENSE_CODES = {
    "condensed": ExitCode.OK,
    "truncated": ExitCode.OK,
    "failed": ExitCode.MODEL,
    "cancelled": ExitCode.CANCELLED,
    "refused": ExitCode.REFUSED,
    "invalid": ExitCode.SETTINGS,
}


async def list_tasks(engine: EngineApi, out: TextIO, *, as_json: bool) -> ExitCode:
    """Print every task, newest first."""
    async with started(engine):
        tasks = await engine.read.tasks()
    if as_json:
        print(encode(tasks), file=out)
    else:
        out.writelines(f"{line}\n" for line in map(_task_line, tasks))
    return ExitCode.OK


def _task_line(task: TaskInfo) -> str:
    changed = datetime.fromtimestamp(task.updated_ms / 1000).strftime("%Y-%m-%d %H:%M")
    return (
        f"{task.id}  {changed}  {task.entries:>6,} entries  ${task.cost_usd:.2f}  "
        f"{one_line(task.title, 60) or '(no title)'}  {one_line(task.workspace, 200)}"
    )


async def import_task(engine: EngineApi, path: Path, form: str, out: TextIO) -> ExitCode:
    """Create a task from a file; the last word printed is its id."""
    async with started(engine):
        task_id = await engine.import_file(path, form)
    print(f"Imported {one_line(path.name)} as task {task_id}", file=out)
    return ExitCode.OK


async def export_task(engine: EngineApi, task_id: str, view: str, form: str, out: TextIO) -> ExitCode:
    """Print a task, even one that is open in another process."""
    async with started(engine):
        await engine.open_task(task_id)
        text = await engine.read.export(view, form)
    out.write(text if text.endswith("\n") else text + "\n")
    return ExitCode.OK


async def condense_task(
    engine: EngineApi, task_id: str, out: TextIO, request: CondenseRequest, *, as_json: bool
) -> ExitCode:
    """Condense a task and print the result: strategy, passes, tokens, cost and what was hidden."""
    found: dict[EntryId, Body] = {}
    ended = CondenseEnded("", "", "failed", "The condense ended without a result. Details are in the log file.")

    def hear(event: Event) -> None:
        """Collect the appended entries and the end of the condense."""
        nonlocal ended
        if isinstance(event, EntriesAppended):
            found.update({entry.id: entry.body for entry in event.entries})
        elif isinstance(event, CondenseEnded):
            ended = event

    async def work() -> None:
        """Condense, and wait for the end."""
        await engine.condense(request)
        await engine.idle()

    async with opened(engine, task_id):
        try:
            with cancelled_by_signals(engine):
                await listening(engine.subscribe(), hear, work(), engine)
        except CondenseRefused as error:
            ended = CondenseEnded(task_id, "", "refused", str(error))
    report = _condense_report(task_id, ended, found)
    print(encode(report) if as_json else _condense_text(ended, found), file=out)
    if ended.outcome == "failed" and ended.entry_id is None:
        return ExitCode.FAILED  # not the model failed, but what came after it, for example the disk
    return _CONDENSE_CODES[ended.outcome]


async def preview_condense(
    engine: EngineApi, task_id: str, out: TextIO, request: CondenseRequest, *, as_json: bool
) -> ExitCode:
    """Print what a condense would do now, without asking a model or changing anything."""
    async with opened(engine, task_id, writable=False):
        found = await engine.preview_condense(request)
    if as_json:
        print(encode({"task_id": task_id, "outcome": "previewed", **fields_of(found)}), file=out)
        return ExitCode.OK
    about = "about " if found.model_calls else ""
    calls = plural(found.model_calls, "model call")
    change = f"{found.tokens_before:,} → {about}{found.tokens_after:,} tokens"
    cost = "price unknown" if found.cost_usd is None else f"{about}${found.cost_usd:.2f}"
    name = " ".join(part for part in (found.strategy, found.preset) if part)
    print(f"{name}: {change}, {calls}, {cost}, {found.hidden:,} hidden", file=out)
    out.writelines(f"  {line}\n" for line in (*map(_pass_line, found.passes), *map(clean, found.remarks)))
    return ExitCode.OK


def _pass_line(found: PassMetrics) -> str:
    line = f"{one_line(found.name)}: {found.tokens_before:,} → {found.tokens_after:,} tokens"
    return f"{line}  {clean(found.error)}" if found.error else line


def _condense_report(task_id: str, ended: CondenseEnded, found: dict[EntryId, Body]) -> dict[str, JsonValue]:
    report: dict[str, JsonValue] = {
        "task_id": task_id,
        "outcome": ended.outcome,
        "entry": None if ended.entry_id is None else entry_ref(ended.entry_id),
        "message": ended.message,
    }
    match found.get(ended.entry_id) if ended.entry_id is not None else None:
        case Condense(figures=figures, hides=hides) | Truncation(figures=figures, hides=hides):
            report |= fields_of(figures) | {"hidden": [entry_ref(entry_id) for entry_id in hides]}
        case Mask(figures=figures, items=items):
            report |= fields_of(figures) | {"hidden": sorted({entry_ref(item.entry_id) for item in items})}
        case CondenseFailed() as failed:
            names = ("trigger", "message", "status", "code", "body", "tokens_before", "tokens_after", "cost_usd")
            report |= {name: getattr(failed, name) for name in names}
    return report


def _condense_text(ended: CondenseEnded, found: dict[EntryId, Body]) -> str:
    body = found.get(ended.entry_id) if ended.entry_id is not None else None
    if not isinstance(body, Marker):
        return f"Condense {ended.outcome}. {clean(ended.message)}"
    figures = body.figures
    touched = f"{plural(len(set(body.touches)), 'entry', 'entries')} {'hidden' if body.hides else 'shortened'}"
    change = f"{body.title}  {figures.tokens_before:,} → {figures.tokens_after:,} tokens"
    cost = "" if figures.cost_usd is None else f"  ${figures.cost_usd:.2f}"
    return f"{change}{cost}  {figures.strategy}, {touched}"


async def rewind_task(engine: EngineApi, task_id: str, point: EntryId, out: TextIO, *, files: bool = False) -> ExitCode:
    """Rewind a task to an entry, with `files` its files too; print the message that was removed, if any."""
    restored: list[str] = []

    def hear(event: Event) -> None:
        """Collect the message that the rewind removed."""
        if isinstance(event, PromptRestored):
            restored.append(event.words)

    async with opened(engine, task_id):
        await listening(engine.subscribe(), hear, _discard(engine.rewind(point, files=files)), engine)
        use = engine.read.context_use()
    what = "conversation and files" if files else "conversation"
    print(f"Rewound the {what} to {entry_ref(point)}; the context holds {use.used:,} tokens.", file=out)
    for message in filter(None, restored):
        print(f"The removed message:\n{clean(message)}", file=out)
    return ExitCode.OK


async def undo_task(engine: EngineApi, task_id: str, out: TextIO) -> ExitCode:
    """Undo the newest condense, truncation or rewind of a task."""
    async with opened(engine, task_id):
        await engine.undo()
        use = engine.read.context_use()
    print(f"Undone; the context holds {use.used:,} tokens.", file=out)
    return ExitCode.OK


async def _discard(work: Awaitable[object]) -> None:
    await work


@asynccontextmanager
async def started(engine: EngineApi) -> AsyncIterator[None]:
    """Start the engine, and close it at the end."""
    try:
        await engine.start()
        yield
    finally:
        await engine.close()


@asynccontextmanager
async def opened(engine: EngineApi, task_id: str, *, writable: bool = True) -> AsyncIterator[None]:
    """Start the engine with a task open, and close it at the end.

    Raises:
        TaskLocked: the task must be `writable`, but another process has it open.
    """
    async with started(engine):
        await engine.open_task(task_id)
        if writable:
            require_writable(engine)
        await engine.measure()
        yield
