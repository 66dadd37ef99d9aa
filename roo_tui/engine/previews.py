"""Every strategy on one conversation: what each frees, what survives, what it costs and how long it takes.

Nothing is changed. Without a model, a summary is the outline made from the log; with one, its own words, and its price.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from roo_tui.context.condense.outline import outline_summary
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.history.log_facts import edited_files, last_failure, todos_of, typed_messages
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.window.policy import limits
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.errors import CondenseError, RooError
from roo_tui.domain.markers import Condense, Mask, Truncation
from roo_tui.domain.requests import BlockClosed, BlockDelta, BlockOpened, Finished, ModelEvent, Request, Started
from roo_tui.domain.usage import Usage
from roo_tui.domain.views import Comparison, CondensePlan
from roo_tui.engine.condense_inputs import asker, condense_model
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.strategies import Strategies
from roo_tui.tools.registry import specs

if TYPE_CHECKING:  # the strategies are loaded at the first reduction, not at start
    from roo_tui.context.strategies.protocol import StrategyPlan

from roo_tui.context.condense import preview as forecast
from roo_tui.context.condense.condense import prepare
from roo_tui.domain.views import Forecast

Preset = Literal["", "conservative", "balanced", "aggressive", "custom"]


@dataclass(frozen=True, slots=True)
class CondenseRequest:
    """Instructions for one run, and a strategy and preset in place of the settings'; blank means the settings'."""

    instructions: str = ""
    strategy: str = ""
    preset: Preset = ""

    def over(self, options: ContextOptions) -> ContextOptions:
        """Return the options of the settings with what was asked for in their place."""
        return replace(options, smart_preset=self.preset) if self.preset else options


WAYS = (
    CondenseRequest(strategy="lossless"),
    CondenseRequest(strategy="truncation"),
    CondenseRequest(strategy="smart", preset="conservative"),
    CondenseRequest(strategy="smart", preset="balanced"),
    CondenseRequest(strategy="smart", preset="aggressive"),
    CondenseRequest(strategy="native"),
)

_SUMMARY_BUDGET = 8_000
# Of a long text only so many characters are looked for.
_LOOKED_FOR = 300


async def compare(runtime: Runtime, path: tuple[Entry, ...], *, ask_model: bool) -> list[Comparison]:
    """Return what each way comes to on this path, in the order of `WAYS`."""
    strategies = Strategies(runtime, lambda _: None)
    given = await asyncio.to_thread(_reduction_input, runtime, path)
    wanted = await asyncio.to_thread(_shown_artefacts, path)
    found = []
    for way in WAYS:
        services = ReductionServices(
            ask=asker(condense_model(runtime)) if ask_model else _outliner(runtime, given), counter=runtime.counter
        )
        options = way.over(runtime.settings.context)
        started = time.monotonic()
        note = ""
        bodies: tuple[Body, ...] = ()
        try:
            bodies = await strategies.run(given, services, options, wanted=way.strategy)
        except (RooError, CondenseError) as error:
            note = str(error)
        after = _appended(path, bodies)
        tokens = await asyncio.to_thread(_tokens, runtime, after)
        shown = await asyncio.to_thread(_visible_text, after)
        found.append(
            Comparison(
                strategy=way.strategy,
                preset=way.preset,
                tokens_before=given.context_tokens,
                tokens_after=tokens,
                artefacts=len(wanted),
                survived=sum(all(text in shown for text in texts) for texts in wanted),
                cost_usd=services.cost_usd if ask_model else 0.0,
                duration_s=time.monotonic() - started,
                note=note,
            )
        )
    return found


def _reduction_input(runtime: Runtime, path: tuple[Entry, ...]) -> ReductionInput:
    info = runtime.model.info
    ratio = runtime.calibration.ratio(info)
    return ReductionInput(
        path=path,
        system=runtime.system,
        tools=specs(),
        model=info,
        limits=limits(info),
        context_tokens=_tokens(runtime, path),
        ratio=ratio,
        trigger="manual",
        todos=todos_of(path),
    )


def _tokens(runtime: Runtime, path: tuple[Entry, ...]) -> int:
    raw = runtime.counter.count_request(runtime.system, specs(), effective_history(path))
    return round(runtime.calibration.ratio(runtime.model.info) * raw)


def _outliner(runtime: Runtime, given: ReductionInput) -> Callable[[Request], AsyncIterator[ModelEvent]]:
    """Return a stand-in for a model that answers with the outline made from the log."""

    async def ask(request: Request) -> AsyncIterator[ModelEvent]:
        del request  # whatever is asked
        text = await asyncio.to_thread(
            outline_summary, given.path, runtime.counter, budget=_SUMMARY_BUDGET, todos=given.todos
        )
        yield Started(Usage())
        yield BlockOpened(0, "text")
        yield BlockDelta(0, text)
        yield BlockClosed(0, Text(text))
        yield Finished("end_turn", Usage())

    return ask


def _shown_artefacts(path: tuple[Entry, ...]) -> list[tuple[str, ...]]:
    """Return the artefacts the model sees as long as nothing is reduced, spaced as `_visible_text` is."""
    shown = _visible_text(path)
    found = [tuple(" ".join(text.split()) for text in texts) for texts in _artefacts(path)]
    return [texts for texts in found if all(text in shown for text in texts)]


def _artefacts(path: tuple[Entry, ...]) -> list[tuple[str, ...]]:
    """Return what must survive: edited files, the last failing command with its error line, open todos, the request."""
    found: list[tuple[str, ...]] = [(file,) for file in edited_files(path)]
    if (failure := last_failure(path)) is not None:
        found.append((failure.command[:_LOOKED_FOR], failure.error_line[:_LOOKED_FOR]))
    found += [(text,) for text, state in todos_of(path) if state != "done"]
    found += [(words[:_LOOKED_FOR],) for _, words in typed_messages(path)[-1:]]
    return found


def _appended(path: tuple[Entry, ...], bodies: tuple[Body, ...]) -> tuple[Entry, ...]:
    log = Log(path, path[-1].id)
    for body in bodies:
        newest = max(entry.id for entry in log.entries)
        log.add((Entry(newest + 1, log.head, path[-1].at_ms, body),))
    return log.path()


def _visible_text(path: tuple[Entry, ...]) -> str:
    """Return all that the model sees as words with single blanks between them: how lines wrap says nothing."""
    texts = (text for message in effective_history(path) for block in message.blocks for text in _texts(block))
    return " ".join(" ".join(text.split()) for text in texts)


def _texts(block: Block) -> Iterator[str]:
    match block:
        case Text(text):
            yield text
        case ToolResult():
            yield result_text(block)
        case ToolUse():
            yield from _strings(block.input)


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from _strings(item)
        case list() | tuple():
            for item in value:
                yield from _strings(item)


def shown_plan(plan: "StrategyPlan") -> CondensePlan:
    """Return a strategy's plan as plain data."""
    return CondensePlan(
        strategy=plan.strategy,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_after,
        model_calls=plan.model_calls,
        hidden=plan.hides + sum(map(_hidden, plan.bodies)),
        passes=plan.passes,
        remarks=plan.remarks,
    )


def _hidden(body: Body) -> int:
    match body:
        case Condense(hides=hides) | Truncation(hides=hides):
            return len(hides)
        case Mask(items=items):
            return len(items)
    return 0


_LABELS = {
    "fresh": "condense, new request",
    "cached": "condense, from the prompt cache",
    "staged": "condense, in parts",
    "mask": "mask repeated contents",
}


async def forecasts(runtime: Runtime, given: ReductionInput) -> tuple[Forecast, ...]:
    """Return what each way to condense now would come to; the one that would be taken is the first.

    Raises:
        CondenseRefused: there is nothing to condense, or nothing to gain.
    """
    plan = await asyncio.to_thread(prepare, given, runtime.counter, runtime.settings.context)
    return tuple(_shown(found, number == 0) for number, found in enumerate(plan.forecasts))


def _shown(found: forecast.Forecast, chosen: bool) -> Forecast:
    return Forecast(
        label=_LABELS[found.shape],
        tokens_before=found.tokens_before,
        tokens_after=found.tokens_after,
        cost_usd=found.cost_usd,
        saving_per_turn_usd=found.saving_per_turn_usd,
        turns_to_pay_back=found.turns_to_pay_back,
        note="this is what will be done" if chosen else "",
    )
