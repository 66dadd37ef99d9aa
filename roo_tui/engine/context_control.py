"""Reduce the context of the open task: decide when, run the rules of `context`, and commit what they return.

The policy, the ladder and the strategies are in `roo_tui.context`. This module passes them the task's values and
announces the results as events.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from roo_tui.context import (
    ContextOptions,
    Guards,
    ReductionInput,
    ReductionServices,
    failed,
    hide_refused,
    overhead_objection,
    reduce,
    slide_window,
)
from roo_tui.context.condense import receipt_block
from roo_tui.context.window import Decision, Overflow, RefusedContent, decide, notice_at, recognise
from roo_tui.domain.entries import Body, Noted, UserMessage
from roo_tui.domain.errors import (
    CommandRefused,
    CondenseError,
    ContextFull,
    ModelError,
    RooError,
    SettingsError,
    StoreError,
)
from roo_tui.domain.events import (
    CondenseEnded,
    CondensePending,
    CondenseStarted,
    Notice,
    ViewChanged,
)
from roo_tui.domain.ids import EntryId, entry_ref, new_id
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Toggle, Trigger, Truncation
from roo_tui.domain.previews import CondensePreview, CondenseRequest
from roo_tui.domain.requests import Request, ToolSpec
from roo_tui.engine.background import BackgroundCondense
from roo_tui.engine.condense_inputs import Sent, condense_model, reduction_input_of, reduction_services_of
from roo_tui.engine.context_gauge import ContextGauge
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.strategies import Strategies
from roo_tui.engine.task import OpenTask, cost_of

log = logging.getLogger(__name__)

_NOTHING_USD = 1e-9


class ContextControl:
    """Makes every change to the context of one open task."""

    def __init__(self, runtime: Runtime, task: OpenTask, gauge: ContextGauge) -> None:
        self._runtime = runtime
        self._task = task
        self._gauge = gauge
        self._guards = Guards()
        self._strategies = Strategies(runtime, self._warn)
        self._pending: CondenseRequest | None = None
        self._sent: Sent | None = None
        self._background = BackgroundCondense(task.spend, runtime.counter)
        self._tried_on: EntryId = 0
        self.condensing = False
        """Whether a condense is running; one in the background does not count."""

    def answered(self, request: Request) -> None:
        """Remember the last answered request: the provider keeps it in its cache for a while."""
        self._sent = Sent(request, self._runtime.model.info.id, asyncio.get_running_loop().time())

    def ask_for_condense(self, request: CondenseRequest) -> None:
        """Remember a condense that is requested during a turn; it runs at the next safe boundary."""
        self._pending = request
        self._task.emit(CondensePending(self._task.id, request.instructions))

    async def run_pending(self, tools: tuple[ToolSpec, ...]) -> None:
        """Run the condense that was requested meanwhile, if any. No tool call may be open."""
        if self._pending is not None:
            request, self._pending = self._pending, None
            await self.condense(request, tools)

    async def before_request(self, tools: tuple[ToolSpec, ...]) -> None:
        """Condense automatically: bring the context below its limits before a request, retries included.

        Raises:
            ContextFull: the request cannot fit.
        """
        await self.run_pending(tools)
        await self._gauge.refresh()
        if self._background.ready:
            await self._swap_in()
        if self._decide() == "nothing" and not await self._strategy_is_due(tools):
            await self._start_background(tools)
            return
        if self._background.running and await self._swap_in() and self._decide() == "nothing":
            return
        await self._reduce("automatic", tools)

    async def _strategy_is_due(self, tools: tuple[ToolSpec, ...]) -> bool:
        """Return whether the strategy's own trigger is reached, which counts in addition to the policy's."""
        options = self._runtime.settings.context
        if not options.auto_condense or not (options.trigger_tokens or options.strategy_thresholds):
            return False
        return await self._strategies.is_due(await self.reduction_input("automatic", tools), options)

    async def forget_background(self) -> None:
        """Drop the background condense."""
        await self._background.drop()

    async def _start_background(self, tools: tuple[ToolSpec, ...]) -> None:
        """Start a background condense, if the option is on and the trigger is near."""
        options, limits = self._runtime.settings.context, self._gauge.limits()
        near = self._gauge.tokens >= notice_at(limits)
        if not (options.auto_condense and options.background_condense and near) or self._background.running:
            return
        if self._tried_on == (path := self._task.log.path())[-1].id:
            return
        self._tried_on = path[-1].id
        given = await self.reduction_input("background", tools)
        if await asyncio.to_thread(self._guards.objection, given, self._runtime.counter):
            return
        services = reduction_services_of(self._runtime, self._task, new_id())
        self._background.start(self._condense_paid(given, services), path)

    async def _condense_paid(self, given: ReductionInput, services: ReductionServices) -> tuple[Body, ...] | None:
        """Run the chosen strategy; if that fails, record only its cost and return None.

        The automatic condense at the trigger reports the failure.
        """
        done = False
        try:
            bodies = await self._strategies.run(given, services, self._runtime.settings.context)
            done = True
            return bodies
        except RooError as error:
            log.info("background condense failed: %s", error)
            return None
        finally:
            if not done and services.cost_usd:
                await self._task.spend(services.cost_usd)

    async def _swap_in(self) -> bool:
        """Append the background condense's marker, after waiting for it visibly; return whether it was appended."""
        task, condense_id = self._task, new_id()
        task.emit(CondenseStarted(task.id, condense_id, "background", self._gauge.tokens))
        end = _End("failed")
        try:
            bodies = await self._background.take(task.log.path(), self._gauge.tokens, await self._gauge.ratio_now())
            end = await self._apply(bodies) if bodies else _End("refused")
            return bodies is not None
        except RooError as error:
            end = _End("failed", str(error))
            raise
        except asyncio.CancelledError:
            end = _End("cancelled")
            raise
        finally:
            task.emit(CondenseEnded(task.id, condense_id, end.outcome, end.message, end.entry_id))

    def _decide(self) -> Decision:
        return decide(self._gauge.tokens, self._gauge.limits())

    async def force(self, overflow: Overflow, raw: int, tools: tuple[ToolSpec, ...]) -> None:
        """Reduce because the provider refused a request of `raw` tokens as too long, whatever the local count says.

        Raises:
            ContextFull: nothing could be freed.
        """
        if overflow.window:
            self._gauge.learn_window(overflow.window)
        if overflow.prompt_tokens:
            await self._gauge.correct(raw, overflow.prompt_tokens)
        before = self._gauge.tokens
        await self._reduce("forced", tools)
        if self._gauge.tokens >= before:
            raise ContextFull(self._full_text())

    async def hide_refused(self, refused: RefusedContent, request: Request) -> bool:
        """Hide the content for which the provider refused a request; return whether anything was hidden."""
        given = await self.reduction_input("forced", request.tools)
        marker = await asyncio.to_thread(hide_refused, given, request.messages, refused, self._runtime.counter)
        if marker is not None:
            await self._apply((marker,))
        return marker is not None

    async def condense(self, request: CondenseRequest, tools: tuple[ToolSpec, ...]) -> None:
        """Run a condense that the user requested."""
        await self._background.drop()
        await self._gauge.refresh()
        await self._change("manual", tools, request)

    async def condense_before_switch(self, tools: tuple[ToolSpec, ...]) -> None:
        """Condense with the current model, before one with a smaller window takes over."""
        if self._runtime.settings.context.auto_condense:
            await self._background.drop()
            await self._change("switch", tools)

    async def reduction_input(
        self, trigger: Trigger, tools: tuple[ToolSpec, ...], instructions: str = ""
    ) -> ReductionInput:
        """Return the input of a reduction that starts now."""
        return await reduction_input_of(
            self._runtime, self._task, self._gauge, tools, trigger, instructions, self._sent
        )

    async def truncate(self) -> None:
        """Hide the oldest half of the visible messages, because the user requested it.

        Raises:
            CommandRefused: nothing can be hidden.
        """
        await self._gauge.refresh()
        marker = await asyncio.to_thread(
            slide_window,
            self._task.log.path(),
            self._runtime.counter,
            ratio=await self._gauge.ratio_now(),
            tokens_before=self._gauge.tokens,
        )
        if marker is None:
            raise CommandRefused("There is nothing to hide yet.")
        await self._apply((marker,))

    async def append_receipt(self, marker_id: EntryId) -> None:
        """Add a condense's receipt to the conversation.

        Raises:
            CommandRefused: the entry is not a condense on the path, or its receipt is empty.
        """
        entry = next((entry for entry in self._task.log.path() if entry.id == marker_id), None)
        if entry is None or not isinstance(entry.body, Condense):
            raise CommandRefused(f"{entry_ref(marker_id)} is not a condense in this conversation.")
        receipt = entry.body.receipt
        block = receipt_block(receipt)
        if block is None:
            raise CommandRefused("There is no receipt to append: the summary leaves out nothing that the log knows.")
        note = Noted("info", "Receipt appended", "\n".join(receipt))
        await self._task.record(UserMessage((block,), source="engine"), note)
        await self._gauge.refresh()

    async def toggle(self, *toggles: Toggle) -> None:
        """Undo or redo markers in one commit; automatic condensing then waits for new content."""
        await self._background.drop()
        await self._task.record(*toggles)
        self._guards.wait_for_new_content(self._task.log.path())
        self._task.emit(ViewChanged(self._task.id, "toggle"))
        await self._gauge.refresh()

    async def _reduce(self, trigger: Trigger, tools: tuple[ToolSpec, ...]) -> None:
        limits = self._gauge.limits()
        if self._decide() == "over" and (overhead := await self._gauge.overhead()) >= limits.allowed_tokens:
            raise ContextFull(overhead_objection(overhead, limits.allowed_tokens, limits.window))
        await self._change(trigger, tools)
        if self._decide() == "over" and trigger == "automatic":
            await self._gauge.recount()
        if self._decide() == "over" and trigger == "automatic":
            raise ContextFull(self._full_text())

    def _full_text(self) -> str:
        figures = self._gauge.limits()
        return (
            f"The context window is full: {self._gauge.tokens:,} tokens, but only {figures.allowed_tokens:,} of "
            f"{figures.window:,} can be used. Condense (Ctrl+T), rewind (Ctrl+R), or choose a model with a larger "
            "window (F4)."
        )

    async def _change(
        self, trigger: Trigger, tools: tuple[ToolSpec, ...], request: CondenseRequest | None = None
    ) -> None:
        """Run one reduction and commit its result, which may be a failure or a cancel."""
        task, request, condense_id = self._task, request or CondenseRequest(), new_id()
        options = self._options(request)
        given = await self.reduction_input(trigger, tools, request.instructions)
        services = reduction_services_of(self._runtime, task, condense_id)
        by_user = trigger in ("manual", "switch")
        asks_model = by_user or options.auto_condense
        if asks_model:
            task.emit(CondenseStarted(task.id, condense_id, trigger, self._gauge.tokens))
        self.condensing = asks_model
        end, recorded = _End("failed"), tuple[Body, ...]()
        try:
            if by_user:
                bodies = await self._strategies.run(given, services, options, wanted=request.strategy)
            else:
                bodies = await reduce(
                    given,
                    services,
                    options,
                    self._guards,
                    strategy=self._strategies.run,
                    prelude=self._strategies.prelude if options.lossless_first else None,
                    min_gain=options.min_gain_tokens,
                    due=await self._strategy_is_due(tools),
                    on_fallback=partial(self._strategies.fell_back, given, options),
                )
            end = await self._apply(bodies)
            recorded = bodies
        except SettingsError as error:
            end = _End("invalid", str(error))
        except CommandRefused as refusal:
            end = _End("refused", str(refusal))
        except CondenseError as failure:
            self._learn_from(failure.body)
            recorded = (failure.body,)
            end = await self._apply(recorded)
        except RooError as error:
            end = _End("failed", str(error))
            raise
        except asyncio.CancelledError:
            end, recorded = _End("cancelled"), (failed(given, services, "Cancelled.", cancelled=True),)
            end = await self._apply(recorded)
            raise
        finally:
            self.condensing = False
            await self._pay_rest(services, recorded)
            if asks_model:
                task.emit(CondenseEnded(task.id, condense_id, end.outcome, end.message, end.entry_id))

    async def _pay_rest(self, services: ReductionServices, recorded: tuple[Body, ...]) -> None:
        """Count what the models of a reduction cost and none of its entries says."""
        rest = (services.cost_usd or 0.0) - sum(cost_of(body) or 0.0 for body in recorded)
        if rest > _NOTHING_USD:
            with suppress(StoreError):  # the disk may be full; the figures of this session still count it
                await self._task.spend(rest)

    async def _condensed(self, marker: Condense) -> None:
        """Read the project's rules again, and remember the length of the summary."""
        await self._runtime.read_project()
        if marker.figures.shape in ("fresh", "cached"):
            info = condense_model(self._runtime).info
            self._runtime.learned.of(info).wrote_summary(marker.figures.usage.output_tokens)

    def _warn(self, text: str) -> None:
        self._task.emit(Notice(self._task.id, "warning", text))

    async def preview(self, request: CondenseRequest, tools: tuple[ToolSpec, ...]) -> CondensePreview:
        """Return what a condense would do now, without asking a model; a condense right after it does exactly that.

        Raises:
            CommandRefused: there is nothing to condense, or the strategy is unknown.
        """
        await self._gauge.refresh()
        given = await self.reduction_input("manual", tools, request.instructions)
        return await self._strategies.preview(given, self._options(request), wanted=request.strategy)

    def _options(self, request: CondenseRequest) -> ContextOptions:
        """Return the context options, with the requested preset if there is one."""
        options = self._runtime.settings.context
        return replace(options, smart_preset=request.preset) if request.preset else options

    def _learn_from(self, failure: CondenseFailed) -> None:
        """Learn the window that the provider states when it refuses a condense as too long."""
        error = ModelError(failure.message, status=failure.status, code=failure.code, body=failure.body)
        overflow = recognise(error, self._gauge.tokens, self._gauge.limits().window)
        if overflow is not None and overflow.believed and overflow.window:
            self._gauge.learn_window(overflow.window)

    async def _apply(self, bodies: tuple[Body, ...]) -> "_End":
        """Commit the bodies of a reduction and announce what changed."""
        if not bodies:
            return _End("refused")
        last = (await self._task.record(*bodies))[-1]
        if isinstance(last.body, Condense):
            await self._condensed(last.body)
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


@dataclass(frozen=True, slots=True)
class _End:
    """How a reduction ended; the fields are those of `CondenseEnded`."""

    outcome: Literal["condensed", "truncated", "failed", "cancelled", "refused", "invalid"]
    message: str = ""
    entry_id: EntryId | None = None
