"""Messages as text, so that any model and any search can read them."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from roo_tui.context.history.effective import Visible
from roo_tui.domain.blocks import Block, Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse, result_text
from roo_tui.prompt_files import render

_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning"})


def as_text(messages: Sequence[Visible], images: bool) -> list[Visible]:
    """Return the messages with every block as text; with `images`, images stay. Empty messages are left out."""
    return [
        Visible(message.entry_id, message.role, blocks, message.source)
        for message in messages
        if (blocks := tuple(_as_text(message.blocks, images)))
    ]


def without_pictures(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with `[Image]` in place of each image, and `[Document]` in place of each document."""
    return tuple(Message(message.role, tuple(map(_without_pictures, message.blocks))) for message in messages)


def _without_pictures(block: Block) -> Block:
    match block:
        case Image():
            return Text("[Image]")
        case ToolResult(content=tuple()):
            return replace(block, content=result_text(block))
        case Opaque(payload={"type": "document"}):
            return Text("[Document]")
        case _:
            return block


def tool_use_text(call: ToolUse) -> str:
    """Return a call as `[Tool Use: name]` and a `key: value` line for each argument. Source: Roo Code."""
    arguments = "\n".join(f"{key}: {_value(value)}" for key, value in call.input.items())
    return render("condense/tool_use", name=call.name, arguments=arguments)


def tool_result_text(result: ToolResult) -> str:
    """Return a result's text under `[Tool Result]` or `[Tool Result (Error)]`. Source: Roo Code."""
    return render("condense/tool_error" if result.is_error else "condense/tool_result", content=result_text(result))


def _as_text(blocks: Sequence[Block], images: bool) -> Iterator[Block]:
    for block in blocks:
        match block:
            case Text():
                yield block
            case ToolUse():
                yield Text(tool_use_text(block))
            case ToolResult():
                yield Text(tool_result_text(block))
            case Image():
                yield block if images else Text("[Image]")
            case Thinking():
                pass
            case Opaque(payload=payload):
                if payload.get("type") not in _REASONING:
                    yield Text(f"[{str(payload.get('type', 'block')).capitalize()}]")


def _value(value: object) -> str:
    match value:
        case str():
            return value
        case bool() | None:
            return json.dumps(value)
        case float():
            return _number(value)
        case int():
            return str(value)
        case _:
            return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _number(value: float) -> str:
    """Return a float in the format of JavaScript's String()."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if "e" in text and 1e-6 <= abs(value) < 1:
        return f"{Decimal(text):f}"
    return re.sub(r"e([+-])0+", r"e\1", text)
