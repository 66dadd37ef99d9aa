"""The demo's model: offline, its words scripted (`demo_script`), streamed as a real model's would be."""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from roo_tui.domain.blocks import Block, Text, Thinking, ToolResult, ToolUse, result_text
from roo_tui.domain.requests import (
    BlockClosed,
    BlockDelta,
    BlockOpened,
    Finished,
    ModelEvent,
    ModelInfo,
    Request,
    Started,
)
from roo_tui.domain.usage import Usage
from roo_tui.llm.demo.position import is_condense_request, place_of
from roo_tui.llm.demo.script import NOT_SCRIPTED, TASKS, DemoReply, stopped_by
from roo_tui.llm.demo.summary import summary

SPEED = 200.0
_CHARACTERS_PER_TOKEN = 4
_PIECE = re.compile(r"\s*\S{1,8}|\s+")


class DemoModel:
    """A scripted model. `speed` is tokens of four characters a second; 0 streams without waiting."""

    def __init__(
        self,
        info: ModelInfo,
        *,
        speed: float = SPEED,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._info = info
        self._speed = speed
        self._sleep = sleep
        self._cached: list[str] = []

    @property
    def info(self) -> ModelInfo:
        """A small window, and prices made up so that costs can be seen."""
        return self._info

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream what the script says to this request. Never fails."""
        blocks = self._blocks(reply_to(request))
        prompt = self._charged(request)
        yield Started(prompt)
        for index, block in enumerate(blocks):
            yield BlockOpened(index, block.type, block.name if isinstance(block, ToolUse) else "")  # type: ignore[arg-type]
            for piece in _PIECE.findall(_text(block)):
                await self._sleep(len(piece) / _CHARACTERS_PER_TOKEN / self._speed if self._speed else 0)
                yield BlockDelta(index, piece)
            yield BlockClosed(index, block)
        stop = "tool_use" if isinstance(blocks[-1], ToolUse) else "end_turn"
        yield Finished(stop, prompt + Usage(output_tokens=_tokens("".join(map(_text, blocks)))))

    async def count_tokens(self, request: Request) -> int | None:
        """Return a quarter of the prompt's characters, which is what the demo reports as usage too."""
        return _tokens(_prompt_text(request))

    async def warm_up(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is nothing to give back."""

    def _charged(self, request: Request) -> Usage:
        """Return what the prompt costs: what the last one began with too is read from the cache, the rest written."""
        parts = list(_prompt_parts(request))
        same = next((i for i, (old, new) in enumerate(zip(self._cached, parts, strict=False)) if old != new), None)
        known = min(len(self._cached), len(parts)) if same is None else same
        self._cached = parts
        read = _tokens("".join(parts[:known]))
        return Usage(cache_read_tokens=read, cache_write_tokens=_tokens("".join(parts)) - read)

    def _blocks(self, reply: DemoReply) -> list[Block]:
        blocks: list[Block] = []
        if reply.thinking:
            blocks.append(Thinking(reply.thinking, "demo", self._info.provider, self._info.id))
        blocks.append(Text(reply.say))
        blocks += (ToolUse(f"demo_{secrets.token_hex(6)}", name, arguments) for name, arguments in reply.calls)
        return blocks


def reply_to(request: Request) -> DemoReply:
    """Return what the script says to a request."""
    if is_condense_request(request):
        return DemoReply(summary(request))
    place = place_of(request)
    steps = TASKS.get(place.task, ())
    if place.step >= len(steps):
        return NOT_SCRIPTED
    if place.failed:
        return stopped_by(place.failed)
    return steps[place.step].answer(place.results)


def _text(block: Block) -> str:
    """Return what streams of a block: its words, or the JSON of a call's input."""
    match block:
        case Text(text) | Thinking(text):
            return text
        case ToolUse():
            return json.dumps(dict(block.input), ensure_ascii=False)
        case ToolResult():
            return result_text(block)
        case _:
            return ""


def _prompt_text(request: Request) -> str:
    return "".join(_prompt_parts(request))


def _prompt_parts(request: Request) -> Iterator[str]:
    yield from request.system
    for tool in request.tools:
        yield tool.name + tool.description + json.dumps(dict(tool.schema))
    for message in request.messages:
        yield from map(_text, message.blocks)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
