"""One turn: ask the model, run the calls it makes, and repeat until it makes none or finishes the task."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal

from roo_tui import paths
from roo_tui.context.window import Overflow, recognise, refused_content, stated_output_limit
from roo_tui.domain.blocks import Text, tool_uses
from roo_tui.domain.entries import AssistantMessage, Entry, Noted, UserMessage
from roo_tui.domain.errors import ContextFull, Interrupted, ModelError, RooError, StoreError
from roo_tui.domain.events import Notice, TurnEnded, TurnStarted
from roo_tui.domain.ids import new_id
from roo_tui.domain.requests import Request, ToolSpec
from roo_tui.engine.environment import environment_details
from roo_tui.engine.request import ModelCall, build_request
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.session import Session, close_open_calls
from roo_tui.engine.user_message import compose
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render
from roo_tui.tools.registry import specs

MAX_FORCED_REDUCTIONS = 3
MAX_HIDDEN_BLOCKS = 3
MAX_UNFINISHED = 5
UNFINISHED = frozenset({"model_context_window_exceeded", "pause_turn"})
"""The stop reasons of an answer that is to be continued in the same turn."""


class Turn:
    """Runs one turn of the open task. After a cancel, the log still gives a valid next request."""

    def __init__(self, runtime: Runtime, session: Session, turn_id: str) -> None:
        self._runtime = runtime
        self._task = session.task
        self._turn_id = turn_id
        self._context = session.context
        self._gauge = session.gauge
        self._calls = session.calls

    async def run(self) -> None:
        """Run the turn to its end.

        Raises:
            ModelError: the provider refused or failed for good.
            ContextFull: the request cannot be made to fit.
        """
        unfinished = 0
        while True:
            entry = await self._ask()
            answer = entry.body
            assert isinstance(answer, AssistantMessage)
            await self._remark_on(answer)
            calls = tool_uses(answer.blocks)
            finished = not calls or await self._calls.run_all(calls)
            await self._gauge.refresh()
            if not calls and answer.stop_reason in UNFINISHED:
                unfinished += 1
                await self._make_way(answer.stop_reason, unfinished)
            elif finished:
                return

    async def _make_way(self, stop_reason: str, times: int) -> None:
        """Prepare for the rest of an answer that the provider ended before the model did.

        Raises:
            ModelError: this happened too often in this turn.
            ContextFull: the window is full and nothing could be freed.
        """
        if times > MAX_UNFINISHED:
            raise ModelError(
                f"The provider ended the answer early {times} times. Send a message to go on.", code=stop_reason
            )
        if stop_reason == "model_context_window_exceeded":
            await self._context.force(Overflow(0, 0, believed=True), 0, specs())

    async def _ask(self) -> Entry:
        """Return the model's answer; reduce the context first where that is due."""
        tools = specs()
        forced = blocks_hidden = 0
        while True:
            await self._context.before_request(tools)
            request = await self._next_request(tools)
            raw = await asyncio.to_thread(self._runtime.counter.count_request, request.system, tools, request.messages)
            try:
                entry = await ModelCall(self._runtime, self._task, self._turn_id).run(request, forced + 1)
            except ModelError as error:
                if self._gauge.learn_output_limit(stated_output_limit(error)):
                    continue
                refused = refused_content(error)
                # Hiding pictures comes to an end when none is left; single blocks could be the whole conversation.
                blocks_hidden += refused is not None and refused.what == "block"
                if (
                    refused
                    and blocks_hidden <= MAX_HIDDEN_BLOCKS
                    and await self._context.hide_refused(refused, request)
                ):
                    continue
                overflow = recognise(error, self._gauge.tokens, self._gauge.limits().window)
                if overflow is None or not overflow.believed or forced == MAX_FORCED_REDUCTIONS:
                    raise
                forced += 1
                await self._context.force(overflow, raw, tools)
                continue
            assert isinstance(entry.body, AssistantMessage)
            self._gauge.learn(raw, entry.body)
            self._context.answered(request)
            return entry

    async def _next_request(self, tools: tuple[ToolSpec, ...]) -> Request:
        """Return the next request. If it ended with an answer, a user message is appended to the log first.

        Models refuse to go on with an answer of their own. The history ends with one after an interrupted answer, for
        example, or after the undo of a condense that hid the user's last message.
        """
        reserved = self._gauge.limits().reserved
        request = await asyncio.to_thread(build_request, self._task, self._runtime, tools, reserved)
        if request.messages and request.messages[-1].role == "user":
            return request
        await self._task.record(UserMessage((Text(render("replies/continue").strip()),), source="engine"))
        return await asyncio.to_thread(build_request, self._task, self._runtime, tools, reserved)

    async def _remark_on(self, answer: AssistantMessage) -> None:
        match answer.stop_reason:
            case "max_tokens":
                await self._task.record(
                    Noted(
                        "warning",
                        "The answer was cut at the output limit",
                        "Ask the model to continue, or raise max_output in the profile (F2).",
                    )
                )
            case "refusal":
                await self._task.record(
                    Noted("warning", "The model declined to answer", "Rephrase the message, or rewind (Ctrl+R).")
                )


log = logging.getLogger(__name__)

Reason = Literal["completed", "cancelled", "failed", "context_full"]


async def run_turns(
    runtime: Runtime, session: Session, message: str, acknowledge: Callable[[RooError | None], None]
) -> None:
    """Run a turn for this message, then one for each queued message, until a turn does not complete.

    `acknowledge` is called with None as soon as the first message is on disk, or with the reason why it is not; later
    calls have no effect.
    """
    task = session.task
    queued: int | None = None
    if not message.strip() and task.queue:
        message, queued = task.queue[0].words, task.queue[0].id
    while True:
        turn_id = new_id()
        task.emit(TurnStarted(task.id, turn_id))
        reason: Reason = "failed"
        problem = ""
        try:
            reason, problem = await _prepare(runtime, session, message, queued, acknowledge)
            if reason == "completed":
                reason, problem = await _run(runtime, session, turn_id)
        except asyncio.CancelledError:
            reason = "cancelled"
            acknowledge(Interrupted("Interrupted before the message was sent."))
            raise
        finally:
            task.emit(TurnEnded(task.id, turn_id, reason, problem))
        if reason != "completed" or not task.queue:
            return
        message, queued = task.queue[0].words, task.queue[0].id


async def _prepare(
    runtime: Runtime,
    session: Session,
    message: str,
    queued: int | None,
    acknowledge: Callable[[RooError | None], None],
) -> tuple[Reason, str]:
    """Add the user's message; return "completed", or "failed" with the reason, which is also acknowledged."""
    try:
        await _add_message(runtime, session, message, queued, acknowledge)
    except RooError as error:
        acknowledge(error)
        return "failed", str(error)
    except Exception:
        # The last guard of the user's message: whatever failed, it goes back to the prompt.
        log.exception("a message could not be added")
        problem = f"Unexpected error. Details are in {paths.log_file()}"
        acknowledge(RooError(problem))
        return "failed", problem
    return "completed", ""


async def _run(runtime: Runtime, session: Session, turn_id: str) -> tuple[Reason, str]:
    """Run one turn and return how it ended, with the error if there was one; an error also becomes a row."""
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
        sentence = f"Unexpected error. Details are in {paths.log_file()}"
        return "failed", await _note(session, "The turn stopped", sentence)


async def _note(session: Session, title: str, detail: str) -> str:
    """Add a row for an error, unless the store is what failed; return the detail."""
    try:
        await session.task.record(Noted("error", title, detail))
    except StoreError as error:
        log.warning("the row “%s” could not be stored: %s", title, error)
    return detail


async def _add_message(
    runtime: Runtime,
    session: Session,
    message: str,
    queued: int | None,
    acknowledge: Callable[[RooError | None], None],
) -> None:
    """Commit the user's message with its attachments; a blank one only continues the task."""
    task = session.task
    await runtime.read_project()
    # A result that could not be stored before (full disk) is still missing.
    await close_open_calls(task)
    await session.checkpointing.before_message()
    if message.strip():
        environment = await asyncio.to_thread(environment_details, runtime, task, datetime.now())
        composed = await asyncio.to_thread(compose, message, environment, runtime.commands, runtime.workspace)
        is_first = not any(isinstance(entry.body, UserMessage) for entry in task.log.path())
        try:
            await task.record(composed.message, unqueue=queued)
        except asyncio.CancelledError:
            # The commit is finished before a cancel goes on.
            acknowledge(None)
            raise
        acknowledge(None)
        for name in composed.unread:
            task.emit(Notice(task.id, "warning", f"@{name} could not be read and was not attached."))
        if is_first and not task.info.title:
            task.info = replace(task.info, title=one_line(message, 80))
            await runtime.store.set_title(task.id, task.info.title)
    await session.gauge.refresh()
    acknowledge(None)


def _facts(error: ModelError) -> str:
    facts = [str(error)]
    if error.status:
        facts.append(f"HTTP status: {error.status}")
    if error.code:
        facts.append(f"Error code: {error.code}")
    if error.body:
        facts.append(error.body)
    return "\n".join(facts)
