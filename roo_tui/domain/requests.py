"""Requests to a model and the events that stream back. Provider-neutral; each adapter translates.

A stream is: `Started`, then per block `BlockOpened`, any `BlockDelta`s and `BlockClosed`, then `Finished`. An adapter
raises `ModelError` instead of `Finished` if the answer did not end properly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from roo_tui.domain.blocks import Block, Message
from roo_tui.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it. `schema` is the JSON schema of the input object."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    `system` holds text parts in order; the adapter puts a cache breakpoint after the last. `cache` asks for breakpoints
    after tools, system and the newest messages. `thinking` comes from the profile; an adapter leaves out what the model
    does not support.
    """

    messages: tuple[Message, ...]
    system: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    max_output: int = 8192
    temperature: float | None = None
    thinking: Literal["off", "adaptive"] = "off"
    cache: bool = True


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known about a model. Sizes are tokens; prices are US dollars per million tokens, None if unknown.

    A tier (prompt tokens, input, output, cache write, cache read) replaces the prices of a whole request whose prompt
    is longer than its first number. `token_factor` says how many of the model's tokens one o200k token makes until the
    calibration has learnt it. `known` is false for a model that neither the catalog nor the settings list.
    """

    id: str
    provider: str
    window: int = 200_000
    max_output: int = 8192
    input_usd: float | None = None
    output_usd: float | None = None
    cache_write_usd: float | None = None
    cache_read_usd: float | None = None
    tiers: tuple[tuple[int, float, float, float, float], ...] = ()
    token_factor: float = 1.5
    supports_images: bool = True
    supports_thinking: bool = False
    known: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """The provider accepted the request. `usage` is what it charges for the prompt so far."""

    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class BlockOpened:
    """A block begins. `name` is the called tool, empty for other blocks."""

    index: int
    type: Literal["text", "thinking", "tool_use", "other"]
    name: str = ""


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """More of a block: text, thinking text, or the partial JSON of a call's input."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockClosed:
    """A block is complete."""

    index: int
    block: Block


@dataclass(frozen=True, slots=True)
class Finished:
    """The answer is complete. `usage` holds the totals of the whole request."""

    stop_reason: str
    usage: Usage


ModelEvent = Started | BlockOpened | BlockDelta | BlockClosed | Finished
