"""One turn: ask the model, run the calls it makes, and again, until it answers without one or finishes the task."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal

from roo_tui import paths
from roo_tui.context.window import recognise, stated_output_limit
from roo_tui.domain.blocks import Text, tool_uses
from roo_tui.domain.entries import AssistantMessage, Entry, Noted, UserMessage
from roo_tui.domain.errors import ContextFull, ModelError, RooError
from roo_tui.domain.events import Notice, TurnEnded, TurnStarted
from roo_tui.domain.ids import new_id
from roo_tui.engine.environment import environment_details
from roo_tui.engine.request import ModelCall, build_request
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.session import Session, close_open_calls
from roo_tui.engine.user_message import compose
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render
from roo_tui.tools.registry import specs

MAX_FORCED_REDUCTIONS = 3


class Turn:
    """Runs one turn of the open task. Cancelling it leaves a log whose next request is valid."""

    def __init__(self, runtime: Runtime, session: Session, turn_id: str) -> None:
        self._runtime = runtime
        self._task = session.task
        self._turn_id = turn_id
        self._context = session.context
        self._gauge = session.gauge
        self._calls = session.calls

    async def run(self) -> None:
        """Return when the turn is complete.

        Raises:
            ModelError: the provider refused or failed for good.
            ContextFull: the request does not fit whatever is done.
        """
        while True:
            entry = await self._ask()
            answer = entry.body
            assert isinstance(answer, AssistantMessage)
            await self._remark_on(answer)
            calls = tool_uses(answer.blocks)
            finished = not calls or await self._calls.run_all(calls)
            await self._gauge.refresh()
            if finished:
                return

    async def _ask(self) -> Entry:
        """Return the model's answer, after the context was brought below its limits where that is due."""
        tools = specs()
        forced = 0
        while True:
            await self._context.before_request(tools)
            await self._end_with_user()
            limits = self._gauge.limits()
            request = await asyncio.to_thread(build_request, self._task, self._runtime, tools, limits.reserved)
            raw = await asyncio.to_thread(self._runtime.counter.count_request, request.system, tools, request.messages)
            try:
                entry = await ModelCall(self._runtime, self._task, self._turn_id).run(request, forced + 1)
            except ModelError as error:
                if self._gauge.learn_output_limit(stated_output_limit(error)):
                    continue
                overflow = recognise(error, self._gauge.tokens, limits.window)
                if overflow is None or not overflow.believed or forced == MAX_FORCED_REDUCTIONS:
                    raise
                forced += 1
                await self._context.force(overflow, tools)
                continue
            assert isinstance(entry.body, AssistantMessage)
            self._gauge.learn(raw, entry.body)
            self._context.answered(request)
            return entry

    async def _end_with_user(self) -> None:
        """A request ends with the user; after a retry or an interrupted answer nothing else may stand there."""
        if self._gauge.ends_with_assistant():
            await self._task.record(UserMessage((Text(render("replies/continue").strip()),), source="engine"))

    async def _remark_on(self, answer: AssistantMessage) -> None:
        match answer.stop_reason:
            case "max_tokens":
                await self._task.record(
                    Noted("warning", "The answer was cut at the output limit", "Ask it to go on, or raise max_output.")
                )
            case "refusal":
                await self._task.record(Noted("warning", "The model declined to answer", "Rephrase, or rewind."))


log = logging.getLogger(__name__)

Reason = Literal["completed", "cancelled", "failed", "context_full"]


async def run_turns(
    runtime: Runtime, session: Session, words: str, acknowledge: Callable[[RooError | None], None]
) -> None:
    """Run the turn for these words, then one for each queued message; after a turn that did not complete they wait.

    `acknowledge` is called once the first words are on disk, or with the error if they cannot be stored.
    """
    task = session.task
    queued: int | None = None
    if not words.strip() and task.queue:
        words, queued = task.queue[0].words, task.queue[0].id
    while True:
        turn_id = new_id()
        task.emit(TurnStarted(task.id, turn_id))
        reason: Reason = "cancelled"
        message = ""
        try:
            await _add_words(runtime, session, words, queued)
            acknowledge(None)
            reason, message = await _run(runtime, session, turn_id)
        except RooError as error:
            acknowledge(error)
            reason, message = "failed", str(error)
        finally:
            task.emit(TurnEnded(task.id, turn_id, reason, message))
        if reason != "completed" or not task.queue:
            return
        words, queued = task.queue[0].words, task.queue[0].id


async def _run(runtime: Runtime, session: Session, turn_id: str) -> tuple[Reason, str]:
    """Run one turn; what went wrong becomes a row of the transcript."""
    try:
        await Turn(runtime, session, turn_id).run()
        await session.context.run_pending(specs())
        return "completed", ""
    except ContextFull as error:
        return "context_full", await _note(session, "The context window is full", str(error))
    except ModelError as error:
        await _note(session, "The request failed", _facts(error))
        return "failed", str(error)
    except RooError as error:
        return "failed", await _note(session, "The turn stopped", str(error))
    except Exception:
        log.exception("a turn failed")
        sentence = f"Something went wrong that should not have; the log has it: {paths.log_file()}"
        return "failed", await _note(session, "The turn stopped", sentence)


async def _note(session: Session, title: str, detail: str) -> str:
    await session.task.record(Noted("error", title, detail))
    return detail


async def _add_words(runtime: Runtime, session: Session, words: str, queued: int | None) -> None:
    """Commit what the person typed, with what belongs to it; empty words continue where the task stands."""
    task = session.task
    await runtime.read_project()
    # A result that could not be stored (the disk was full) is missing still.
    await close_open_calls(task)
    await session.snapshots.before_message()
    if words.strip():
        environment = await asyncio.to_thread(environment_details, runtime, task, datetime.now())
        composed = await asyncio.to_thread(compose, words, environment, runtime.commands, runtime.workspace)
        is_first = not any(isinstance(entry.body, UserMessage) for entry in task.log.path())
        await task.record(composed.message, unqueue=queued)
        for name in composed.unread:
            task.emit(Notice(task.id, "warning", f"@{name} could not be read; it was not attached."))
        if is_first and not task.info.title:
            task.info = replace(task.info, title=one_line(words, 80))
            await runtime.store.set_title(task.id, task.info.title)
    await session.gauge.refresh()


def _facts(error: ModelError) -> str:
    facts = [str(error)]
    if error.status:
        facts.append(f"HTTP status: {error.status}")
    if error.code:
        facts.append(f"Error code: {error.code}")
    if error.body:
        facts.append(error.body)
    return "\n".join(facts)
