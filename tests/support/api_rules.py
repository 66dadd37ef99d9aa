"""The Messages API's rules for a request's messages, restated as a checker for tests.

It knows nothing of how requests are built: it reads `domain.blocks` values and says what a provider would refuse.
"""

import json
import re
from collections.abc import Iterator, Sequence

from roo_tui.domain.blocks import Block, Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_HALF = re.compile("[\ud800-\udfff]")
_PICTURES = {"image/jpeg", "image/png", "image/gif", "image/webp"}


def violations(messages: Sequence[Message], *, provider: str = "", model: str = "") -> list[str]:
    """Return a sentence for each rule the messages break; none means that the request is accepted."""
    return list(_violations(messages, provider, model))


def _violations(messages: Sequence[Message], provider: str, model: str) -> Iterator[str]:
    if not messages:
        yield "at least one message is required"
        return
    if messages[0].role != "user":
        yield "the first message must be the user's"
    if messages[-1].role != "user":
        yield "the last message must be the user's: an answer cannot be begun for the model"
    asked: list[str] = []
    every_id: set[str] = set()
    previous = ""
    for number, message in enumerate(messages):
        if message.role == previous:
            yield f"message {number}: two {message.role} messages in a row are not merged"
        previous = message.role
        if not message.blocks:
            yield f"message {number}: is empty"
        for block in message.blocks:
            yield from (f"message {number}: {broken}" for broken in _block(block, message.role, provider, model))
        yield from (f"message {number}: {broken}" for broken in _pairs(message, asked))
        asked = [block.id for block in message.blocks if isinstance(block, ToolUse)]
        for call_id in asked:
            if call_id in every_id:
                yield f"message {number}: the id {call_id} is used twice"
            every_id.add(call_id)
        last = message.blocks[-1] if message.blocks else None
        if isinstance(last, Thinking) or (isinstance(last, Opaque) and last.payload.get("type") == "redacted_thinking"):
            yield f"message {number}: reasoning is its last block"
    if asked:
        yield f"calls at the end have no results: {asked}"


def _pairs(message: Message, asked: list[str]) -> Iterator[str]:
    answered: list[str] = []
    others_began = False
    for block in message.blocks:
        if not isinstance(block, ToolResult):
            others_began = True
            continue
        if others_began:
            yield f"the result of {block.tool_use_id} comes after other blocks"
        if block.tool_use_id not in asked:
            yield f"the result of {block.tool_use_id} has no call in the message before"
        if block.tool_use_id in answered:
            yield f"the call {block.tool_use_id} has two results"
        answered.append(block.tool_use_id)
    if missing := [call_id for call_id in asked if call_id not in answered]:
        yield f"no results for {missing}"


def _block(block: Block, role: str, provider: str, model: str) -> Iterator[str]:
    match block:
        case Text():
            yield from _text(block.text)
        case Image():
            if role != "user":
                yield "an image in an assistant message"
            if not block.data or block.media_type not in _PICTURES:
                yield f"an image that cannot be read ({block.media_type})"
        case ToolUse():
            if role != "assistant":
                yield "a tool use in a user message"
            if not _ID.fullmatch(block.id):
                yield f"the call id {block.id!r} is not plain"
            if not _TOOL_NAME.fullmatch(block.name):
                yield f"the tool name {block.name!r} is not plain"
            try:
                json.dumps(block.input, allow_nan=False, ensure_ascii=False).encode()
            except (ValueError, TypeError) as problem:
                yield f"the input of {block.id} is not JSON: {problem}"
        case ToolResult():
            if role != "user":
                yield "a tool result in an assistant message"
            yield from _result(block)
        case Thinking():
            if role != "assistant":
                yield "reasoning in a user message"
            if not block.signature:
                yield "reasoning without a signature"
            if (block.provider, block.model) != (provider, model):
                yield "reasoning that another model signed"
        case Opaque():
            if (block.provider, block.model) != (provider, model):
                yield "a block that only another provider understands"
            if block.payload.get("type") in (None, "text", "image", "tool_use", "tool_result", "thinking"):
                yield "an opaque block that hides an ordinary one"


def _result(block: ToolResult) -> Iterator[str]:
    if block.is_error and not block.content:
        yield "an error result without content"
    if isinstance(block.content, str):
        yield from _encodable(block.content)
        return
    for part in block.content:
        if isinstance(part, Text):
            yield from _text(part.text)
        elif block.is_error:
            yield "an image in an error result"
        else:
            yield from _block(part, "user", "", "")


def _text(text: str) -> Iterator[str]:
    if not text:
        yield "an empty text block"
    elif not text.strip():
        yield "a text block of nothing but white space"
    yield from _encodable(text)


def _encodable(text: str) -> Iterator[str]:
    if _HALF.search(text):
        yield "a text with half of a surrogate pair"
