"""When the context is reduced, and by what: joins the pure rules of `context` with the open task.

The policy, the ladder and the strategies are in `roo_tui.context`; here they get the task's values, and what they
answer is committed and told.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from roo_tui.context.condense import CondenseError, Services, Situation, condense
from roo_tui.context.ladder import Guards, reduce
from roo_tui.context.overflow import Overflow
from roo_tui.context.policy import decide
from roo_tui.context.situation import failed
from roo_tui.context.truncate import truncate
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CommandRefused, CondenseRefused, ContextFull
from roo_tui.domain.events import (
    CondenseEnded,
    CondensePending,
    CondenseStarted,
    CondenseText,
    RetryWaiting,
    ViewChanged,
)
from roo_tui.domain.ids import EntryId, new_id
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Toggle, Trigger, Truncation
from roo_tui.domain.requests import ModelEvent, Request, ToolSpec
from roo_tui.engine.context_gauge import ContextGauge
from roo_tui.engine.environment import environment_details
from roo_tui.engine.folding import fold_files, read_files
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.llm.retry import Restarted, with_retries


class ContextControl:
    """Every change to the context of one open task."""

    def __init__(self, runtime: Runtime, task: OpenTask, gauge: ContextGauge) -> None:
        self._runtime = runtime
        self._task = task
        self._gauge = gauge
        self._guards = Guards()
        self._pending: str | None = None

    def ask_for_condense(self, instructions: str) -> None:
        """Remember a condense asked for during a turn; it runs at the next safe boundary."""
        self._pending = instructions
        self._task.emit(CondensePending(self._task.id, instructions))

    async def run_pending(self, tools: tuple[ToolSpec, ...]) -> None:
        """Run a condense that was asked for meanwhile. No call may be open."""
        if self._pending is not None:
            instructions, self._pending = self._pending, None
            await self.condense(instructions, tools)

    async def before_request(self, tools: tuple[ToolSpec, ...]) -> None:
        """The automatic condense: bring the context below its limits before a request, retries included.

        Raises:
            ContextFull: the request cannot fit.
        """
        await self.run_pending(tools)
        await self._gauge.refresh()
        figures = self._gauge.limits()
        due = decide(self._gauge.tokens, figures)
        if due == "nothing":
            return
        await self._reduce("automatic", tools)

    async def force(self, overflow: Overflow, tools: tuple[ToolSpec, ...]) -> None:
        """The provider said the request is too long: reduce, whatever our own count says."""
        if overflow.window:
            self._gauge.learn_window(overflow.window)
        before = self._gauge.tokens
        await self._reduce("forced", tools)
        if self._gauge.tokens >= before:
            raise ContextFull(self._full_text())

    async def condense(self, instructions: str, tools: tuple[ToolSpec, ...]) -> None:
        """A condense the person asked for."""
        await self._gauge.refresh()
        await self._change("manual", instructions, tools)

    async def truncate(self) -> None:
        """Hide the oldest half because the person asked for it.

        Raises:
            CommandRefused: nothing can be hidden.
        """
        await self._gauge.refresh()
        marker = await asyncio.to_thread(
            truncate,
            self._task.log.path(),
            self._runtime.counter,
            ratio=self._gauge.ratio(),
            tokens_before=self._gauge.tokens,
        )
        if marker is None:
            raise CommandRefused("There is nothing that could be hidden yet.")
        await self._apply((marker,))

    async def toggle(self, toggle: Toggle) -> None:
        """Switch a marker off or on; automatic condensing then waits for new content."""
        await self._task.record(toggle)
        self._guards.wait_for_new_content(self._task.log.path())
        self._task.emit(ViewChanged(self._task.id, "toggle"))
        await self._gauge.refresh()

    async def _reduce(self, trigger: Trigger, tools: tuple[ToolSpec, ...]) -> None:
        await self._change(trigger, "", tools)
        if decide(self._gauge.tokens, self._gauge.limits()) == "over" and trigger == "automatic":
            raise ContextFull(self._full_text())

    def _full_text(self) -> str:
        figures = self._gauge.limits()
        return (
            f"The context window is full: {self._gauge.tokens:,} tokens, and at most {figures.allowed_tokens:,} of "
            f"{figures.window:,} may be used. Condense, rewind, or choose a model with a larger window."
        )

    async def _change(self, trigger: Trigger, instructions: str, tools: tuple[ToolSpec, ...]) -> None:
        """Run one reduction and commit what it came to, a failure or a cancel included."""
        task, options, condense_id = self._task, self._runtime.settings.context, new_id()
        situation = await self._situation(trigger, instructions, tools)
        services = self._services(condense_id)
        asks_model = trigger == "manual" or options.auto_condense
        if asks_model:
            task.emit(CondenseStarted(task.id, condense_id, trigger, self._gauge.tokens))
        end = _End("cancelled")
        try:
            if trigger == "manual":
                bodies: tuple[Body, ...] = (await condense(situation, services, options),)
            else:
                bodies = await reduce(situation, services, options, self._guards)
            end = await self._apply(bodies)
        except CondenseRefused as refusal:
            end = _End("refused", str(refusal))
        except CondenseError as failure:
            end = await self._apply((failure.body,))
        except asyncio.CancelledError:
            end = await self._apply((failed(situation, services, "Cancelled.", cancelled=True),))
            raise
        finally:
            if asks_model:
                task.emit(CondenseEnded(task.id, condense_id, end.outcome, end.message, end.entry_id))

    async def _apply(self, bodies: tuple[Body, ...]) -> "_End":
        """Commit the bodies of a reduction and say what they change."""
        if not bodies:
            return _End("refused")
        last = (await self._task.record(*bodies))[-1]
        match last.body:
            case Condense() | Truncation() | Mask():
                self._task.emit(ViewChanged(self._task.id, last.body.kind))
                end = _End("truncated" if isinstance(last.body, Truncation) else "condensed", "", last.id)
            case CondenseFailed(message=message, cancelled=cancelled):
                end = _End("cancelled" if cancelled else "failed", message, last.id)
            case _:
                end = _End("refused")
        await self._gauge.refresh()
        return end

    async def _situation(self, trigger: Trigger, instructions: str, tools: tuple[ToolSpec, ...]) -> Situation:
        environment = ""
        if trigger != "manual":
            environment = await asyncio.to_thread(environment_details, self._runtime, self._task, datetime.now())
        path = self._task.log.path()
        return Situation(
            path=path,
            system=self._runtime.system,
            tools=tools,
            model=self._runtime.model.info,
            limits=self._gauge.limits(),
            context_tokens=self._gauge.tokens,
            ratio=self._gauge.ratio(),
            trigger=trigger,
            instructions=instructions,
            environment=environment,
            read_files=read_files(path),
            todos=self._task.todos(),
        )

    def _services(self, condense_id: str) -> Services:
        task, runtime = self._task, self._runtime

        def waiting(attempt: int, of: int, seconds: float, reason: str) -> None:
            task.emit(RetryWaiting(task.id, "condense", attempt, of, seconds, reason))

        def on_text(text: str) -> None:
            task.emit(CondenseText(task.id, condense_id, text))

        async def ask(request: Request) -> AsyncIterator[ModelEvent]:
            async for event in with_retries(runtime.model, request, waiting):
                if not isinstance(event, Restarted):
                    yield event

        return Services(
            ask=ask, counter=runtime.counter, fold=fold_files(runtime.workspace, runtime.outliner), on_text=on_text
        )


@dataclass(frozen=True, slots=True)
class _End:
    """How a reduction ended, as `CondenseEnded` tells it."""

    outcome: Literal["condensed", "truncated", "failed", "cancelled", "refused"]
    message: str = ""
    entry_id: EntryId | None = None
