"""Build the JSON body of a Messages API call from a request."""

import json
from collections.abc import Mapping
from typing import Any

from roo_tui.domain.blocks import Block, Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.requests import ModelInfo, Request
from roo_tui.plain_text import well_formed

Json = dict[str, Any]

_BREAKPOINT = {"type": "ephemeral"}
# The API refuses breakpoints on thinking blocks. Opaque blocks are sent back unchanged.
_CACHEABLE = frozenset({"text", "image", "tool_use", "tool_result"})


def message_body(request: Request, info: ModelInfo) -> bytes:
    """Return the UTF-8 body of a streamed `POST /v1/messages`.

    It has up to four cache breakpoints: the last tool, the last system part, and the last block of each of the two
    newest user messages.
    """
    body = _prompt(request, info)
    body["max_tokens"] = request.max_output
    body["stream"] = True
    if request.temperature is not None and "thinking" not in body:
        # The API accepts no temperature together with thinking.
        body["temperature"] = request.temperature
    return _encoded(body)


def count_body(request: Request, info: ModelInfo) -> bytes:
    """Return the UTF-8 body of `POST /v1/messages/count_tokens`."""
    return _encoded(_prompt(request, info))


def _prompt(request: Request, info: ModelInfo) -> Json:
    messages = [message for given in request.messages if (message := _message(given, info))["content"]]
    system = [{"type": "text", "text": part} for part in request.system if part.strip()]
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
        for tool in request.tools
    ]
    if request.cache:
        _add_breakpoints(tools, system, messages)
    body: Json = {"model": info.id, "messages": messages}
    if system:
        body["system"] = system
    if tools:
        body["tools"] = tools
    if request.thinking == "adaptive" and info.supports_thinking:
        body["thinking"] = {"type": "adaptive"}
    return body


def _message(message: Message, info: ModelInfo) -> Json:
    blocks = (_block(block, info) for block in message.blocks)
    return {"role": message.role, "content": [block for block in blocks if block is not None]}


def _block(block: Block, info: ModelInfo) -> Json | None:
    """Return the block in the API's form, None if it may not be sent to this model."""
    match block:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Image(media_type, data):
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case ToolUse(id_, name, input_):
            return {"type": "tool_use", "id": id_, "name": name, "input": dict(input_)}
        case ToolResult():
            return _tool_result(block, info)
        case Thinking(text, signature, provider, model):
            is_own = signature and (provider, model) == (info.provider, info.id)
            return {"type": "thinking", "thinking": text, "signature": signature} if is_own else None
        case Opaque(provider, model, payload):
            return dict(payload) if (provider, model) == (info.provider, info.id) else None


def _tool_result(result: ToolResult, info: ModelInfo) -> Json:
    content: str | list[Json]
    if isinstance(result.content, str):
        content = result.content
    else:
        content = [part for given in result.content if (part := _block(given, info)) is not None]
    body: Json = {"type": "tool_result", "tool_use_id": result.tool_use_id, "content": content}
    if result.is_error:
        body["is_error"] = True
    return body


def _add_breakpoints(tools: list[Json], system: list[Json], messages: list[Json]) -> None:
    newest = [message["content"] for message in messages if message["role"] == "user"][-2:]
    for blocks in (tools, system, *newest):
        cacheable = [block for block in blocks if block.get("type", "text") in _CACHEABLE]
        if cacheable:
            cacheable[-1]["cache_control"] = _BREAKPOINT


def _encoded(body: Json) -> bytes:
    # Message by message, because the encoder holds the interpreter lock and other threads must run in between.
    rest = {name: value for name, value in body.items() if name != "messages"}
    messages = ",".join(_json(message) for message in body["messages"])
    return f'{_json(rest)[:-1]},"messages":[{messages}]}}'.encode()


def _json(value: Json) -> str:
    return well_formed(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")
