"""A model whose answers are written down beforehand; it keeps every request, and answers none the API would refuse."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from roo_tui.domain.blocks import Block, Text, Thinking, ToolUse
from roo_tui.domain.errors import ModelError
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
from tests.support.api_rules import violations

SUMMARY = """<analysis>What happened, in order.</analysis>
<summary>
1. Primary request and intent: the work asked for.
2. Key technical concepts: none.
3. Files and code sections: none.
4. Errors and fixes: none.
5. Problem solving: none.
6. All user messages: all of them.
7. Pending tasks: none.
8. Current work: going on.
9. Optional next step: none.
</summary>"""

SCRIPTED = ModelInfo("scripted", "scripted", window=100_000, input_usd=1.0, output_usd=5.0, token_factor=1.0)


@dataclass
class Hang:
    """An answer that streams `before` and then stays silent; `reached` is set when it does."""

    before: str = "Half of a"
    reached: asyncio.Event = field(default_factory=asyncio.Event)


Answer = str | Block | Sequence[Block] | Exception | Hang | Callable[[Request], "Answer"]


def call(name: str, call_id: str = "", **arguments: object) -> ToolUse:
    """Return a tool call; the id is made from name and arguments unless given."""
    return ToolUse(call_id or f"call_{name}_{abs(hash(str(sorted(arguments.items())))) % 10**8}", name, arguments)


@dataclass
class ScriptedModel:
    """Plays `answers` in order, then says `Done.`; condense requests (no tools) get `summary` unless one is due.

    An answer may be words, blocks, an error to raise, a function of the request, or the string `"hang"` wrapped in
    `Hang` to stay silent after its text until cancelled.
    """

    answers: list[Answer] = field(default_factory=list)
    info: ModelInfo = SCRIPTED
    summary: Answer = SUMMARY
    requests: list[Request] = field(default_factory=list)
    tokens: Callable[[Request], int] | None = None

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        found = violations(request.messages, provider=self.info.provider, model=self.info.id)
        assert not found, found
        self.requests.append(request)
        answer = self.summary if not request.tools else self.answers.pop(0) if self.answers else "Done."
        while callable(answer) and not isinstance(answer, Hang):
            answer = answer(request)
        usage = Usage(input_tokens=self._count(request))
        if isinstance(answer, Exception):
            raise answer
        yield Started(usage)
        hang = isinstance(answer, Hang)
        blocks = _blocks(answer.before if isinstance(answer, Hang) else answer)
        for index, block in enumerate(blocks):
            yield BlockOpened(index, _kind(block), block.name if isinstance(block, ToolUse) else "")
            for piece in _pieces(block):
                yield BlockDelta(index, piece)
            if hang and index == len(blocks) - 1:
                break
            yield BlockClosed(index, block)
        if isinstance(answer, Hang):
            answer.reached.set()
            await asyncio.Event().wait()
        written = sum(len(piece) for block in blocks for piece in _pieces(block)) // 4
        stop = "tool_use" if any(isinstance(block, ToolUse) for block in blocks) else "end_turn"
        yield Finished(stop, Usage(usage.input_tokens, output_tokens=written))

    async def count_tokens(self, request: Request) -> int | None:
        return None

    async def warm_up(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def _count(self, request: Request) -> int:
        return self.tokens(request) if self.tokens else len(str(request)) // 4


def overflow(said: int, most: int) -> ModelError:
    """Return the error of a request that is too long."""
    return ModelError(f"prompt is too long: {said} tokens > {most} maximum", status=400, code="invalid_request_error")


def _blocks(answer: object) -> list[Block]:
    if isinstance(answer, str):
        return [Text(answer)]
    if isinstance(answer, Text | Thinking | ToolUse):
        return [answer]
    return list(answer)  # type: ignore[call-overload]


def _kind(block: Block) -> Literal["text", "thinking", "tool_use", "other"]:
    return block.type if isinstance(block, Text | Thinking | ToolUse) else "other"


def _pieces(block: Block) -> list[str]:
    match block:
        case Text(text=text) | Thinking(text=text):
            return [text[i : i + 12] for i in range(0, len(text), 12)]
        case _:
            return []
