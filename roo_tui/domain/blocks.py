"""Content blocks and messages, the units exchanged with a model.

Shapes follow the Messages API. A block that belongs to an entry never changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from roo_tui.domain.tagged import TaggedBy

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text. It may be empty in an imported log; requests leave empty texts out."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Image:
    """An image. `data` is base64; `width` and `height` are pixels, 0 if unknown."""

    media_type: str
    data: str
    width: int = 0
    height: int = 0
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A model's call of a tool. `id` is the call id that its result names."""

    id: str
    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    type: Literal["tool_use"] = "tool_use"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of one tool call. `content` is text, or text and image blocks."""

    tool_use_id: str
    content: "str | tuple[Text | Image, ...]" = ""
    is_error: bool = False
    type: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's reasoning. Sent back only with its `signature`, and only to the `model` that signed it."""

    text: str
    signature: str = ""
    provider: str = ""
    model: str = ""
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block that only one provider understands (redacted thinking, documents, server tools), kept unchanged."""

    provider: str
    model: str
    payload: Mapping[str, object]
    type: Literal["opaque"] = "opaque"


Block = Annotated[Text | Image | ToolUse | ToolResult | Thinking | Opaque, TaggedBy("type")]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request. `blocks` is never empty in a request."""

    role: Role
    blocks: tuple[Block, ...]


def tool_uses(blocks: tuple[Block, ...]) -> list[ToolUse]:
    """Return the tool calls among the blocks, in order."""
    return [block for block in blocks if isinstance(block, ToolUse)]


def tool_results(blocks: tuple[Block, ...]) -> list[ToolResult]:
    """Return the tool results among the blocks, in order."""
    return [block for block in blocks if isinstance(block, ToolResult)]


def plain_text_of(blocks: tuple[Block, ...]) -> str:
    """Return the text blocks, joined by blank lines; leave out every other kind."""
    return "\n\n".join(block.text for block in blocks if isinstance(block, Text) and block.text)


def result_text(result: ToolResult) -> str:
    """Return a result's text, with `[Image]` for each image."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(part.text if isinstance(part, Text) else "[Image]" for part in result.content)
