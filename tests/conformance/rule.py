"""The data's token rule as our counter, and the data's fake model as ours.

The words of the two prompts of a condense are not in the data: the data's stand-in is handed to the engine as the
user's own condense prompt, and our system prompt for summaries is counted as its stand-in.
"""

import json
import math
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import normpath
from typing import Any

from roo_tui.context.condense.file_outlines import outlines_of
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import Fold, ReductionServices
from roo_tui.context.window.tokens import HasBlocks, TokenCounter
from roo_tui.domain.blocks import Block, Image, Text, Thinking, ToolResult, ToolUse
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
    ToolSpec,
)
from roo_tui.domain.usage import Usage
from roo_tui.outline.signatures import outline
from tests.conformance import words
from tests.conformance.histories import Json

INSTRUCTION = "<<CONDENSE_PROMPT>>"
CANNOT_BE_CALLED = "This model cannot be called."
_SYSTEM = "<<SUMMARY_SYSTEM_PROMPT>>"
_IMAGE = 1200


class RuleCounter(TokenCounter):
    """A quarter of the characters, rounded up once for each message, system prompt and list of tools."""

    def count_text(self, text: str) -> int:
        return math.ceil(_length(text) / 4)

    def count_block(self, block: Block) -> int:
        return self.count_blocks((block,))

    def count_blocks(self, blocks: Iterable[Block]) -> int:
        return math.ceil(sum(map(_characters, blocks)) / 4)

    def count_messages(self, messages: Iterable[HasBlocks]) -> int:
        return sum(self.count_blocks(message.blocks) for message in messages)

    def count_request(
        self, system: Sequence[str], tools: Sequence[ToolSpec], messages: Iterable[HasBlocks] = ()
    ) -> int:
        definitions = [tool.schema for tool in tools]
        return (
            math.ceil(sum(map(_length, system)) / 4)
            + (self.count_text(_json(definitions)) if definitions else 0)
            + self.count_messages(messages)
        )


def tools_of(given: Json) -> tuple[ToolSpec, ...]:
    """Return the tools of a case; the schema is the whole definition, as the data counts it."""
    tools = (given.get("metadata") or {}).get("tools") or ()
    return tuple(ToolSpec(tool.get("function", {}).get("name", ""), "", tool) for tool in tools)


def options_of(given: Json, **changes: Any) -> ContextOptions:
    """Return the settings of a case: a blank prompt is the default one, for which the data has a stand-in."""
    custom = given.get("customCondensingPrompt") or ""
    return ContextOptions(condense_prompt=custom if custom.strip() else INSTRUCTION, fallback="truncation", **changes)


def fold_of(given: Json) -> Fold:
    """Return outlines of the case's files, by the function the engine's outliner calls."""
    files: Mapping[str, str] = given.get("files") or {}

    async def read(path: str) -> str:
        return files[normpath(path)]

    async def outlined(path: str, text: str) -> str:
        return outline(path, text)

    return outlines_of(read, outlined, KeyError)


@dataclass
class FakeModel:
    """Plays a case's handler: the same answer to each request."""

    handler: Json
    requests: list[Request] = field(default_factory=list)

    @property
    def info(self) -> ModelInfo:
        """A model whose price makes the tokens it reports cost what the handler says."""
        told = self._told()
        tokens, cost = told.get("inputTokens") or 0, told.get("totalCost") or 0
        images = bool(self.handler.get("supportsImages"))
        price = cost * 1_000_000 / tokens if tokens else 0.0
        return ModelInfo("fake", "", input_usd=price, output_usd=0.0, supports_images=images, token_factor=1.0)

    def services(self, given: Json, counter: TokenCounter) -> ReductionServices:
        return ReductionServices(ask=self.ask, counter=counter, fold=fold_of(given))

    async def ask(self, request: Request) -> AsyncIterator[ModelEvent]:
        if self.handler.get("no_create_message"):
            raise ModelError(CANNOT_BE_CALLED)
        self.requests.append(request)
        chunks = self.handler.get("chunks") or []
        raises = self.handler.get("raises")
        yield Started()
        for index, chunk in enumerate(chunks):
            if raises and index >= (raises.get("after") or 0):
                break
            if chunk["type"] in ("text", "reasoning"):
                kind = "text" if chunk["type"] == "text" else "thinking"
                text = chunk["text"]
                yield BlockOpened(index, "text" if kind == "text" else "thinking")
                yield BlockDelta(index, text)
                yield BlockClosed(index, Text(text) if kind == "text" else Thinking(text))
        if raises:
            raise self._error(raises)
        told = self._told()
        yield Finished("end_turn", Usage(told.get("inputTokens") or 0, 0, 0, told.get("outputTokens") or 0))

    def _told(self) -> Json:
        chunks = [chunk for chunk in self.handler.get("chunks") or [] if chunk["type"] == "usage"]
        return chunks[-1] if chunks else {}

    def _error(self, raises: Json) -> ModelError:
        body = raises.get("response") or raises.get("body")
        return ModelError(
            raises["message"],
            status=raises.get("status") or 0,
            code=raises.get("code") or "",
            body=json.dumps(body, indent=2) if body else "",
        )


def _characters(block: Block) -> int:
    match block:
        case Text():
            return _length(block.text)
        case Thinking():
            return len(block.text)
        case ToolUse():
            return len(block.name) + len(_json(block.input))
        case ToolResult(content=str() as text):
            return len(text)
        case ToolResult():
            return sum(_characters(part) for part in block.content if not isinstance(part, str))
        case Image():
            return _IMAGE
    return 0


def _length(text: str) -> int:
    if text == words.summary_system():
        return len(_SYSTEM)
    return len(INSTRUCTION if text.startswith(words.of_parts()) else text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
