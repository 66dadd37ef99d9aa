"""The request for a summary, in two shapes.

    fresh    its own system prompt, no tools, and the conversation with its tool blocks as text, so that any model can
             read any history
    cached   the conversation's system prompt, tools, thinking setting and messages, byte for byte, with the instruction
             at the end of the last user message, so that it is read from the provider's prompt cache

The cached shape is possible only if the request begins with the last one that was sent, that is, if the `prefix_hash`
of the last one is among the hashes of this one's beginnings.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from roo_tui.context.condense.preview import cached_usage, fresh_usage, is_warm, preview, summary_tokens
from roo_tui.context.history.as_text import as_text
from roo_tui.context.history.effective import Visible
from roo_tui.context.history.pairing import repair, sendable, with_user_blocks
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import (
    Block,
    Message,
    Text,
    ToolResult,
    ToolUse,
    tool_uses,
)
from roo_tui.domain.previews import CondensePreview, Shape
from roo_tui.domain.requests import ModelInfo, Request, ToolSpec
from roo_tui.domain.usage import Usage
from roo_tui.prompt_files import render


def fresh(
    hidden: Sequence[Visible], instruction: str, model: ModelInfo, max_output: int, *, images: bool = True
) -> Request:
    """Return the request of the fresh shape: the hidden messages, then the instruction as the final user message.

    Without `images`, or if the model does not support them, each becomes `[Image]`; documents always become text.
    """
    messages = repair(as_text(hidden, model.supports_images and images), provider=model.provider, model=model.id)
    return Request(
        messages=with_user_blocks(messages, (Text(instruction),)),
        system=(render("condense/system", guard=render("condense/guard")),),
        max_output=max_output,
        cache=False,
    )


def cached(hidden: Sequence[Visible], instruction: str, given: ReductionInput, max_output: int) -> Request:
    """Return the request of the cached shape; a warning not to call tools precedes the instruction."""
    model = given.model
    messages = repair(hidden, provider=model.provider, model=model.id)
    return Request(
        messages=with_user_blocks(messages, (Text(f"{render('condense/guard')}\n\n{instruction}"),)),
        system=given.system,
        tools=given.tools,
        max_output=max_output,
        temperature=given.temperature,
        thinking=given.thinking,
    )


def without_tools(request: Request, answer: Sequence[Block], model: ModelInfo) -> Request:
    """Return the request that follows an answer with tool calls: it refuses each call and asks again for a summary."""
    blocks = tuple(sendable(tuple(answer), "assistant", model.provider, model.id))
    said = tuple(block for block in blocks if not isinstance(block, ToolUse))
    calls = tool_uses(blocks)
    refusal = render("condense/no_tools")
    results = tuple(ToolResult(call.id, refusal, is_error=True) for call in calls)
    messages = (*request.messages, Message("assistant", (*said, *calls)), Message("user", results))
    return replace(request, messages=messages)


def prefix_hash(request: Request) -> str:
    """Return the hash of everything a prompt cache depends on: tools, system prompt, thinking, blocks in order."""
    *_, last = _prefixes(request)
    return last


def begins_with(request: Request, last_prefix: str) -> int | None:
    """Return how many blocks of the request were sent before, None if it does not begin with the last request."""
    if not last_prefix:
        return None
    return next((count for count, found in enumerate(_prefixes(request)) if found == last_prefix), None)


def _prefixes(request: Request) -> Iterator[str]:
    """Yield the hash of the request's beginning, before its first block and after each block."""
    running = hashlib.sha256()
    head = ([_tool(tool) for tool in request.tools], request.system, request.thinking)
    running.update(_json(head))
    yield running.hexdigest()
    for message in request.messages:
        for block in message.blocks:
            running.update(message.role.encode() + _json(asdict(block)))
            yield running.hexdigest()


def _tool(tool: ToolSpec) -> tuple[str, str, Mapping[str, object]]:
    return tool.name, tool.description, tool.schema


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), default=str).encode("utf-8", "surrogatepass") + b"\0"


def with_answer(request: Request, answer: str, reply: str) -> tuple[Message, ...]:
    """Return the request's messages, the answer it got, and the reply to that."""
    return (*request.messages, Message("assistant", (Text(answer),)), Message("user", (Text(reply),)))


def instruction(options: ContextOptions, instructions: str) -> str:
    """Return the text that asks for a summary: the custom or built-in prompt, and the instructions of this run."""
    text = options.condense_prompt.strip() or render("condense/request")
    if instructions.strip():
        text += "\n\n" + render("condense/instructions", instructions=instructions.strip())
    return text


MOST_OUTPUT = 20_000
LEAST_OUTPUT = 2_000
"""The most output tokens a summary may use, and the fewest that make a request worthwhile."""


@dataclass(frozen=True, slots=True)
class ShapedRequest:
    """A request in one shape, with its preview."""

    shape: Literal["fresh", "cached"]
    request: Request
    preview: CondensePreview


class RequestShapes:
    """Builds the possible requests for a summary of `hidden`, each with its preview.

    `instruction` asks for the summary; `raw_kept` are the raw tokens attached to it.
    """

    def __init__(
        self, given: ReductionInput, counter: TokenCounter, hidden: tuple[Visible, ...], instruction: str, raw_kept: int
    ) -> None:
        self._given = given
        self._counter = counter
        self._hidden = hidden
        self._instruction = instruction
        self._written = summary_tokens(given)
        shown = round(self._written / given.writer.ratio) + raw_kept
        self._after = given.after(counter.count_messages(hidden), shown)

    def fresh(self) -> ShapedRequest | None:
        """Return the fresh shape, without images if it fits only without them; None if it does not fit."""
        writer = self._given.writer
        for images in (True, False):
            request = fresh(self._hidden, self._instruction, writer.model, MOST_OUTPUT, images=images)
            prompt = round(writer.ratio * self._counter.count_request(request.system, (), request.messages))
            if (room := self._room(prompt)) is not None:
                usage = fresh_usage(prompt, min(self._written, room))
                return ShapedRequest("fresh", replace(request, max_output=room), self._preview("fresh", usage))
        return None

    def cached(self) -> ShapedRequest | None:
        """Return the cached shape, None if it would not be read from the cache or does not fit."""
        given, counter = self._given, self._counter
        if given.summariser is not None or not given.last_prefix:
            return None
        request = cached(self._hidden, self._instruction, given, MOST_OUTPUT)
        sent = begins_with(request, given.last_prefix)
        if sent is None:
            return None
        head = counter.count_request(request.system, request.tools)
        blocks = [block for message in request.messages for block in message.blocks]
        before = round(given.ratio * (head + counter.count_blocks(blocks[:sent])))
        prompt = round(given.ratio * (head + counter.count_blocks(blocks)))
        if (room := self._room(prompt)) is None:
            return None
        usage = cached_usage(prompt, before, min(self._written, room), is_warm(given))
        return ShapedRequest("cached", replace(request, max_output=room), self._preview("cached", usage))

    def staged(self, parts: int, usage_of: Callable[[int], Usage]) -> CondensePreview:
        """Return the preview of the staged shape; `usage_of` returns its usage for a summary of so many tokens."""
        return self._preview("staged", usage_of(self._written), parts + 1)

    def _room(self, prompt: int) -> int | None:
        """Return the tokens the answer may have, None if too few are left."""
        window = self._given.writer.window
        if prompt + min(LEAST_OUTPUT, window // 10) > window:
            return None
        most = max(LEAST_OUTPUT, min(MOST_OUTPUT, self._given.limits.reserved))
        return min(most, window - prompt)

    def _preview(self, shape: Shape, usage: Usage, model_calls: int = 1) -> CondensePreview:
        hidden = len(self._hidden)
        return preview(self._given, "native", self._after, usage, shape=shape, model_calls=model_calls, hidden=hidden)


def price(candidate: ShapedRequest) -> tuple[float, int]:
    """Return the key that orders candidates: the cost, then the tokens; those read from a cache count a tenth."""
    cost, usage = candidate.preview.cost_usd, candidate.preview.usage
    weight = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens // 10
    return (cost, weight) if cost is not None else (float("inf"), weight)
