"""What does a condense of a long conversation cost, fresh and cached, and how close is the forecast?

    python -m bench condense_cost [--json] [--tokens N] [--model ID]

For each length of answer one conversation is sent once, so that the provider has it in its cache, and then condensed in
both shapes at the same prices. The provider is a loopback server that keeps a prompt cache block by block. The forecast
is that of the first condense with a model: it is not told how long the answer will be, so it is held to its target in
the prompt's part; how far the total is off is reported. The fresh shape is the floor of the cached one.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bench.cache_server import CacheServer
from bench.report import table
from roo_tui.context.condense.request import prefix_hash
from roo_tui.context.condense.steps import condense, prepare
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.pairing import repair
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.window.policy import limits
from roo_tui.context.window.tokens import Calibration, TokenCounter, cost
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallFacts, CallRecord, Entry, UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.requests import Finished, ModelEvent, ModelInfo, Request
from roo_tui.domain.usage import Usage
from roo_tui.llm.anthropic_model import AnthropicModel
from roo_tui.llm.catalog import Catalog
from roo_tui.tools.registry import specs

ANSWERS = (300, 1_500, 5_000, 9_000)
MOST_OF_FRESH = 0.25
LEAST_FROM_CACHE = 0.95
MOST_OFF = 0.15

_SYSTEM = ("You are a coding agent. " * 40,)


@dataclass(frozen=True, slots=True)
class Bill:
    """What was used or forecast, and what the prompt and the whole cost in US dollars."""

    usage: Usage
    prompt_usd: float
    total_usd: float


@dataclass(frozen=True, slots=True)
class Run:
    """One condense: its shape, how long the answer was to be, what was billed and what was forecast."""

    shape: str
    answer_tokens: int
    billed: Bill
    forecast: Bill
    tokens_before: int
    tokens_after: int

    @property
    def from_cache(self) -> float:
        """The part of the prompt that was read from the cache."""
        return self.billed.usage.cache_read_tokens / max(1, self.billed.usage.prompt_tokens)

    @property
    def prompt_off(self) -> float:
        """How far the forecast of the prompt's cost was off, as a part of what was billed."""
        return abs(self.forecast.prompt_usd - self.billed.prompt_usd) / self.billed.prompt_usd

    @property
    def total_off(self) -> float:
        """How far the whole forecast was off, as a part of what was billed."""
        return abs(self.forecast.total_usd - self.billed.total_usd) / self.billed.total_usd

    def as_json(self) -> dict[str, Any]:
        shares = {"from_cache": self.from_cache, "prompt_off": self.prompt_off, "total_off": self.total_off}
        return asdict(self) | {name: round(value, 4) for name, value in shares.items()}


@dataclass(frozen=True, slots=True)
class Pair:
    """The same condense in both shapes."""

    fresh: Run
    cached: Run

    @property
    def prompt_of_fresh(self) -> float:
        """What the cached prompt cost as a part of the fresh one."""
        return self.cached.billed.prompt_usd / self.fresh.billed.prompt_usd

    @property
    def total_of_fresh(self) -> float:
        """What the cached condense cost as a part of the fresh one."""
        return self.cached.billed.total_usd / self.fresh.billed.total_usd

    def missed(self) -> list[str]:
        """Return a sentence for each target that is missed."""
        length = f"with an answer of {self.fresh.answer_tokens:,} tokens"
        found = []
        if (shapes := (self.fresh.shape, self.cached.shape)) != ("fresh", "cached"):
            found.append(f"The shapes were {' and '.join(shapes)} {length}, not fresh and cached.")
        for run in (self.fresh, self.cached):
            written = run.billed.usage.output_tokens
            if written != run.answer_tokens:
                found.append(f"{run.shape}: {written:,} tokens were written instead of {run.answer_tokens:,}.")
            if run.prompt_off > MOST_OFF:
                found.append(f"{run.shape} {length}: the prompt's forecast is {run.prompt_off:.0%} off.")
        if self.cached.from_cache < LEAST_FROM_CACHE:
            found.append(f"Only {self.cached.from_cache:.0%} of the prompt is read from the cache {length}.")
        if self.prompt_of_fresh > MOST_OF_FRESH:
            found.append(f"The cached prompt costs {self.prompt_of_fresh:.0%} of the fresh one {length}.")
        return found


def conversation(tokens: int) -> tuple[Entry, ...]:
    """Return a path of about so many tokens (four characters each) in which an agent reads file after file."""
    bodies: list[Body] = [UserMessage((Text("Make the loader resumable; never touch `legacy/`."),))]
    characters = 0
    for number in range(10**6):
        if characters >= tokens * 4:
            break
        if number and number % 12 == 0:
            words = f"Part {number // 12} looks right, thank you. Please go on with part {number // 12 + 1}."
            bodies += [AssistantMessage((Text(f"Part {number // 12} is done."),)), UserMessage((Text(words),), words)]
        path = f"src/part_{number}/loader.py"
        text = "".join(
            f"{line} | def step_{number}_{line}(offset: int) -> int:  # keeps the cursor of shard {line * 7 % 64}\n"
            for line in range(1, 60)
        )
        call = ToolUse(f"toolu_{number:05}", "read_file", {"path": path})
        record = CallRecord(call.id, "read_file", CallFacts("read", path, full_content=True))
        bodies += [
            AssistantMessage((Text(f"Reading part {number}."), call)),
            UserMessage((ToolResult(call.id, text),), source="tools", calls=(record,)),
        ]
        characters += len(text) + 120
    return tuple(Entry(number, number - 1 or None, number, body) for number, body in enumerate(bodies, 1))


async def measure(tokens: int, model_id: str) -> list[Pair]:
    """Return both shapes of the condense for every length of answer."""
    info = Catalog.load().info("anthropic", model_id)
    path = conversation(tokens)
    return [await _pair(path, info, length) for length in ANSWERS]


async def _pair(path: tuple[Entry, ...], info: ModelInfo, answer_tokens: int) -> Pair:
    counter, calibration = TokenCounter(), Calibration()
    async with CacheServer(answer_tokens) as server:
        model = AnthropicModel(info, key="sk-bench", base_url=server.url)
        try:
            request = Request(
                repair(effective_history(path), provider=info.provider, model=info.id),
                _SYSTEM,
                specs(),
                max_output=1_000,
            )
            answer, usage = await _ask(model, request)
            calibration.learn(info, counter.count_request(_SYSTEM, specs(), request.messages), usage.prompt_tokens)
            said = AssistantMessage((Text(answer),), provider=info.provider, model=info.id, usage=usage)
            inputs = ReductionInput(
                path=(*path, Entry(path[-1].id + 1, path[-1].id, path[-1].id + 1, said)),
                system=_SYSTEM,
                tools=specs(),
                model=info,
                limits=limits(info),
                context_tokens=usage.context_tokens,
                ratio=calibration.ratio(info),
                trigger="manual",
            )
            warm = replace(inputs, last_prefix=prefix_hash(request), idle_s=1.0)
            return Pair(
                await _run(inputs, model, counter, answer_tokens), await _run(warm, model, counter, answer_tokens)
            )
        finally:
            await model.close()


async def _run(inputs: ReductionInput, model: AnthropicModel, counter: TokenCounter, answer_tokens: int) -> Run:
    async def ask(request: Request) -> AsyncIterator[ModelEvent]:
        async for event in model.stream(request):
            yield event

    forecast = prepare(inputs, counter, ContextOptions()).preview
    figures = (await condense(inputs, ReductionServices(ask=ask, counter=counter), ContextOptions())).figures
    return Run(
        figures.shape,
        answer_tokens,
        _bill(inputs.model, figures.usage),
        _bill(inputs.model, forecast.usage),
        figures.tokens_before,
        figures.tokens_after,
    )


def _bill(model: ModelInfo, usage: Usage) -> Bill:
    prompt, total = cost(model, replace(usage, output_tokens=0)), cost(model, usage)
    if prompt is None or total is None:
        raise ValueError(f"The prices of {model.id} are not known; choose another model with --model.")
    return Bill(usage, prompt, total)


async def _ask(model: AnthropicModel, request: Request) -> tuple[str, Usage]:
    text = ""
    async for event in model.stream(request):
        text += getattr(event, "text", "")
        if isinstance(event, Finished):
            return text, event.usage
    raise RuntimeError("The answer ended without its last event.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench condense_cost", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--tokens", type=int, default=150_000, help="size of the conversation (default: 150000)")
    parser.add_argument("--model", default="claude-sonnet-4-5", help="whose prices (default: claude-sonnet-4-5)")
    options = parser.parse_args(argv)
    try:
        pairs = asyncio.run(measure(options.tokens, options.model))
    except (RooError, ValueError) as error:
        print(f"The bench condense_cost failed, nothing was measured. {error}", file=sys.stderr)
        return 1
    missed = [sentence for pair in pairs for sentence in pair.missed()]
    print(json.dumps(_json(pairs, missed)) if options.json else _text(pairs, missed))
    return 1 if missed else 0


def _json(pairs: Sequence[Pair], missed: Sequence[str]) -> dict[str, Any]:
    answers = [
        {
            "answer_tokens": pair.fresh.answer_tokens,
            "prompt_of_fresh": round(pair.prompt_of_fresh, 4),
            "total_of_fresh": round(pair.total_of_fresh, 4),
            "fresh": pair.fresh.as_json(),
            "cached": pair.cached.as_json(),
        }
        for pair in pairs
    ]
    return {"question": "condense_cost", "holds": not missed, "missed": missed, "answers": answers}


def _text(pairs: Sequence[Pair], missed: Sequence[str]) -> str:
    rows = [("answer", "shape", "billed", "forecast", "off", "prompt off", "from cache", "of fresh", "prompt of fresh")]
    for pair in pairs:
        for run, total, prompt in (
            (pair.fresh, "", ""),
            (pair.cached, f"{pair.total_of_fresh:.1%}", f"{pair.prompt_of_fresh:.1%}"),
        ):
            rows.append(
                (
                    f"{run.answer_tokens:,} tokens",
                    run.shape,
                    f"${run.billed.total_usd:.4f}",
                    f"${run.forecast.total_usd:.4f}",
                    f"{run.total_off:.1%}",
                    f"{run.prompt_off:.1%}",
                    f"{run.from_cache:.1%}",
                    total,
                    prompt,
                )
            )
    first = pairs[0].fresh
    far = [
        f"{run.shape} at {run.answer_tokens:,} tokens by {run.total_off:.0%}"
        for pair in pairs
        for run in (pair.fresh, pair.cached)
        if run.total_off > MOST_OFF
    ]
    return "\n".join(
        [
            f"One conversation of {first.tokens_before:,} tokens, warm in the provider's cache.",
            table(rows),
            f"The forecasts are not told the length: they expect {first.forecast.usage.output_tokens:,} tokens.",
            f"Forecasts of the total that are more than {MOST_OFF:.0%} off: {', '.join(far) or 'none'}.",
            *(
                missed
                or [
                    f"Every target holds: prompt forecast at most {MOST_OFF:.0%} off, at least {LEAST_FROM_CACHE:.0%} "
                    f"from the cache, cached prompt at most {MOST_OF_FRESH:.0%} of the fresh one."
                ]
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
