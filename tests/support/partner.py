"""The model at the other end of a played sequence: answers as operations tell it, misbehaves as they wish.

Every request is checked against the API's rules; what it would have refused is kept in `refused`.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, Opaque, Text, Thinking, ToolUse
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
from tests.support.scripted_model import SUMMARY
from tests.support.sequences import Answer, Fault, Said, Size

_SENTENCE = "The quick brown fox jumps over the lazy dog near the quiet river bank. "
_REPEATS: dict[str, int] = {"small": 1, "medium": 20, "large": 90}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "read small": ("read_file", {"path": "small.txt"}),
    "read large": ("read_file", {"path": "large.txt"}),
    "picture": ("read_file", {"path": "picture.png"}),
    "missing": ("read_file", {"path": "nowhere.txt"}),
    "unknown": ("teleport", {"to": "the moon"}),
    "todo": ("update_todo_list", {"todos": "[ ] open\n[x] done"}),
    "write": ("write_to_file", {"path": "made.txt", "content": "made\n" * 30}),
    "odd": ("odd.name", {"path\ud800": float("inf"), "": ["\udfff"]}),
    "question": ("ask_followup_question", {"question": "Which?", "follow_up": ["this", "that"]}),
}
_ODD_IDS = ("t1", "call.4|x", "")


def words(size: Size, number: int, window: int) -> str:
    """Return a text of this size; the number makes it one of its kind. A giant one is longer than the window."""
    if size == "blank":
        return " \n"
    repeats = _REPEATS.get(size) or window // 10
    return f"Part {number}: " + _SENTENCE * repeats


@dataclass
class Partner:
    """One model, for conversation and summaries alike.

    `answers` are what the next requests of a conversation get, then it says a few words; `fault` is what summaries
    suffer from (`faults` counts which did), `too_long` how many requests are refused as too long. `waiting` says that
    it has fallen silent.
    """

    info: ModelInfo
    counter: TokenCounter
    factor: float = 1.0
    answers: deque[Answer | str] = field(default_factory=deque)
    fault: Fault = ""
    too_long: int = 0
    waiting: bool = False
    refused: list[str] = field(default_factory=list)
    requests: int = 0
    summaries: int = 0
    overflows: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    hang_up: asyncio.Event = field(default_factory=asyncio.Event)
    _number: int = 0

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        self.requests += 1
        found = violations(request.messages, provider=self.info.provider, model=self.info.id)
        self.refused += found
        tokens = round(self.factor * self.counter.count_request(request.system, request.tools, request.messages))
        summary = _asks_for_summary(request)
        self.summaries += summary
        if found:
            raise ModelError("; ".join(found), status=400, code="invalid_request_error")
        if tokens > self.info.window or (self.too_long and not summary):
            self.too_long = max(0, self.too_long - 1)
            self.overflows += 1
            raise self._too_long(tokens)
        events = self._summary(tokens) if summary else self._answer(tokens)
        async for event in events:
            yield event

    async def _summary(self, tokens: int) -> AsyncIterator[ModelEvent]:
        self.faults[self.fault] += 1
        match self.fault:
            case "500":
                raise ModelError("The service failed.", status=500, retryable=True)
            case "too long":
                raise self._too_long(tokens)
        yield Started(Usage(input_tokens=tokens))
        match self.fault:
            case "timeout":
                yield BlockOpened(0, "text")
                yield BlockDelta(0, "Half of ")
                raise ModelError("The request timed out.", status=504, code="timeout_error", retryable=True)
            case "cancel":
                yield BlockOpened(0, "text")
                yield BlockDelta(0, "Half of ")
                await self._silence()
        blocks: tuple[Block, ...] = (Text(SUMMARY),)
        match self.fault:
            case "empty":
                blocks = (Text(" \n"),)
            case "tool call":
                blocks = (ToolUse("toolu_x", "read_file", {"path": "small.txt"}),)
            case "longer":
                blocks = (Text(SUMMARY + " again and again" * tokens),)
            case "no summary":
                blocks = (Text("Sure, what shall I do?"),)
        async for event in _streamed(blocks):
            yield event
        if self.fault != "cut":
            stop = "refusal" if self.fault == "refusal" else "end_turn"
            yield Finished(stop, Usage(input_tokens=tokens, output_tokens=100))

    async def _answer(self, tokens: int) -> AsyncIterator[ModelEvent]:
        answer = self.answers.popleft() if self.answers else (Said("text"),)
        if answer == "silence":
            await self._silence()
        yield Started(Usage(input_tokens=tokens))
        silent = answer and answer[-1] == "silence"
        blocks = self._blocks(answer[:-1] if silent else answer)  # type: ignore[arg-type]
        async for event in _streamed(blocks):
            yield event
        if silent:
            yield BlockOpened(len(blocks), "text")
            yield BlockDelta(len(blocks), "Half of a")
            await self._silence()
        written = round(self.factor * self.counter.count_blocks(blocks))
        stop = "tool_use" if any(isinstance(block, ToolUse) for block in blocks) else "end_turn"
        yield Finished(stop, Usage(input_tokens=tokens, output_tokens=written))

    def _too_long(self, tokens: int) -> ModelError:
        words = f"prompt is too long: {max(tokens, self.info.window + 1)} tokens > {self.info.window} maximum"
        return ModelError(words, status=400, code="invalid_request_error")

    async def _silence(self) -> None:
        """Say nothing more, until `hang_up` is set: the connection is lost then."""
        self.waiting = True
        self.hang_up.clear()
        try:
            await self.hang_up.wait()
        finally:
            self.waiting = False
        raise ModelError("The connection was lost.", retryable=True)

    def _blocks(self, answer: Answer) -> tuple[Block, ...]:
        return tuple(self._block(said) for said in answer)

    def _block(self, said: Said) -> Block:
        self._number += 1
        if said.what == "text":
            return Text(words(said.size, self._number, self.info.window))
        if said.what in ("signed", "unsigned"):
            signature = "signed" if said.what == "signed" else ""
            return Thinking(f"Thought {self._number}.", signature, self.info.provider, self.info.id)
        if said.what == "redacted":
            return Opaque(self.info.provider, self.info.id, {"type": "redacted_thinking", "data": "x"})
        name, arguments = CALLS[said.what]
        call_id = _ODD_IDS[self._number % len(_ODD_IDS)] if said.odd else f"call_{self._number}"
        return ToolUse(call_id, name, arguments)

    async def count_tokens(self, request: Request) -> int | None:
        return None

    async def warm_up(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is no connection."""


def _asks_for_summary(request: Request) -> bool:
    if not request.tools:
        return True
    guard = render("condense/guard")
    last = (message for message in request.messages[-3:] if message.role == "user")
    return any(isinstance(block, Text) and block.text.startswith(guard) for message in last for block in message.blocks)


async def _streamed(blocks: Sequence[Block]) -> AsyncIterator[ModelEvent]:
    for index, block in enumerate(blocks):
        kind = block.type if isinstance(block, Text | Thinking | ToolUse) else "other"
        yield BlockOpened(index, kind, block.name if isinstance(block, ToolUse) else "")
        if isinstance(block, Text | Thinking):
            yield BlockDelta(index, block.text)
        yield BlockClosed(index, block)
