"""A summarising model for tests: answers written down beforehand, requests kept, and a situation to condense from."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from roo_tui.context.history.effective import effective_history
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.window.policy import limits
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, Text, ToolUse
from roo_tui.domain.entries import Entry
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

MODEL = ModelInfo(
    "summariser", "scripted", window=100_000, max_output=8_000, input_usd=1.0, output_usd=10.0, token_factor=1.0
)

GOOD_SUMMARY = """<analysis>In order: asked, read, changed.</analysis>
<summary>
1. Primary request and intent: the work.
2. Key technical concepts: none.
3. Files & code sections: none.
4. Errors and fixes: none.
5. Problem solving: none.
6. All user messages: one.
7. Pending tasks: none.
8. Current work: it.
9. Optional next step: none.
</summary>"""


@dataclass
class Restart:
    """An attempt that streams `text` and then begins anew, as a retry after a cut connection does."""

    text: str


class Hang:
    """Begin to answer, then stay silent."""


Answer = str | ToolUse | Exception | Restart | Hang


@dataclass
class Summariser:
    """Plays `answers` in order; the last one is repeated. Every attempt reports 1,000 prompt tokens."""

    answers: Sequence[Answer] = (GOOD_SUMMARY,)
    requests: list[Request] = field(default_factory=list)
    stop_reason: str = "end_turn"
    began: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, request: Request) -> AsyncIterator[ModelEvent]:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        prompt = Usage(input_tokens=1_000)
        yield Started(prompt)
        if isinstance(answer, Hang):
            yield BlockOpened(0, "text")
            yield BlockDelta(0, "Half an answer")
            self.began.set()
            await asyncio.Event().wait()
        if isinstance(answer, Restart):
            yield BlockDelta(0, "void")
            yield BlockClosed(0, Text("void"))
            yield Started(prompt)
            answer = answer.text
        block: Block = answer if isinstance(answer, ToolUse) else Text(str(answer))
        yield BlockOpened(0, "tool_use" if isinstance(block, ToolUse) else "text")
        if isinstance(block, Text):
            yield BlockDelta(0, block.text)
        yield BlockClosed(0, block)
        yield Finished(self.stop_reason, Usage(input_tokens=1_000, output_tokens=100))

    def services(self, counter: TokenCounter, **values: Any) -> ReductionServices:
        return ReductionServices(ask=self.ask, counter=counter, **values)


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
