"""What a reduction is given in tests of `context` alone: a situation to reduce, a model that summarises, services."""

from collections.abc import Callable, Sequence
from typing import Any

from roo_tui.context.history.effective import effective_history
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.window.policy import limits
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.entries import Entry
from roo_tui.domain.requests import ModelInfo
from tests.support.scripted_model import SUMMARY, Answer, ScriptedModel, in_order

MODEL = ModelInfo(
    "summariser", "scripted", window=100_000, max_output=8_000, input_usd=1.0, output_usd=10.0, token_factor=1.0
)


def summariser(*answers: Answer) -> ScriptedModel:
    """Return a model that gives these answers, the last one again and again; each costs 1,000 and 100 tokens."""
    script = in_order(*answers or (SUMMARY,))
    return ScriptedModel(info=MODEL, summary=script, tokens=lambda _: 1_000, written=lambda _: 100)


def services_for(model: ScriptedModel, counter: TokenCounter, **values: Any) -> ReductionServices:
    """Return services that ask this model."""
    return ReductionServices(ask=model.stream, counter=counter, **values)


def inputs(path: Sequence[Entry], counter: TokenCounter, **values: Any) -> ReductionInput:
    """Return a situation with exact counts; `window` and `percent` make the limits, everything else is its field."""
    model = values.pop("model", MODEL)
    figures = limits(model, window=values.pop("window", 0), global_percent=values.pop("percent", 100))
    system, tools = values.pop("system", ("You are an agent.",)), values.pop("tools", ())
    ratio = values.pop("ratio", 1.0)
    raw = counter.count_request(system, tools, effective_history(path))
    fields: dict[str, Any] = {
        "path": tuple(path),
        "system": system,
        "tools": tools,
        "model": model,
        "limits": figures,
        "context_tokens": round(ratio * raw),
        "ratio": ratio,
        "trigger": "manual",
    }
    return ReductionInput(**(fields | values))


def outlines(files: dict[str, str]) -> Callable[[tuple[str, ...]], Any]:
    """Return a fold service that knows these outlines; every other path cannot be read."""

    async def fold(paths: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(path, files[path]) for path in paths if path in files]

    return fold
