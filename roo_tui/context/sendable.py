"""Blocks as a provider accepts them: what it would refuse is left out or made plain. Sources: Messages API."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from roo_tui.domain.blocks import Block, Image, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})

_ODD_IN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_PLAIN_ID = re.compile(r"[a-zA-Z0-9_-]+")
_PLAIN_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
# These have classes of their own and rules of pairing that an opaque block would escape.
_NEVER_OPAQUE = frozenset({"text", "image", "tool_use", "tool_result", "thinking"})
_USERS_OPAQUE = frozenset({"document", "search_result", "container_upload"})


def sendable(blocks: tuple[Block, ...], role: Role, provider: str, model: str) -> Iterator[Block]:
    """Yield the blocks that may be sent in this role to this model, in order; unchanged ones are the same objects.

    Left out: blank texts, blocks of the other role, unsigned reasoning, reasoning and opaque blocks of another model,
    images of a type no provider takes.
    """
    for block in blocks:
        match block:
            case Text():
                if not _is_blank(block.text):
                    yield _with_text(block)
            case Image():
                if role == "user" and _is_image(block):
                    yield block
            case ToolUse():
                if role == "assistant":
                    yield _call(block)
            case ToolResult():
                if role == "user":
                    yield _result(block)
            case Thinking():
                if role == "assistant" and block.signature and _is_of(block, provider, model):
                    yield block
            case Opaque():
                kind = block.payload.get("type")
                fits = (kind in _USERS_OPAQUE) == (role == "user") and kind not in _NEVER_OPAQUE
                if isinstance(kind, str) and fits and _is_of(block, provider, model):
                    yield block


def plain_id(call_id: str) -> str:
    """Return the id with the characters a provider refuses replaced by `_`; a plain one as it is."""
    return call_id if _PLAIN_ID.fullmatch(call_id) else _ODD_IN_ID.sub("_", call_id) or "call"


def _is_of(block: Thinking | Opaque, provider: str, model: str) -> bool:
    return bool(model) and (block.provider, block.model) == (provider, model)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _is_image(block: Image) -> bool:
    return bool(block.data) and block.media_type in IMAGE_TYPES


def _with_text(block: Text) -> Text:
    text = well_formed(block.text)
    return block if text is block.text else Text(text)


def _call(block: ToolUse) -> ToolUse:
    name = block.name if _PLAIN_NAME.fullmatch(block.name) else _ODD_IN_ID.sub("_", block.name)[:128] or "unknown"
    arguments = _json(block.input)
    if name is block.name and arguments is block.input:
        return block
    return replace(block, name=name, input=arguments)


def _result(block: ToolResult) -> ToolResult:
    """Return the result as it may be sent: an error is text only and says something."""
    content: str | tuple[Text | Image, ...]
    if isinstance(block.content, str):
        content = well_formed(block.content)
    else:
        parts = (_part(part, block.is_error) for part in block.content)
        content = tuple(part for part in parts if part is not None)
        if len(content) == len(block.content) and all(
            new is old for new, old in zip(content, block.content, strict=True)
        ):
            content = block.content
    if block.is_error and (not content or (isinstance(content, str) and _is_blank(content))):
        content = render("history/empty_error")
    elif not content:
        content = ""
    return block if content is block.content else replace(block, content=content)


def _part(part: Text | Image, is_error: bool) -> Text | Image | None:
    if isinstance(part, Text):
        return None if _is_blank(part.text) else _with_text(part)
    return part if _is_image(part) and not is_error else None


def _json(value: Any) -> Any:
    """Return the value as JSON can hold it: no lone surrogates, no NaN or infinity; unchanged ones as they are."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        pairs = {well_formed(str(key)): _json(item) for key, item in value.items()}
        same = all(key in pairs and pairs[key] is item for key, item in value.items())
        return value if same else pairs
    if isinstance(value, list | tuple):
        items = [_json(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
