"""When the context is reduced, and by what: joins the pure rules of `context` with the open task.

The policy, the ladder and the strategies are in `roo_tui.context`; here they get the task's values, and what they
answer is committed and told.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from roo_tui.context.breakdown import breakdown
from roo_tui.context.condense import CondenseError, Services, Situation, condense
from roo_tui.context.effective import effective_history
from roo_tui.context.ladder import Guards, reduce
from roo_tui.context.overflow import Overflow
from roo_tui.context.policy import Limits, decide, limits, notice_at
from roo_tui.context.situation import failed
from roo_tui.context.tokens import context_tokens
from roo_tui.context.truncate import truncate
from roo_tui.domain.entries import AssistantMessage, Body, Entry, UserMessage
from roo_tui.domain.errors import CommandRefused, CondenseRefused, ContextFull
from roo_tui.domain.events import (
    CondenseEnded,
    CondensePending,
    CondenseStarted,
    CondenseText,
    ContextChanged,
    HeaderChanged,
    Notice,
    RetryWaiting,
    ViewChanged,
)
from roo_tui.domain.ids import EntryId, new_id
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Toggle, Trigger, Truncation
from roo_tui.domain.requests import ModelEvent, Request, ToolSpec
from roo_tui.domain.views import ContextBreakdown, ContextUse
from roo_tui.engine.environment import environment_details
from roo_tui.engine.folding import fold_files, read_files
from roo_tui.engine.header import header_of
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.llm.retry import Restarted, with_retries
from roo_tui.tools.registry import specs


class ContextControl:
    """The context of one open task: how full it is, and every change to it."""

    def __init__(self, runtime: Runtime, task: OpenTask) -> None:
        self._runtime = runtime
        self._task = task
        self._guards = Guards()
        self._stated: dict[str, _Stated] = {}
        self._counted: tuple[EntryId, int] = (-1, 0)
        self._used = 0
        self._noticed = False
        self._pending: str | None = None

    # How full it is.

    def limits(self) -> Limits:
        """Return the figures of the policy for the model and settings of this moment."""
        settings, profile = self._runtime.settings, self._runtime.settings.active
        stated, info = self._said_by_provider(), self._runtime.model.info
        most = stated.max_output or max(info.max_output, profile.max_output)
        return limits(
            replace(info, max_output=min(info.max_output, most)),
            window=stated.window or profile.window,
            max_output=min(profile.max_output, most),
            profile_percent=profile.threshold_percent,
            global_percent=settings.context.threshold_percent,
        )

    def tokens(self) -> int:
        """Return the context tokens as last counted."""
        return self._used

    def use(self) -> ContextUse:
        figures = self.limits()
        return ContextUse(
            self._used,
            figures.window,
            figures.reserved,
            figures.trigger_tokens,
            self._runtime.settings.context.auto_condense,
        )

    async def refresh(self) -> None:
        """Count what is new since the last anchor, tell bar and header, and warn once when a condense comes near."""
        self._used = await self._count()
        self._task.emit(ContextChanged(self._task.id, self.use()))
        self._task.emit(HeaderChanged(self._task.id, header_of(self._runtime, self._task)))
        figures = self.limits()
        near = self._used >= notice_at(figures)
        if near and not self._noticed and self._runtime.settings.context.auto_condense:
            text = f"The context will be condensed at {figures.trigger_tokens:,} tokens; it holds {self._used:,} now."
            self._task.emit(Notice(self._task.id, "info", text))
        self._noticed = near

    async def _count(self) -> int:
        """Return the context tokens: from the last count that is known, every later entry adds or takes its part.

        Usage is never believed across a marker: the marker's own figures are added to it.
        """
        path = self._task.log.path()
        start, tokens = self._last_known(path)
        if start < 0:
            tokens = await asyncio.to_thread(self._measure, path)
            self._counted = (path[-1].id if path else 0, tokens)
            return tokens
        ratio, counter = self.ratio(), self._runtime.counter
        for entry in path[start:]:
            match entry.body:
                case UserMessage(blocks=blocks) | AssistantMessage(blocks=blocks):
                    tokens += round(ratio * counter.count_blocks(blocks))
                case Condense(figures=figures) | Truncation(figures=figures) | Mask(figures=figures):
                    tokens += figures.tokens_after - figures.tokens_before
                case Toggle(marker_id=marker_id, on=on):
                    tokens += _change_of(self._task.log.get(marker_id), on)
        return max(tokens, 0)

    def _last_known(self, path: tuple[Entry, ...]) -> tuple[int, int]:
        """Return where counting starts and the tokens known there; a start of -1 says that nothing is known."""
        info = self._runtime.model.info
        for index in range(len(path) - 1, -1, -1):
            body = path[index].body
            if isinstance(body, AssistantMessage) and body.usage is not None and body.model == info.id:
                return index + 1, body.usage.context_tokens
            if self._counted[0] == path[index].id:
                return index + 1, self._counted[1]
        return -1, 0

    def _measure(self, path: tuple[Entry, ...]) -> int:
        raw = self._runtime.counter.count_request(self._runtime.system, specs(), effective_history(path))
        return context_tokens(None, raw, self.ratio())

    async def breakdown(self) -> ContextBreakdown:
        """Return what fills the context window, by kind and by entry."""
        path, runtime = self._task.log.path(), self._runtime
        return await asyncio.to_thread(
            breakdown, path, runtime.counter, self.ratio(), system=runtime.system, tools=specs()
        )

    def ratio(self) -> float:
        info = self._runtime.model.info
        return self._runtime.calibration.ratio(info)

    def learn(self, raw: int, answer: AssistantMessage) -> None:
        """Calibrate on what the provider charged for a request we counted."""
        if answer.usage is not None:
            self._runtime.calibration.learn(self._runtime.model.info, raw, answer.usage.prompt_tokens)

    def learn_output_limit(self, most: int) -> bool:
        """Ask for answers of at most so many tokens from now on; false if that is no less than what is asked for."""
        if not 0 < most < self.limits().reserved:
            return False
        self._said_by_provider().max_output = most
        text = f"The provider allows answers of at most {most:,} tokens; the request is sent again with that."
        self._task.emit(Notice(self._task.id, "info", text))
        return True

    def _said_by_provider(self) -> "_Stated":
        return self._stated.setdefault(self._runtime.model.info.id, _Stated())

    def ends_with_assistant(self) -> bool:
        """Return whether the effective history ends with the model's own words."""
        for entry in reversed(self._task.log.path()):
            match entry.body:
                case AssistantMessage(blocks=blocks) if blocks:
                    return True
                case UserMessage() | Condense():
                    return False
        return False

    # What changes it.

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
        await self.refresh()
        figures = self.limits()
        due = decide(self._used, figures)
        if due == "nothing":
            return
        await self._reduce("automatic", tools)

    async def force(self, overflow: Overflow, tools: tuple[ToolSpec, ...]) -> None:
        """The provider said the request is too long: reduce, whatever our own count says."""
        if overflow.window:
            self._said_by_provider().window = overflow.window
        before = self._used
        await self._reduce("forced", tools)
        if self._used >= before:
            raise ContextFull(self._full_text())

    async def condense(self, instructions: str, tools: tuple[ToolSpec, ...]) -> None:
        """A condense the person asked for."""
        await self.refresh()
        await self._change("manual", instructions, tools)

    async def truncate(self) -> None:
        """Hide the oldest half because the person asked for it.

        Raises:
            CommandRefused: nothing can be hidden.
        """
        await self.refresh()
        marker = await asyncio.to_thread(
            truncate,
            self._task.log.path(),
            self._runtime.counter,
            ratio=self.ratio(),
            tokens_before=self._used,
        )
        if marker is None:
            raise CommandRefused("There is nothing that could be hidden yet.")
        await self._apply((marker,))

    async def toggle(self, toggle: Toggle) -> None:
        """Switch a marker off or on; automatic condensing then waits for new content."""
        await self._task.record(toggle)
        self._guards.wait_for_new_content(self._task.log.path())
        self._task.emit(ViewChanged(self._task.id, "toggle"))
        await self.refresh()

    async def _reduce(self, trigger: Trigger, tools: tuple[ToolSpec, ...]) -> None:
        await self._change(trigger, "", tools)
        if decide(self._used, self.limits()) == "over" and trigger == "automatic":
            raise ContextFull(self._full_text())

    def _full_text(self) -> str:
        figures = self.limits()
        return (
            f"The context window is full: {self._used:,} tokens, and at most {figures.allowed_tokens:,} of "
            f"{figures.window:,} may be used. Condense, rewind, or choose a model with a larger window."
        )

    async def _change(self, trigger: Trigger, instructions: str, tools: tuple[ToolSpec, ...]) -> None:
        """Run one reduction and commit what it came to, a failure or a cancel included."""
        task, options, condense_id = self._task, self._runtime.settings.context, new_id()
        situation = await self._situation(trigger, instructions, tools)
        services = self._services(condense_id)
        asks_model = trigger == "manual" or options.auto_condense
        if asks_model:
            task.emit(CondenseStarted(task.id, condense_id, trigger, self._used))
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
        await self.refresh()
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
            limits=self.limits(),
            context_tokens=self._used,
            ratio=self.ratio(),
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


@dataclass(slots=True)
class _Stated:
    """What a provider said of a model in an error, 0 where it said nothing. It holds before what we know ourselves."""

    window: int = 0
    max_output: int = 0


@dataclass(frozen=True, slots=True)
class _End:
    """How a reduction ended, as `CondenseEnded` tells it."""

    outcome: Literal["condensed", "truncated", "failed", "cancelled", "refused"]
    message: str = ""
    entry_id: EntryId | None = None


def _change_of(entry: Entry | None, on: bool) -> int:
    """Return the tokens a toggle adds: what its marker took, or that given back."""
    if entry is None or not isinstance(entry.body, Condense | Truncation | Mask):
        return 0
    figures = entry.body.figures
    taken = figures.tokens_after - figures.tokens_before
    return taken if on else -taken
