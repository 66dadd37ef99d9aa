"""Tokens: one counter for the context bar, the policy, rows and receipts, and its calibration for each model.

Counts are raw o200k_base tokens of the shipped vocabulary. `Calibration` learns from reported usage how many tokens of
a model one raw token makes.
"""

import base64
import binascii
import json
import lzma
import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

from roo_tui.domain.blocks import Block, Image, Opaque, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.requests import ModelInfo, ToolSpec
from roo_tui.domain.usage import Usage

if TYPE_CHECKING:
    import tiktoken

_Key = TypeVar("_Key")
_Count = TypeVar("_Count")

# tiktoken fails on a million blanks in a row. Counts of slices of this size differ from the whole by less than 0.01 %.
_SLICE = 100_000
_REMEMBERED = 50_000
_UNKNOWN_IMAGE = 300
_loading = threading.Lock()

# The pattern of o200k_base; source: tiktoken.
_PATTERN = "|".join(
    [
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    ]
)


class HasBlocks(Protocol):
    """Anything with content blocks: a `Message`, a `Visible`, an entry's body."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return the content blocks, in order."""
        ...


class TokenCounter:
    """Counts raw tokens and remembers the counts of texts. May be shared between threads.

    The first count loads the vocabulary (about 0.3 s and 80 MB). It counts about 20 MB/s without holding the
    interpreter's lock, so call it in a thread, except for short texts after `load`.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int], int] = {}
        self._calls: dict[int, tuple[ToolUse, int]] = {}

    def load(self) -> None:
        """Load the vocabulary now, so that the next count is fast."""
        _encoding()

    def count_text(self, text: str) -> int:
        """Return the tokens of a text. Special tokens in it count as ordinary text."""
        if not text:
            return 0
        key = (len(text), hash(text))
        count = self._counts.get(key)
        if count is None:
            encode = _encoding().encode_ordinary
            count = sum(len(encode(text[at : at + _SLICE])) for at in range(0, len(text), _SLICE))
            _forget_some(self._counts)
            self._counts[key] = count
        return count

    def count_block(self, block: Block) -> int:
        """Return the tokens of one block. An image has width x height / 750, or 300 if its size is unknown.

        Source: Messages API.
        """
        match block:
            case Text() | Thinking():
                return self.count_text(block.text)
            case Image():
                return _image_tokens(block)
            case ToolUse():
                return self._count_call(block)
            case ToolResult():
                if isinstance(block.content, str):
                    return self.count_text(block.content)
                return self.count_blocks(block.content)
            case Opaque():
                return self._count_opaque(block.payload)

    def _count_call(self, call: ToolUse) -> int:
        """Return the tokens of a call, remembered because writing its input as JSON is slow."""
        known, count = self._calls.get(id(call), (None, 0))
        if known is not call:
            count = self.count_text(call.name) + self.count_text(_json(call.input))
            _forget_some(self._calls)
            self._calls[id(call)] = (call, count)
        return count

    def count_blocks(self, blocks: Iterable[Block]) -> int:
        """Return the tokens of the blocks together."""
        return sum(self.count_block(block) for block in blocks)

    def count_messages(self, messages: Iterable[HasBlocks]) -> int:
        """Return the tokens of the messages' blocks together."""
        return sum(self.count_blocks(message.blocks) for message in messages)

    def count_request(
        self, system: Sequence[str], tools: Sequence[ToolSpec], messages: Iterable[HasBlocks] = ()
    ) -> int:
        """Return the tokens of a whole request: system prompt, tool definitions and messages."""
        definitions = sum(
            self.count_text(tool.name) + self.count_text(tool.description) + self.count_text(_json(tool.schema))
            for tool in tools
        )
        return sum(self.count_text(part) for part in system) + definitions + self.count_messages(messages)

    def _count_opaque(self, payload: Mapping[str, object]) -> int:
        source = payload.get("source")
        if isinstance(source, Mapping) and source.get("type") == "base64":
            # A file's bytes are not tokens. Its real count is known once the provider reports usage.
            return _UNKNOWN_IMAGE
        return self.count_text(_json(payload))


def _forget_some(remembered: dict[_Key, _Count]) -> None:
    """Remove the older half once the limit is reached."""
    if len(remembered) >= _REMEMBERED:
        for old in list(islice(remembered, _REMEMBERED // 2)):
            remembered.pop(old, None)


class Calibration:
    """How many of a model's tokens one raw token makes, by model id; starts at the model's `token_factor`."""

    _LOWEST, _HIGHEST = 0.5, 4.0
    # The ratio of a short prompt says more about the provider's additions than about its tokenizer.
    _LEAST_RAW = 500
    _WEIGHT = 0.3

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}

    def ratio(self, model: ModelInfo) -> float:
        """Return the factor from raw tokens to the model's tokens, between 0.5 and 4."""
        return self._ratios.get(model.id, self.clamped(model.token_factor))

    def learn(self, model: ModelInfo, raw: int, reported: int) -> None:
        """Learn from a request of `raw` tokens for which the provider reported `reported` prompt tokens.

        The first report replaces the starting value; later ones move it by three tenths of the difference.
        """
        if raw < self._LEAST_RAW or reported <= 0:
            return
        seen = self.clamped(reported / raw)
        known = self._ratios.get(model.id)
        self._ratios[model.id] = seen if known is None else known + self._WEIGHT * (seen - known)

    def correct(self, model: ModelInfo, raw: int, counted: int) -> None:
        """Believe at once what the provider counted of a request of `raw` tokens, because it refused it as too long."""
        if raw >= self._LEAST_RAW and counted > 0:
            self._ratios[model.id] = self.clamped(counted / raw)

    def to_json(self) -> dict[str, float]:
        """Return the learnt ratios by model id."""
        return dict(self._ratios)

    @classmethod
    def from_json(cls, data: object) -> "Calibration":
        """Return a calibration with the ratios that `to_json` returned; leave out entries that are not valid."""
        calibration = cls()
        if isinstance(data, Mapping):
            for model_id, ratio in data.items():
                if isinstance(model_id, str) and isinstance(ratio, int | float) and math.isfinite(ratio):
                    calibration._ratios[model_id] = cls.clamped(float(ratio))
        return calibration

    @classmethod
    def clamped(cls, ratio: float) -> float:
        """Return the ratio, limited to the range from 0.5 to 4."""
        return min(max(ratio, cls._LOWEST), cls._HIGHEST)


def context_tokens(reported: Usage | None, raw_after: int, ratio: float) -> int:
    """Return the tokens in the context window: the last reported usage plus the calibrated count of what came after it.

    Without a report, `raw_after` is the raw count of the whole request.
    """
    return (reported.context_tokens if reported else 0) + math.ceil(raw_after * ratio)


@cache
def _vocabulary() -> "tiktoken.Encoding":
    import tiktoken

    packed = files("roo_tui").joinpath("data/o200k_base.tiktoken.xz").read_bytes()
    ranks = {}
    for line in lzma.decompress(packed).splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    return tiktoken.Encoding("o200k_base_shipped", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _encoding() -> "tiktoken.Encoding":
    with _loading:
        return _vocabulary()


def _image_tokens(image: Image) -> int:
    width, height = (image.width, image.height) if image.width and image.height else image_size(image.data)
    return math.ceil(width * height / 750) if width and height else _UNKNOWN_IMAGE


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


_HEADER_BYTES = 256 * 1024
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_size(data: str) -> tuple[int, int]:
    """Return width and height in pixels of base64 PNG, JPEG or GIF data, or (0, 0) if they cannot be read.

    Reads only the first 256 kB; a JPEG's size follows its metadata.
    """
    try:
        head = base64.b64decode(data[: _HEADER_BYTES // 3 * 4], validate=False)
    except (binascii.Error, ValueError):
        return 0, 0
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return _jpeg_size(head) if head.startswith(b"\xff\xd8") else (0, 0)


def _jpeg_size(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        kind = head[at + 1]
        if kind in _JPEG_SIZES:
            return int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
        # 0xFF is padding, and a few segments have no length.
        at += 1 if kind == 0xFF else 2 if 0xD0 <= kind <= 0xD8 else 2 + int.from_bytes(head[at + 2 : at + 4])
    return 0, 0


def cost(info: ModelInfo, usage: Usage) -> float | None:
    """Return the cost of one request in US dollars, None if the model's price is unknown.

    A tier applies to the whole request once its prompt is longer than the tier says. Cache reads or writes whose price
    is unknown cost as much as other input.
    """
    if info.input_usd is None or info.output_usd is None:
        return None
    given, answered = info.input_usd, info.output_usd
    written = given if info.cache_write_usd is None else info.cache_write_usd
    read = given if info.cache_read_usd is None else info.cache_read_usd
    for prompt_tokens, *prices in sorted(info.tiers):
        if usage.prompt_tokens > prompt_tokens:
            given, answered, written, read = prices
    dollars = (
        usage.input_tokens * given
        + usage.output_tokens * answered
        + usage.cache_write_tokens * written
        + usage.cache_read_tokens * read
    )
    return dollars / 1_000_000
