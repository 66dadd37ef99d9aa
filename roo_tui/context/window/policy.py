"""When a reduction is due: pure functions of numbers, shared by the engine, the context bar and the notice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, sqrt
from statistics import median
from typing import Literal

from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.markers import Condense
from roo_tui.domain.requests import ModelInfo
from roo_tui.plain_text import plural

Decision = Literal["nothing", "due", "over"]

LOWEST_THRESHOLD, HIGHEST_THRESHOLD = 5, 100
INHERIT = -1
UNKNOWN_MAX_OUTPUT = 8192
_UNKNOWN_WINDOW = 200_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one model with one profile, in tokens except for the percentage.

    `trigger_tokens` is the smallest count at which a condense is due. A request above `allowed_tokens` is not sent.
    `warnings` are sentences about settings that could not be used.
    """

    window: int
    reserved: int
    allowed_tokens: int
    threshold_percent: float
    trigger_tokens: int
    warnings: tuple[str, ...] = ()


def limits(
    info: ModelInfo,
    *,
    window: int = 0,
    max_output: int = 0,
    profile_percent: float = INHERIT,
    global_percent: float = HIGHEST_THRESHOLD,
) -> Limits:
    """Return the limits of a model.

    `window` and `max_output` are a profile's tokens, 0 for the model's own. `profile_percent` is 5 to 100, or -1 to
    inherit `global_percent`, which is clamped to 5 to 100. Source: Roo Code's context management.
    """
    warnings: list[str] = []
    window = window if window > 0 else info.window if info.window > 0 else _UNKNOWN_WINDOW
    reserved = reserved_output(info, window, max_output, warnings)
    allowed = allowed_tokens(window, reserved)
    percent = _threshold(profile_percent, global_percent, warnings)
    by_percent = math.ceil(Fraction(percent) * window / 100)
    trigger = max(0, min(by_percent, allowed + 1))
    return Limits(window, reserved, allowed, percent, trigger, tuple(warnings))


def decide(context_tokens: int, limits: Limits) -> Decision:
    """Return whether a reduction is due, or the request is over the allowed tokens."""
    if context_tokens > limits.allowed_tokens:
        return "over"
    return "due" if context_tokens >= limits.trigger_tokens else "nothing"


def notice_at(limits: Limits) -> int:
    """Return the context tokens at which the next condense is announced: 10 % of the window below the trigger."""
    return max(0, limits.trigger_tokens - limits.window // 10)


def reserved_output(info: ModelInfo, window: int, max_output: int, warnings: list[str]) -> int:
    """Return the tokens reserved for the next answer.

    The setting if there is one, else the model's maximum (8,192 if unknown), at most a fifth of the window. A setting
    that would leave less than a tenth of the window for the conversation is ignored, and a warning is added.
    """
    cap = math.ceil(window / 5)
    if max_output > 0:
        if allowed_tokens(window, max_output) >= window // 10:
            return max_output
        warnings.append(
            f"The maximum output of {max_output:,} tokens is too large for a context window of {window:,} tokens; "
            f"{cap:,} tokens are reserved instead. Set a smaller maximum output in the profile."
        )
        return cap
    return min(info.max_output if info.max_output > 0 else UNKNOWN_MAX_OUTPUT, cap)


def allowed_tokens(window: int, reserved: int) -> int:
    """Return the most context tokens a request may have: 90 % of the window minus the reserved output."""
    return window * 9 // 10 - reserved


def _threshold(profile_percent: float, global_percent: float, warnings: list[str]) -> float:
    if _is_number(global_percent):
        fallback = min(max(global_percent, LOWEST_THRESHOLD), HIGHEST_THRESHOLD)
    else:
        fallback = HIGHEST_THRESHOLD
        warnings.append(f"The condense threshold {global_percent!r} is not a percentage from 5 to 100; using 100.")
    if profile_percent == INHERIT:
        return fallback
    if _is_number(profile_percent) and LOWEST_THRESHOLD <= profile_percent <= HIGHEST_THRESHOLD:
        return profile_percent
    warnings.append(
        f"The profile's condense threshold {profile_percent!r} is not a percentage from 5 to 100 (or -1 for the "
        f"general threshold); using the general {fallback:g} %."
    )
    return fallback


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


SUMMARY_TOKENS = 2_500
USUAL_GROWTH = 2_000
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class AutoThreshold:
    """An automatic threshold: percent of the window, and one sentence that explains it."""

    percent: int
    sentence: str


def auto_threshold(info: ModelInfo, window: int, base_tokens: int, growth_tokens: int) -> AutoThreshold:
    """Return the threshold at which requests cost least.

    `base_tokens` are left by a condense, including system prompt and tools; `growth_tokens` are added by a request.
    """
    prices = info.input_usd, info.output_usd, info.cache_write_usd, info.cache_read_usd
    if any(price is None for price in prices) or not info.cache_read_usd:
        return AutoThreshold(
            HIGHEST_THRESHOLD, "The model's prices are unknown, so a condense waits until the window is full."
        )
    _, output, write, read = (price or 0.0 for price in prices)
    fixed = output * SUMMARY_TOKENS + write * base_tokens
    best = base_tokens + sqrt(2 * growth_tokens * (fixed + read * base_tokens) / read)
    percent = min(max(ceil(100 * best / window), LOWEST_THRESHOLD), HIGHEST_THRESHOLD)
    if percent == HIGHEST_THRESHOLD:
        why = "an earlier condense would cost more than reading the whole window from the cache"
    else:
        pays = ceil((fixed + read * best) / (read * max(best - base_tokens, 1)))
        why = f"above that, a condense pays for itself within {plural(pays, 'request')}"
    return AutoThreshold(
        percent,
        f"{percent} % ({window * percent // 100:,} tokens): requests add about {growth_tokens:,} tokens, and {why}.",
    )


def recent_growth(path: Sequence[Entry]) -> int:
    """Return how many tokens a request adds: the median of up to 20 answers since the last condense."""
    sizes: list[int] = []
    for entry in reversed(path):
        if isinstance(entry.body, Condense) or len(sizes) == _LOOKED_AT:
            break
        if isinstance(entry.body, AssistantMessage) and entry.body.usage is not None:
            sizes.append(entry.body.usage.context_tokens)
    steps = [later - earlier for later, earlier in pairwise(sizes) if later > earlier]
    return round(median(steps)) if steps else USUAL_GROWTH


def left_by_condense(path: Sequence[Entry], overhead_tokens: int) -> int:
    """Return the context tokens a condense leaves: those the last one left, else overhead and a usual summary."""
    for entry in reversed(path):
        if isinstance(entry.body, Condense):
            return max(entry.body.figures.tokens_after, 1)
    return overhead_tokens + SUMMARY_TOKENS
