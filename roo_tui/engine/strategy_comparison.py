"""Compare strategies on one conversation: what each frees, what survives, what it costs and how long it takes.

Nothing is changed. Without a model, each summary is an outline made from the log; with one, the model writes it, and
its requests cost money.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace

from roo_tui.context import ReductionInput, ReductionServices
from roo_tui.context.condense import outline_summary
from roo_tui.context.history import appended, edited_files, effective_history, last_failure, todos_of, typed_messages
from roo_tui.context.window import limits
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.errors import RooError
from roo_tui.domain.previews import CondensePreview, CondenseRequest
from roo_tui.domain.requests import BlockClosed, BlockDelta, BlockOpened, Finished, ModelEvent, Request, Started
from roo_tui.domain.usage import Usage
from roo_tui.engine.condense_inputs import asker, condense_model
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.strategies import Strategies
from roo_tui.tools.registry import specs

WAYS = (
    CondenseRequest(strategy="lossless"),
    CondenseRequest(strategy="truncation"),
    CondenseRequest(strategy="smart", preset="conservative"),
    CondenseRequest(strategy="smart", preset="balanced"),
    CondenseRequest(strategy="smart", preset="aggressive"),
    CondenseRequest(strategy="native"),
)

_SUMMARY_BUDGET = 8_000
# How many characters of a long text are searched for.
_LOOKED_FOR = 300


async def compare(runtime: Runtime, path: tuple[Entry, ...], *, ask_model: bool) -> list[CondensePreview]:
    """Return what each request of `WAYS` would do to this path, in their order.

    One that would change nothing has a `refusal` and the figures of the unchanged context.
    """
    given = await asyncio.to_thread(_input_of, runtime, path)
    wanted = await asyncio.to_thread(_shown_artefacts, path)
    strategies = Strategies(runtime, lambda _: None)
    return [await _try_out(runtime, strategies, given, wanted, way, ask_model=ask_model) for way in WAYS]


async def _try_out(
    runtime: Runtime,
    strategies: Strategies,
    given: ReductionInput,
    artefacts: list[tuple[str, ...]],
    way: CondenseRequest,
    *,
    ask_model: bool,
) -> CondensePreview:
    """Run one way on the path and return its figures; nothing is appended."""
    ask = asker(condense_model(runtime)) if ask_model else _outliner(runtime, given)
    services = ReductionServices(ask, runtime.counter)
    options = runtime.settings.context
    started = time.monotonic()
    refusal = ""
    bodies: tuple[Body, ...] = ()
    try:
        chosen = replace(options, smart_preset=way.preset) if way.preset else options
        bodies = await strategies.run(given, services, chosen, wanted=way.strategy)
    except RooError as error:
        refusal = str(error)
    after = appended(given.path, *bodies)
    shown = await asyncio.to_thread(_visible_text, after)
    return CondensePreview(
        strategy=way.strategy,
        preset=way.preset,
        tokens_before=given.context_tokens,
        tokens_after=await asyncio.to_thread(_tokens, runtime, after),
        usage=services.usage,
        cost_usd=services.cost_usd if ask_model else 0.0,
        refusal=refusal,
        artefacts=len(artefacts),
        survived=sum(all(text in shown for text in texts) for texts in artefacts),
        duration_s=time.monotonic() - started,
    )


def _input_of(runtime: Runtime, path: tuple[Entry, ...]) -> ReductionInput:
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
    """Return a stand-in for a model; it answers every request with an outline made from the log."""

    async def ask(request: Request) -> AsyncIterator[ModelEvent]:
        """Yield the events of an answer that is the outline."""
        del request  # the outline does not depend on it
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
    """Return the artefacts that the model sees before any reduction, with spaces as in `_visible_text`."""
    shown = _visible_text(path)
    found = [tuple(" ".join(text.split()) for text in texts) for texts in _artefacts(path)]
    return [texts for texts in found if all(text in shown for text in texts)]


def _artefacts(path: tuple[Entry, ...]) -> list[tuple[str, ...]]:
    """Return what should survive: edited files, the last failed command and its error, open todo items, the request."""
    found: list[tuple[str, ...]] = [(file,) for file in edited_files(path)]
    if (failure := last_failure(path)) is not None:
        found.append((failure.command[:_LOOKED_FOR], failure.error_line[:_LOOKED_FOR]))
    found += [(text,) for text, state in todos_of(path) if state != "done"]
    found += [(message[:_LOOKED_FOR],) for _, message in typed_messages(path)[-1:]]
    return found


def _visible_text(path: tuple[Entry, ...]) -> str:
    """Return everything the model sees as one text with single spaces, so that line breaks do not matter."""
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
