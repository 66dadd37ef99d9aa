"""Translate the raw events of a Messages API stream into model events."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from roo_tui.domain.blocks import Block, Opaque, Text, Thinking, ToolUse
from roo_tui.domain.errors import ModelError
from roo_tui.domain.requests import BlockClosed, BlockDelta, BlockOpened, Finished, ModelEvent, Started
from roo_tui.domain.usage import Usage

Json = Mapping[str, Any]

# Stop reasons that may cut a call's input in the middle.
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})


@dataclass(slots=True)
class _OpenBlock:
    """A block still being streamed: `start` is the block of its first event, `parts` the text or JSON since then."""

    type: Literal["text", "thinking", "tool_use", "other"]
    start: Json
    parts: list[str] = field(default_factory=list)
    signature: str = ""


class AnswerAssembler:
    """Assembles one answer: pass every event to `take` in order, then call `end`.

    A call whose input is not a JSON object is never closed. If a limit cut the answer, the answer ends without that
    call; otherwise `end` raises.
    """

    def __init__(self, provider: str, model: str) -> None:
        self._provider = provider
        self._model = model
        self._open: dict[int, _OpenBlock] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason = ""
        self._broken_call = ""
        self._broken_input = ""
        self._stopped = False

    def take(self, event: Json) -> Iterator[ModelEvent]:
        """Yield the model events for a raw event; unknown types yield none."""
        match event["type"]:
            case "message_start":
                self._count(event["message"].get("usage"))
                yield Started(self._usage_so_far())
            case "content_block_start":
                yield from self._start(event["index"], event["content_block"])
            case "content_block_delta":
                yield from self._add(event["index"], event["delta"])
            case "content_block_stop":
                yield from self._stop(event["index"])
            case "message_delta":
                self._stop_reason = event["delta"].get("stop_reason") or self._stop_reason
                self._count(event.get("usage"))
            case "message_stop":
                self._stopped = True

    def end(self) -> Finished:
        """Return the last model event.

        Raises:
            ModelError: retryable; the stream was cut short, or a call's input was not a JSON object.
        """
        if not self._stopped or not self._stop_reason:
            raise ModelError(
                "The answer was cut off. Send the message again, or wait for the next attempt.",
                code="incomplete_stream",
                retryable=True,
            )
        if self._broken_call and self._stop_reason not in _CUT:
            raise ModelError(
                f"The model called {self._broken_call} with input that is not a JSON object. Send the message again.",
                code="malformed_tool_input",
                body=self._broken_input,
                retryable=True,
            )
        return Finished(self._stop_reason, self._usage_so_far())

    def _start(self, index: int, block: Json) -> Iterator[ModelEvent]:
        kind = block["type"]
        opened = _OpenBlock(kind if kind in ("text", "thinking", "tool_use") else "other", block)
        self._open[index] = opened
        yield BlockOpened(index, opened.type, block["name"] if opened.type == "tool_use" else "")
        if opened.type == "thinking":
            opened.signature = block.get("signature") or ""
        first = block.get(opened.type) if opened.type in ("text", "thinking") else ""
        if first:
            opened.parts.append(first)
            yield BlockDelta(index, first)

    def _add(self, index: int, delta: Json) -> Iterator[ModelEvent]:
        block = self._open[index]
        match delta["type"]:
            case "text_delta":
                text = delta["text"]
            case "thinking_delta":
                text = delta["thinking"]
            case "input_json_delta":
                text = delta["partial_json"]
            case "signature_delta":
                block.signature += delta["signature"]
                return
            case _:
                return
        if text:
            block.parts.append(text)
            if block.type != "other":
                yield BlockDelta(index, text)

    def _stop(self, index: int) -> Iterator[ModelEvent]:
        opened = self._open.pop(index)
        text = "".join(opened.parts)
        try:
            block = self._closed(opened, text)
        except ValueError:
            self._broken_call = opened.start.get("name") or opened.start["type"]
            self._broken_input = text
        else:
            yield BlockClosed(index, block)

    def _closed(self, opened: _OpenBlock, text: str) -> Block:
        start = opened.start
        match opened.type:
            case "text":
                return Text(text)
            case "thinking":
                return Thinking(text, opened.signature, self._provider, self._model)
            case "tool_use":
                return ToolUse(start["id"], start["name"], _object(text) if text else start.get("input") or {})
            case "other":
                payload = {**start, "input": _object(text)} if text else dict(start)
                return Opaque(self._provider, self._model, payload)

    def _count(self, usage: Json | None) -> None:
        """Replace earlier figures, since all are totals; a missing or null figure keeps its value."""
        for name, value in (usage or {}).items():
            if isinstance(value, int):
                self._usage[name] = value

    def _usage_so_far(self) -> Usage:
        usage = self._usage
        return Usage(
            input_tokens=usage.get("input_tokens", 0),
            cache_read_tokens=usage.get("cache_read_input_tokens", 0),
            cache_write_tokens=usage.get("cache_creation_input_tokens", 0),
            output_tokens=usage.get("output_tokens", 0),
        )


def _object(text: str) -> Json:
    value: object = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value
