"""Recognise provider errors about a request: too long, too long an answer, or a content that is not accepted."""

import re
from dataclasses import dataclass
from typing import Literal

from roo_tui.domain.errors import ModelError

# Codes with no other meaning. Sources: OpenAI and compatible services, Cerebras, Groq, llama.cpp, Anthropic.
_CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "exceed_context_size_error",
        "request_too_large",
    }
)
_STATUSES = frozenset({0, 200, 400, 413, 422})
# A 413 without figures is about bytes, so no window contradicts it. It is believed from about 80 kB, since some servers
# accept no more than 100 kB.
_MANY_BYTES_TOKENS = 20_000
# An error may quote the request it refuses.
_READ = 4_000

_NUMBER = r"(\d[\d,_]*)"
# Each service words its error differently. Group `n` is the request's tokens, group `m` the window.
_STATED = tuple(
    re.compile(pattern.replace("#N", f"(?P<n>{_NUMBER})").replace("#M", f"(?P<m>{_NUMBER})"), re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"context limit: #N(?: \+ (?P<output>\d+))? > #M",
        r"#N tokens > #M",
        r"(?:context|prompt) length (?:is|of) #M\D{1,160}?#N (?:\w+ )?tokens",
        r"(?:context|prompt) length (?:is|of) #M.{0,120}?(?:resulted in|requested|contains)\D{0,20}#N",
        r"input token count \(?#N\)? exceeds .{0,60}?\(?#M\)?\.?",
        r"current length is #N while limit is #M",
        r"contains #N tokens.{0,60}?#M maximum context",
        r"request \(#N tokens\) exceeds the available context size \(#M tokens\)",
        r"#N tokens.{0,40}?exceeds? .{0,60}?(?:context|limit|maximum)\D{0,40}#M",
        r"available context size \(#M tokens\)",
        r"maximum context length is #M",
    )
)
_TOO_LONG = re.compile(
    r"prompt is too long"
    r"|\b(?:input|prompt|request|context|conversation|messages?)\b[^.]{0,40}\btoo (?:long|large)\b"
    r"|context[\s_-]*(?:length|window|size|limit)"
    r"|(?:exceeds?|exceeded|over)\b[^.]{0,40}\bcontext\b|\bcontext\b[^.]{0,40}\bexceed"
    r"|input token count|prompt length is"
    r"|too many (?:input |prompt )?tokens?\b|(?:input|prompt)? ?tokens? (?:limit )?exceeded|\btoken limit\b"
    r"|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context|prompt is too long|prompt length|input token count|length of the (?:messages|prompt)", re.I
)
_OUTPUT_LIMIT = re.compile(
    r"max_(?:completion_|output_|new_)?tokens|(?:output|completion) tokens|max(?:imum)? output|output limit",
    re.IGNORECASE,
)
# Anthropic and compatible services; OpenAI.
_STATED_OUTPUT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"max_tokens: {_NUMBER} > {_NUMBER}, which is the maximum allowed number of output tokens",
        rf"max_(?:completion_)?tokens is too large: {_NUMBER}\D.{{0,40}}?at most {_NUMBER} completion tokens",
    )
)
# Codes of OpenAI and compatible services.
_PICTURE_CODES = frozenset(
    {"image_parse_error", "invalid_image", "invalid_image_format", "image_too_large", "unsupported_image_media_type"}
)
_PICTURE = re.compile(r"\b(?:images?|pictures?|pdfs?|documents?|media)\b", re.IGNORECASE)
_PLACE = re.compile(r"messages\.(\d+)\.content\.(\d+)(?:\.(?:tool_result\.)?content\.(\d+))?(?!\.cache_control)\b")
_MOST_SIDE = re.compile(rf"dimensions?[^.]{{0,60}}?\b{_NUMBER} pixels", re.IGNORECASE)
_MOST_BYTES = re.compile(rf"> {_NUMBER} bytes", re.IGNORECASE)
_RATE = re.compile(r"rate.?limit|per (?:minute|hour|day)|\b[TR]P[MD]\b|quota", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Overflow:
    """A provider's error that the request does not fit. `tokens` and `window` are the figures it states, or 0.

    `prompt_tokens` is what it counted of the request itself, without the answer that `tokens` may include.
    `believed` is false if our own count contradicts the error, which is then shown unchanged. From then on, a believed
    `window` is the model's.
    """

    tokens: int
    window: int
    believed: bool
    prompt_tokens: int = 0


@dataclass(frozen=True, slots=True)
class RefusedContent:
    """A provider's error about something other than tokens: a picture or document, the request's bytes, or a block.

    `place` is the block it names as message, block and part of a tool result (or None), as numbered in the request.
    `most_side` and `most_base64` are the limits it states for one picture, or 0. `reason` is what it said.
    """

    what: Literal["pictures", "bytes", "block"]
    reason: str
    place: tuple[int, int, int | None] | None = None
    most_side: int = 0
    most_base64: int = 0


def refused_content(error: ModelError) -> RefusedContent | None:
    """Return which content a provider does not accept, None for every other error."""
    text = f"{str(error)[:_READ]}\n{error.body[:_READ]}"
    if error.status not in _STATUSES or _RATE.search(text) or any(_stated(text)):
        return None
    found = _PLACE.search(text)
    place = (int(found[1]), int(found[2]), int(found[3]) if found[3] else None) if found else None
    reason = str(error)[:_READ]
    if error.code in _PICTURE_CODES or _PICTURE.search(text):
        side, size = _MOST_SIDE.search(text), _MOST_BYTES.search(text)
        return RefusedContent(
            "pictures", reason, place, _number(side[1]) if side else 0, _number(size[1]) if size else 0
        )
    if error.status == 413 or error.code == "request_too_large":
        return RefusedContent("bytes", reason)
    return RefusedContent("block", reason, place) if place and not _is_overflow(error, text) else None


def recognise(error: ModelError, our_tokens: int, window: int) -> Overflow | None:
    """Return what a context-window error states, None for every other error.

    `our_tokens` is our count of the request, `window` the window known so far. The error is believed if we count at
    least half of the window it states, or half of the known window if it states none; a 413 without figures also
    from 20,000 tokens. Errors about output tokens or rate limits are not context-window errors.
    """
    text = f"{str(error)[:_READ]}\n{error.body[:_READ]}"
    if not _is_overflow(error, text):
        return None
    tokens, stated, prompt = _stated(text)
    believed = our_tokens * 2 >= (stated or window)
    if error.status == 413 and not stated:
        believed |= our_tokens >= _MANY_BYTES_TOKENS
    return Overflow(tokens, stated, believed, prompt)


def stated_output_limit(error: ModelError) -> int:
    """Return the most tokens an answer may have if an error says that the request asked for more, else 0."""
    text = f"{str(error)[:_READ]}\n{error.body[:_READ]}"
    for pattern in _STATED_OUTPUT if error.status in _STATUSES else ():
        if found := pattern.search(text):
            asked, most = map(_number, found.groups())
            return most if most < asked else 0
    return 0


def _is_overflow(error: ModelError, text: str) -> bool:
    if error.code in _CODES and error.status != 429:
        return True
    if error.status not in _STATUSES or _RATE.search(text):
        return False
    if _OUTPUT_LIMIT.search(text) and not _CONTEXT.search(text):
        return False
    return error.status == 413 or _TOO_LONG.search(text) is not None


def _stated(text: str) -> tuple[int, int, int]:
    """Return the tokens and the window an error states, and the tokens of the prompt alone where it tells them.

    All are 0 if it states no window, or one that is large enough.
    """
    for pattern in _STATED:
        if found := pattern.search(text):
            groups = found.groupdict()
            prompt, output = _number(groups.get("n")), _number(groups.get("output"))
            window = _number(groups["m"])
            if window > 0 and (prompt + output == 0 or prompt + output > window):
                # What was "requested" may include the answer.
                return prompt + output, window, 0 if "requested" in found[0].lower() else prompt
    return 0, 0, 0


def _number(digits: str | None) -> int:
    return int(digits.replace(",", "").replace("_", "")) if digits else 0
