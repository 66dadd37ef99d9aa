"""The threshold that adapts: where a condense pays back, from the model's prices and the growth of recent requests.

Between two condenses the context grows from what a condense leaves (A) by the same amount a request (g) up to the
threshold (T). Every request reads the context from the prompt cache, on average (A + T) / 2 tokens; every condense
reads T tokens once more, writes a summary, and its result has to be written into the cache. The cost of a request is
then

    read x (A + T) / 2  +  g x (fixed + read x T) / (T - A),     fixed = output x summary + write x A

which is least at T = A + sqrt(2 g (fixed + read x A) / read): the same balance as that of an economic order quantity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt
from statistics import median

from roo_tui.context.window.policy import HIGHEST_THRESHOLD, LOWEST_THRESHOLD
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.markers import Condense
from roo_tui.domain.requests import ModelInfo

SUMMARY_TOKENS = 2_500
USUAL_GROWTH = 2_000
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class AutoThreshold:
    """Where the threshold stands: percent of the window, and one sentence that says why."""

    percent: int
    sentence: str


def auto_threshold(info: ModelInfo, window: int, base_tokens: int, growth_tokens: int) -> AutoThreshold:
    """Return the threshold at which requests cost least.

    `base_tokens` is what a condense leaves, system prompt and tools included; `growth_tokens` what a request adds.
    """
    prices = info.input_usd, info.output_usd, info.cache_write_usd, info.cache_read_usd
    if any(price is None for price in prices) or not info.cache_read_usd:
        return AutoThreshold(
            HIGHEST_THRESHOLD, "The model's prices are unknown, so it is condensed only when it must be."
        )
    _, output, write, read = (price or 0.0 for price in prices)
    fixed = output * SUMMARY_TOKENS + write * base_tokens
    best = base_tokens + sqrt(2 * growth_tokens * (fixed + read * base_tokens) / read)
    percent = min(max(ceil(100 * best / window), LOWEST_THRESHOLD), HIGHEST_THRESHOLD)
    if percent == HIGHEST_THRESHOLD:
        why = "a condense would cost more than reading the whole window from the cache"
    else:
        pays = ceil((fixed + read * best) / (read * max(best - base_tokens, 1)))
        why = f"from there on a condense pays back within {pays:,} requests"
    return AutoThreshold(
        percent,
        f"{percent} % ({window * percent // 100:,} tokens): requests add about {growth_tokens:,} tokens, and {why}.",
    )


def recent_growth(path: Sequence[Entry]) -> int:
    """Return how many tokens a request adds: the median over the newest ones since the last condense."""
    sizes: list[int] = []
    for entry in reversed(path):
        if isinstance(entry.body, Condense) or len(sizes) == _LOOKED_AT:
            break
        if isinstance(entry.body, AssistantMessage) and entry.body.usage is not None:
            sizes.append(entry.body.usage.context_tokens)
    steps = [later - earlier for later, earlier in pairwise(sizes) if later > earlier]
    return round(median(steps)) if steps else USUAL_GROWTH


def left_by_condense(path: Sequence[Entry], overhead_tokens: int) -> int:
    """Return what a condense leaves: as the last one did, else system prompt, tools and a usual summary."""
    for entry in reversed(path):
        if isinstance(entry.body, Condense):
            return max(entry.body.figures.tokens_after, 1)
    return overhead_tokens + SUMMARY_TOKENS
