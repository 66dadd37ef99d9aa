"""What does a condense of a long conversation cost, fresh and cached, and how near is the forecast?

    python -m bench condense_cost [--json] [--tokens N] [--model ID] [--base-url URL]

One conversation is sent once (so that the provider has it in its cache), then condensed in both shapes at the same
prices. The provider is a loopback server that keeps a prompt cache block by block; `--base-url` names another one.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from bench.cache_server import CacheServer
from roo_tui.context.condense.request import prefix_hash
from roo_tui.context.condense.steps import ReductionInput, ReductionServices, condense
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.pairing import repair
from roo_tui.context.options import ContextOptions
from roo_tui.context.window.policy import limits
from roo_tui.context.window.tokens import Calibration, TokenCounter, cost
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallFacts, CallRecord, Entry, UserMessage
from roo_tui.domain.markers import Condense
from roo_tui.domain.requests import Finished, ModelEvent, Request
from roo_tui.domain.usage import Usage
from roo_tui.llm.anthropic_model import AnthropicModel
from roo_tui.llm.catalog import Catalog
from roo_tui.tools.registry import specs

MOST_OF_FRESH = 0.25
LEAST_FROM_CACHE = 0.95
MOST_OFF = 0.15

_SYSTEM = ("You are a coding agent. " * 40,)


@dataclass(frozen=True, slots=True)
class Shape:
    """One condense: what it used, what it cost and what was forecast, US dollars."""

    shape: str
    usage: Usage
    cost_usd: float
    forecast_usd: float
    tokens_before: int
    tokens_after: int

    @property
    def from_cache(self) -> float:
        """The part of the input that was read from the cache."""
        return self.usage.cache_read_tokens / max(1, self.usage.prompt_tokens)

    @property
    def off(self) -> float:
        """How far the forecast was from what was billed."""
        return abs(self.forecast_usd - self.cost_usd) / self.cost_usd


def conversation(tokens: int) -> tuple[Entry, ...]:
    """Return a path of about so many tokens (four characters each): a person, an agent, files read and changed."""
    bodies: list[Body] = [UserMessage((Text("Make the loader resumable; never touch `legacy/`."),))]
    characters = 0
    for number in range(10**6):
        if characters >= tokens * 4:
            break
        if number and number % 12 == 0:
            words = (
                f"Part {number // 12} looks right, thank you. Please go on with the shards of part {number // 12 + 1}."
            )
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


async def measure(tokens: int, model_id: str, base_url: str) -> dict[str, Any]:
    """Return the figures of one run as plain data."""
    info = Catalog.load().info("anthropic", model_id)
    counter, calibration = TokenCounter(), Calibration()
    async with AsyncExitStack() as stack:
        url = base_url or (await stack.enter_async_context(CacheServer())).url
        model = AnthropicModel(info, key="sk-bench", base_url=url)
        stack.push_async_callback(model.close)
        path = conversation(tokens)
        request = Request(
            repair(effective_history(path), provider=info.provider, model=info.id), _SYSTEM, specs(), max_output=1_000
        )
        answer, usage = await _ask(model, request)
        calibration.learn(info, counter.count_request(_SYSTEM, specs(), request.messages), usage.prompt_tokens)
        said = AssistantMessage((Text(answer),), provider=info.provider, model=info.id, usage=usage)
        path = (*path, Entry(path[-1].id + 1, path[-1].id, path[-1].id + 1, said))
        inputs = ReductionInput(
            path=path,
            system=_SYSTEM,
            tools=specs(),
            model=info,
            limits=limits(info),
            context_tokens=usage.context_tokens,
            ratio=calibration.ratio(info),
            trigger="manual",
        )
        fresh = await _condensed(inputs, model, counter)
        warm = replace(
            inputs,
            last_prefix=prefix_hash(request),
            idle_s=1.0,
            summary_tokens=fresh.figures.usage.output_tokens,
        )
        cached = await _condensed(warm, model, counter)
    return _figures(_shape(fresh), _shape(cached), cost(info, usage))


async def _condensed(inputs: ReductionInput, model: AnthropicModel, counter: TokenCounter) -> Condense:
    async def ask(request: Request) -> AsyncIterator[ModelEvent]:
        async for event in model.stream(request):
            yield event

    return await condense(inputs, ReductionServices(ask=ask, counter=counter), ContextOptions())


async def _ask(model: AnthropicModel, request: Request) -> tuple[str, Usage]:
    text = ""
    async for event in model.stream(request):
        text += getattr(event, "text", "")
        if isinstance(event, Finished):
            return text, event.usage
    raise RuntimeError("the answer ended without its last event")


def _shape(marker: Condense) -> Shape:
    figures = marker.figures
    assert figures.cost_usd is not None
    assert figures.forecast_usd is not None
    return Shape(
        figures.shape,
        figures.usage,
        figures.cost_usd,
        figures.forecast_usd,
        figures.tokens_before,
        figures.tokens_after,
    )


def _figures(fresh: Shape, cached: Shape, conversation_usd: float | None) -> dict[str, Any]:
    part = cached.cost_usd / fresh.cost_usd
    holds = {
        "shapes": (fresh.shape, cached.shape) == ("fresh", "cached"),
        "from_cache": cached.from_cache >= LEAST_FROM_CACHE,
        "cost": part <= MOST_OF_FRESH,
        "forecast": max(fresh.off, cached.off) <= MOST_OFF,
    }
    return {
        "question": "condense_cost",
        "holds": all(holds.values()),
        "held": holds,
        "tokens_before": cached.tokens_before,
        "tokens_after": cached.tokens_after,
        "cached_from_cache": round(cached.from_cache, 4),
        "cached_of_fresh": round(part, 4),
        "request_before_usd": conversation_usd,
        **{
            shape.shape: asdict(shape.usage)
            | {
                "cost_usd": round(shape.cost_usd, 6),
                "forecast_usd": round(shape.forecast_usd, 6),
                "forecast_off": round(shape.off, 4),
            }
            for shape in (fresh, cached)
        },
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement; returns 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench condense_cost", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--tokens", type=int, default=150_000, help="size of the conversation (default: 150000)")
    parser.add_argument("--model", default="claude-sonnet-4-5", help="whose prices (default: claude-sonnet-4-5)")
    parser.add_argument("--base-url", default="", help="another provider than the one on loopback")
    options = parser.parse_args(argv)
    found = asyncio.run(measure(options.tokens, options.model, options.base_url))
    print(json.dumps(found) if options.json else _text(found))
    return 0 if found["holds"] else 1


def _text(found: dict[str, Any]) -> str:
    shapes = [(shape, found[shape]) for shape in ("fresh", "cached") if shape in found]
    lines = [f"{found['tokens_before']:,} → {found['tokens_after']:,} tokens"]
    lines += [
        f"{shape:<8} ${values['cost_usd']:.4f}  forecast ${values['forecast_usd']:.4f} "
        f"({values['forecast_off']:.1%} off)  read from the cache {values['cache_read_tokens']:,} tokens"
        for shape, values in shapes
    ]
    lines.append(f"cached: {found['cached_from_cache']:.1%} from the cache, {found['cached_of_fresh']:.1%} of fresh")
    lines.append("holds" if found["holds"] else f"MISSED: {[name for name, held in found['held'].items() if not held]}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
