"""A model whose answers are written down beforehand; it keeps every request, and answers none the API would refuse."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from roo_tui.domain.blocks import Block, Image, Opaque, Text, Thinking, ToolResult, ToolUse
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
from roo_tui.prompt_files import render
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

_MOST_DELTAS = 100

Content = str | Block | Sequence[Block]


@dataclass
class Reply:
    """An answer that takes a course of its own.

    `void` is streamed first, by an attempt that is then begun again, as a retry does. With `until` the last block stays
    open and nothing more comes until the event is set; `reached` is set when the silence begins. `error` is raised with
    the last block open. `content` None says nothing at all, and is not even charged for. `cut`: the end never comes.
    """

    content: Content | None = ""
    stop_reason: str = ""
    void: str = ""
    until: asyncio.Event | None = None
    error: Exception | None = None
    cut: bool = False
    reached: asyncio.Event = field(default_factory=asyncio.Event)


Answer = str | Block | Sequence[Block] | Exception | Reply | Callable[[Request], "Answer"]


def hang(before: Content = "Half of a") -> Reply:
    """Return an answer that says `before` and then stays silent until it is cancelled."""
    return Reply(before, until=asyncio.Event())


def in_order(*answers: Answer) -> Answer:
    """Return an answer that is the next of these each time; the last one is repeated."""
    left = list(answers)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


def overflow(said: int, most: int) -> ModelError:
    """Return the error of a request that is too long."""
    return ModelError(f"prompt is too long: {said} tokens > {most} maximum", status=400, code="invalid_request_error")


def call(name: str, call_id: str = "", **arguments: object) -> ToolUse:
    """Return a tool call; the id is made from name and arguments unless given."""
    return ToolUse(call_id or f"call_{name}_{abs(hash(str(sorted(arguments.items())))) % 10**8}", name, arguments)


def asks_for_summary(request: Request) -> bool:
    """Say whether a request is for a summary: without tools, or with the guard in its newest messages."""
    if not request.tools:
        return True
    guard = render("condense/guard")
    texts = (block for message in request.messages[-5:] if message.role == "user" for block in message.blocks)
    return any(isinstance(block, Text) and block.text.startswith(guard) for block in texts)


@dataclass
class ScriptedModel:
    """Plays `answers` in order, then says `Done.`; a request for a summary gets `summary`.

    `tokens` and `written` say what a request and an answer are charged for; about a token for four characters unless
    given. `silent` is the reply that has fallen silent.
    """

    answers: list[Answer] = field(default_factory=list)
    info: ModelInfo = SCRIPTED
    summary: Answer = SUMMARY
    tokens: Callable[[Request], int] = lambda request: len(str(request)) // 4
    written: Callable[[Sequence[Block]], int] = lambda blocks: sum(len(_streamed(block)) for block in blocks) // 4
    requests: list[Request] = field(default_factory=list)
    silent: Reply | None = None

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        self.check(violations(request.messages, provider=self.info.provider, model=self.info.id))
        answer = self.answer(request)
        while callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        async for event in self._played(reply, Usage(self.tokens(request))):
            yield event

    def check(self, broken: list[str]) -> None:
        """Refuse a request that breaks these rules of the API."""
        assert not broken, broken

    def answer(self, request: Request) -> Answer:
        """Return the answer that is due."""
        if asks_for_summary(request):
            return self.summary
        return self.answers.pop(0) if self.answers else "Done."

    async def _played(self, reply: Reply, prompt: Usage) -> AsyncIterator[ModelEvent]:
        blocks = () if reply.content is None else _blocks(reply.content)
        if reply.content is not None:
            yield Started(prompt)
        if reply.void:
            for event in _events(0, Text(reply.void)):
                yield event
            yield Started(prompt)
        unfinished = reply.until is not None or reply.error is not None
        for index, block in enumerate(blocks):
            *said, closed = _events(index, block)
            for event in said:
                yield event
            if unfinished and index == len(blocks) - 1:
                await self._end(reply)
            yield closed
        if unfinished and not blocks:
            await self._end(reply)
        if not reply.cut:
            stop = "tool_use" if any(isinstance(block, ToolUse) for block in blocks) else "end_turn"
            yield Finished(reply.stop_reason or stop, Usage(prompt.input_tokens, output_tokens=self.written(blocks)))

    async def _end(self, reply: Reply) -> None:
        if reply.until is not None:
            self.silent = reply
            reply.reached.set()
            try:
                await reply.until.wait()
            finally:
                self.silent = None
        if reply.error is not None:
            raise reply.error

    async def count_tokens(self, request: Request) -> int | None:
        return None

    async def warm_up(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is no connection."""


def _blocks(content: Content) -> tuple[Block, ...]:
    match content:
        case str():
            return (Text(content),)
        case Text() | Thinking() | ToolUse() | Image() | ToolResult() | Opaque():
            return (content,)
        case _:
            return tuple(content)


def _events(index: int, block: Block) -> list[ModelEvent]:
    kind: Literal["text", "thinking", "tool_use", "other"] = "other"
    if isinstance(block, Text | Thinking | ToolUse):
        kind = block.type
    text = _streamed(block)
    size = max(12, -(-len(text) // _MOST_DELTAS))
    return [
        BlockOpened(index, kind, block.name if isinstance(block, ToolUse) else ""),
        *(BlockDelta(index, text[at : at + size]) for at in range(0, len(text), size)),
        BlockClosed(index, block),
    ]


def _streamed(block: Block) -> str:
    return block.text if isinstance(block, Text | Thinking) else ""
