"""Read a JSON list of Messages API messages as entry bodies."""

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roo_tui.domain.blocks import Block, Image, Opaque, Text, Thinking, ToolResult, ToolUse, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, Body, CallRecord, UserMessage
from roo_tui.domain.errors import ExchangeError
from roo_tui.store.exchange.tool_facts import call_facts

_PROVIDER = "anthropic"

# How texts begin that agents add to the user's message.
_ADDED = ("<environment_details>", "<system-reminder>")


def read_messages(path: Path) -> list[Body]:
    """Return the messages of a .json or .json.gz file, one body per message, in order; there is at least one.

    A message is `{role, content}` with a text or a list of blocks as content (Messages API); other fields are ignored.
    Blocks of unknown types become opaque blocks. Tool results are described by the name of the tool that was called.

    Raises:
        ExchangeError: the file cannot be read or is not such a list; the error names the message and block, from 0.
    """
    messages = read_json(path)
    if not isinstance(messages, list):
        raise ExchangeError(
            f"{path} contains {_json_kind(messages)} instead of a list of messages; nothing was imported."
        )
    if not messages:
        raise ExchangeError(f"{path} contains an empty list; there is nothing to import.")
    calls: dict[str, ToolUse] = {}
    bodies: list[Body] = []
    for index, message in enumerate(messages):
        try:
            bodies.append(_body(message, calls))
        except _Invalid as error:
            raise ExchangeError(f"{path}: message {index} {error}; nothing was imported.") from error
    return bodies


class _Invalid(ValueError):
    """A fault in a message, worded to follow the message's number."""


def read_json(path: Path) -> object:
    """Return the value in a JSON file, gzip-compressed or not.

    Raises:
        ExchangeError: the file cannot be read or is not JSON.
    """
    try:
        data = path.read_bytes()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ExchangeError(f"{path} is a damaged gzip file ({error}); use an undamaged copy.") from error
    except OSError as error:
        raise ExchangeError(f"{path} cannot be read: {error.strerror or error}.") from error
    try:
        value: object = json.loads(data.decode("utf-8-sig"))
        return value
    except (ValueError, RecursionError) as error:
        raise ExchangeError(f"{path} is not JSON ({error}); a list of messages is expected.") from error


def _body(message: object, calls: dict[str, ToolUse]) -> Body:
    """Return one message as a body. `calls` has the calls so far by id; the calls of this message are added."""
    if not isinstance(message, dict):
        raise _Invalid(f"is {_json_kind(message)} instead of an object")
    role = message.get("role")
    if role not in ("user", "assistant"):
        raise _Invalid(f"has the role {json.dumps(role)} instead of “user” or “assistant”")
    blocks = _blocks(message.get("content"))
    if role == "assistant":
        if tool_results(blocks):
            raise _Invalid("has the role “assistant” but contains a tool result, which only a “user” message can")
        calls.update((call.id, call) for call in tool_uses(blocks))
        return AssistantMessage(blocks)
    if tool_uses(blocks):
        raise _Invalid("has the role “user” but contains a tool use, which only an “assistant” message can")
    records = tuple(record_of(result, calls.get(result.tool_use_id)) for result in tool_results(blocks))
    return UserMessage(blocks, words=typed_text(blocks), source="import", calls=records)


def record_of(result: ToolResult, call: ToolUse | None) -> CallRecord:
    """Return what is known of a finished call; `call` is None if the file does not contain it."""
    if call is None:
        return CallRecord(result.tool_use_id, "")
    return CallRecord(call.id, call.name, call_facts(call, result))


def typed_text(blocks: tuple[Block, ...]) -> str:
    """Return the texts among the blocks that the user typed, without those that an agent added."""
    texts = [block.text for block in blocks if isinstance(block, Text)]
    return "\n\n".join(text for text in texts if text and not text.lstrip().startswith(_ADDED))


def _blocks(content: object) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise _Invalid(f"has {_json_kind(content)} as content instead of a text or a list of blocks")
    blocks = []
    for index, block in enumerate(content):
        if not isinstance(block, dict):
            raise _Invalid(f"has {_json_kind(block)} as block {index} instead of an object")
        try:
            blocks.append(block_of(block))
        except KeyError as error:
            raise _Invalid(f"has a {block['type']} block ({index}) without a valid {error}") from error
    return tuple(blocks)


def block_of(block: dict[str, Any]) -> Block:
    """Return one content block (Messages API); a block of an unknown type becomes an opaque block.

    Raises:
        KeyError: the named field is missing or has the wrong type.
    """
    match block.get("type"):
        case "text":
            return Text(_string(block, "text"))
        case "image" if _is_base64(block.get("source")):
            return _image(block)
        case "tool_use":
            values = block.get("input")
            if not isinstance(values, dict | None):
                raise KeyError("input")
            return ToolUse(_string(block, "id"), _string(block, "name"), values or {})
        case "tool_result":
            return ToolResult(
                _string(block, "tool_use_id"), _result_content(block.get("content")), block.get("is_error") is True
            )
        case "thinking":
            signature = block.get("signature")
            return Thinking(_string(block, "thinking"), signature if isinstance(signature, str) else "", _PROVIDER)
        case _:
            return Opaque(_PROVIDER, "", block)


def _result_content(content: object) -> str | tuple[Text | Image, ...]:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise KeyError("content")
    return tuple(_result_part(part) for part in content)


def _result_part(part: object) -> Text | Image:
    if isinstance(part, dict):
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            return Text(part["text"])
        if part.get("type") == "image" and _is_base64(part.get("source")):
            return _image(part)
    # A result can contain only texts and images, so other blocks are kept as their JSON.
    return Text(json.dumps(part, ensure_ascii=False))


def _is_base64(source: object) -> bool:
    return (
        isinstance(source, dict)
        and source.get("type") == "base64"
        and isinstance(source.get("media_type"), str)
        and isinstance(source.get("data"), str)
    )


def _image(block: Mapping[str, Any]) -> Image:
    return Image(block["source"]["media_type"], block["source"]["data"])


def _string(block: Mapping[str, Any], name: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise KeyError(name)
    return value


def _json_kind(value: object) -> str:
    names: dict[type, str] = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")
