"""Run one prompt to its end, and answer the engine's questions by policy."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine, Iterator

from roo_tui.domain.errors import CommandRefused, RooError, TaskLocked
from roo_tui.domain.events import Approval, Choice, Event, Question, QuestionAsked
from roo_tui.engine_api import EngineApi, EventSource
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.headless.output import Output
from roo_tui.headless.run_result import RunResult
from roo_tui.prompt_files import render


async def run_prompt(
    engine: EngineApi,
    prompt: str,
    output: Output,
    *,
    auto_approve: bool = False,
    task_id: str = "",
    latest: bool = False,
) -> ExitCode:
    """Send a prompt to a new task (or to `task_id`, or with `latest` to the workspace's newest) and wait for its turn.

    Questions are answered by policy. SIGINT and SIGTERM cancel the turn; what was done until then is stored. Expected
    errors end the run with their exit code and message.
    """
    record = RunResult()
    stream = engine.subscribe()
    cost_before = 0.0

    def hear(event: Event) -> None:
        """Record and print an event, and answer a question."""
        record.add(event)
        output.event(event)
        if isinstance(event, QuestionAsked):
            engine.answer(event.question.id, *answer_to(event.question, auto_approve=auto_approve))

    async def work() -> None:
        """Open the task, send the prompt, and wait for the end of the turn."""
        nonlocal cost_before
        await engine.start()
        record.task_id = await _open(engine, task_id, latest)
        cost_before = engine.read.header().cost_usd
        await engine.submit(prompt)
        await engine.idle()

    try:
        with cancelled_by_signals(engine):
            await listening(stream, hear, work(), engine)
    except RooError as error:
        record.fail(error)
    finally:
        if record.task_id:
            header = engine.read.header()
            record.cost_usd = round(header.cost_usd - cost_before, 6) if header.price_known else None
        await engine.close()
    output.end(record)
    return record.code


async def _open(engine: EngineApi, task_id: str, latest: bool) -> str:
    if latest and not task_id:
        task_id = await engine.latest_task() or ""
        if not task_id:
            raise CommandRefused("This workspace has no task to continue. Omit --continue to start one.")
    opened = await engine.open_task(task_id) if task_id else await engine.new_task()
    require_writable(engine)
    return opened


def require_writable(engine: EngineApi) -> None:
    """Check that this process may change the open task.

    Raises:
        TaskLocked: another process has it open.
    """
    if reason := engine.read.header().read_only:
        raise TaskLocked(reason)


async def listening(
    stream: EventSource, hear: Callable[[Event], None], work: Coroutine[object, object, None], engine: EngineApi
) -> None:
    """Do the work while `hear` gets every event up to the end of the work.

    If `hear` fails, for example because a pipe was closed, the engine is cancelled and the error is raised.
    """

    async def consume() -> None:
        """Pass every event to `hear` until the stream ends."""
        while events := await stream.batch():
            for event in events:
                hear(event)

    consumer, worker = asyncio.create_task(consume()), asyncio.create_task(work)
    try:
        await asyncio.wait({consumer, worker}, return_when=asyncio.FIRST_COMPLETED)
        if not worker.done():
            engine.cancel()
        await worker
    finally:
        worker.cancel()
        stream.close()
        await consumer


@contextlib.contextmanager
def cancelled_by_signals(engine: EngineApi) -> Iterator[None]:
    """Let SIGINT and SIGTERM cancel the running job; a second signal cancels this asyncio task at once."""
    loop, current = asyncio.get_running_loop(), asyncio.current_task()
    signalled = False

    def interrupt() -> None:
        """Handle one signal."""
        nonlocal signalled
        if signalled and current is not None:
            current.cancel()
        signalled = True
        engine.cancel()

    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def answer_to(question: Question, *, auto_approve: bool) -> tuple[str, str]:
    """Return the answer to a question by policy: the id of an option, and a text for the model.

    Approvals are given with `auto_approve` and denied without. The answer to a question that takes free text says that
    no user is there; any other question gets its last option, the most cautious one.
    """
    options = [option.id for option in question.options]
    match question.body:
        case Approval() if auto_approve:
            return "allow", ""
        case Approval():
            return "deny", render("headless/denied")
        case Choice(free_text=True):
            return "", render("headless/no_answer")
        case _:
            return (options[-1] if options else ""), ""
