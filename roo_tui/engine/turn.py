"""One turn: ask the model, run the calls it makes, and again, until it answers without one or finishes the task."""

import asyncio

from roo_tui.context.window.overflow import recognise, stated_output_limit
from roo_tui.domain.blocks import Text, tool_uses
from roo_tui.domain.entries import AssistantMessage, Entry, Noted, UserMessage
from roo_tui.domain.errors import ModelError
from roo_tui.engine.request import ModelCall, build_request
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.session import Session
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
