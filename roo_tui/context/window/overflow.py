"""Recognise provider errors about a request that is too long, or that asks for too long an answer."""

import re
from dataclasses import dataclass

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


def recognise(error: ModelError, our_tokens: int, window: int) -> Overflow | None:
    """Return what a context-window error states, None for every other error.

    `our_tokens` is our count of the request, `window` the window known so far. The error is believed if we count at
    least half of the window it states, or half of the known window if it states none. Errors about output tokens or
    rate limits are not context-window errors.
    """
    text = f"{str(error)[:_READ]}\n{error.body[:_READ]}"
    if not _is_overflow(error, text):
        return None
    tokens, stated, prompt = _stated(text)
    return Overflow(tokens, stated, our_tokens * 2 >= (stated or window), prompt)


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
