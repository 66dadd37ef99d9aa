"""What a change to the context will cost and save, before it is made.

A condense costs its request. Masks and condenses also make the provider's cache useless from the first changed block
on: what is left must be written to the cache once more. In return every later request is shorter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.history.log_facts import typed_messages
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.tokens import TokenCounter, cost
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.markers import Condense, Mask
from roo_tui.domain.requests import ModelInfo
from roo_tui.domain.usage import Usage

# How long a provider keeps a prefix in its cache after it was last read. Source: Messages API.
CACHE_LIFE_S = 300.0
# What a nine-section summary takes where nothing is known of the model's.
USUAL_SUMMARY_TOKENS = 1_500

Shape = Literal["fresh", "cached", "staged", "mask"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one way to reduce the context will come to. Costs are US dollars, None where the price is unknown.

    `turns_to_pay_back` counts turns of the conversation until the shorter requests have saved what it costs, None where
    that never happens or cannot be told.
    """

    shape: Shape
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    saving_per_turn_usd: float | None = None
    turns_to_pay_back: float | None = None

    @property
    def tokens_freed(self) -> int:
        return self.tokens_before - self.tokens_after


def is_warm(given: ReductionInput) -> bool:
    """Say whether the provider still has the conversation in its cache."""
    return given.idle_s is not None and given.idle_s < CACHE_LIFE_S


def summary_tokens(given: ReductionInput) -> int:
    """Return how long an answer to a condense request is expected to be, in the model's tokens."""
    known = [
        entry.body.figures.usage.output_tokens
        for entry in given.path
        if isinstance(entry.body, Condense) and entry.body.figures.shape in ("fresh", "cached")
    ]
    if any(known):
        return known[-1]
    return given.summary_tokens or USUAL_SUMMARY_TOKENS


def of_condense(given: ReductionInput, shape: Shape, usage: Usage, tokens_after: int) -> Forecast:
    """Return the forecast of a condense whose requests use this much."""
    price = cost(given.writer.model, usage)
    return _with_savings(given, Forecast(shape, usage, price, given.context_tokens, tokens_after))


def of_mask(given: ReductionInput, counter: TokenCounter, marker: Mask) -> Forecast:
    """Return the forecast of a mask. It asks no model, but what follows the first masked place is cached anew."""
    before, after = effective_history(given.path), with_marker(given.path, marker)
    first = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(after))
    left = given.ratio * counter.count_messages(after)
    tokens_after = given.after(counter.count_messages(before), counter.count_messages(after))
    suffix = round(given.ratio * counter.count_messages(after[first:]))
    read, write = _cache_prices(given.model)
    price = None if read is None or write is None else max(0.0, suffix * (write - read) / 1_000_000)
    usage = Usage(cache_write_tokens=suffix, cache_read_tokens=max(0, round(left) - suffix))
    return _with_savings(given, Forecast("mask", usage, price, given.context_tokens, tokens_after))


def fresh_usage(prompt_tokens: int, output_tokens: int) -> Usage:
    """Return what the fresh shape uses: nothing of it is cached."""
    return Usage(input_tokens=prompt_tokens, output_tokens=output_tokens)


def cached_usage(prompt_tokens: int, sent_before: int, output_tokens: int, warm: bool) -> Usage:
    """Return what the cached shape uses; `sent_before` tokens are read from a warm cache, the rest is written to it."""
    read = min(sent_before, prompt_tokens) if warm else 0
    return Usage(cache_read_tokens=read, cache_write_tokens=prompt_tokens - read, output_tokens=output_tokens)


def requests_per_turn(path: Sequence[Entry]) -> float:
    """Return how many requests a turn of this conversation takes on average, at least 1."""
    answers = sum(isinstance(entry.body, AssistantMessage) for entry in path)
    return max(1.0, answers / max(1, len(typed_messages(path))))


def _with_savings(given: ReductionInput, forecast: Forecast) -> Forecast:
    read, write = _cache_prices(given.model)
    saving = turns = None
    if read is not None and write is not None:
        saving = forecast.tokens_freed * read * requests_per_turn(given.path) / 1_000_000
        # After a condense the whole rest is new to the cache; a mask's cost is just that.
        anew = 0.0 if forecast.shape == "mask" else forecast.tokens_after * max(0.0, write - read) / 1_000_000
        if saving > 0 and forecast.cost_usd is not None:
            turns = (forecast.cost_usd + anew) / saving
    return Forecast(
        forecast.shape,
        forecast.usage,
        forecast.cost_usd,
        forecast.tokens_before,
        forecast.tokens_after,
        saving,
        turns,
    )


def _cache_prices(model: ModelInfo) -> tuple[float | None, float | None]:
    """Return the prices of reading from and writing to the cache, US dollars per million tokens; None if unknown."""
    if model.input_usd is None:
        return None, None
    read = model.input_usd if model.cache_read_usd is None else model.cache_read_usd
    write = model.input_usd if model.cache_write_usd is None else model.cache_write_usd
    return read, write
