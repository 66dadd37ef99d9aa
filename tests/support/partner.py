"""The model at the other end of a played sequence: answers as operations tell it, misbehaves as they wish.

Every request is checked against the API's rules; what it would have refused is kept in `refused`.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, Opaque, Text, Thinking, ToolUse
from roo_tui.domain.errors import ModelError
from roo_tui.domain.requests import Request
from tests.support.scripted_model import SUMMARY, Answer, Reply, ScriptedModel, asks_for_summary, overflow
from tests.support.sequences import Fault, Said, Size

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
class Partner(ScriptedModel):
    """One model, for conversation and summaries alike, that charges `factor` times what we count.

    `fault` is what summaries suffer from (`faults` counts which did), `too_long` how many requests are refused as too
    long (`overflows` counts which were).
    """

    counter: TokenCounter = field(default_factory=TokenCounter)
    factor: float = 1.0
    fault: Fault = ""
    too_long: int = 0
    overflows: int = 0
    refused: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    _number: int = 0

    def __post_init__(self) -> None:
        count = self.counter.count_request
        self.tokens = lambda request: round(self.factor * count(request.system, request.tools, request.messages))
        self.written = lambda blocks: round(self.factor * self.counter.count_blocks(blocks))

    def say_next(self, answers: Sequence[Sequence[Said | Literal["silence"]]]) -> None:
        """Answer the next requests of a conversation with these."""
        self.answers = [self._reply(answer) for answer in answers]

    def check(self, broken: list[str]) -> None:
        self.refused += broken
        if broken:
            raise ModelError("; ".join(broken), status=400, code="invalid_request_error")

    def answer(self, request: Request) -> Answer:
        tokens, summary = self.tokens(request), asks_for_summary(request)
        if tokens > self.info.window or (self.too_long and not summary):
            self.too_long = max(0, self.too_long - 1)
            self.overflows += 1
            return self._too_long(tokens)
        if summary:
            self.faults[self.fault] += 1
            return self._summary(tokens)
        return self.answers.pop(0) if self.answers else self._reply((Said("text"),))

    def _summary(self, tokens: int) -> Answer:
        match self.fault:
            case "500":
                return ModelError("The service failed.", status=500, retryable=True)
            case "too long":
                return self._too_long(tokens)
            case "timeout":
                error = ModelError("The request timed out.", status=504, code="timeout_error", retryable=True)
                return Reply("Half of ", error=error)
            case "cancel":
                return _silent("Half of ")
            case "empty":
                return " \n"
            case "tool call":
                return ToolUse("toolu_x", "read_file", {"path": "small.txt"})
            case "longer":
                return SUMMARY + " again and again" * tokens
            case "no summary":
                return "Sure, what shall I do?"
            case "refusal":
                return Reply(SUMMARY, stop_reason="refusal")
            case "cut":
                return Reply(SUMMARY, cut=True)
            case _:
                return SUMMARY

    def _too_long(self, tokens: int) -> ModelError:
        return overflow(max(tokens, self.info.window + 1), self.info.window)

    def _reply(self, answer: Sequence[Said | Literal["silence"]]) -> Answer:
        blocks = [self._block(said) for said in answer if said != "silence"]
        if "silence" not in answer:
            return blocks
        return _silent([*blocks, Text("Half of a")]) if blocks else _silent(None)

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


def _silent(before: str | list[Block] | None) -> Reply:
    """Return a reply that falls silent; when the silence is ended, the connection is lost."""
    lost = ModelError("The connection was lost.", retryable=True)
    return Reply(before, until=asyncio.Event(), error=lost)
