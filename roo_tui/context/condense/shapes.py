"""The shapes in which a model can be asked for a summary, each with what it will cost. Start with `Shaping`."""

from dataclasses import dataclass, replace
from typing import Literal

from roo_tui.context.condense import preview as forecasts
from roo_tui.context.condense.preview import Forecast
from roo_tui.context.condense.request import begins_with, cached, fresh
from roo_tui.context.condense.staged import Stages, usage_of
from roo_tui.context.history.effective import Visible
from roo_tui.context.reduction_input import Situation
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.requests import Request
from roo_tui.domain.usage import Usage

MOST_OUTPUT = 20_000
LEAST_OUTPUT = 2_000
"""The most tokens a summary may take, and the least room for one that is worth asking for."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to ask."""

    shape: Literal["fresh", "cached"]
    request: Request
    forecast: Forecast


class Shaping:
    """Builds the requests for a summary of `hidden` that are possible, with what each will cost.

    `words` are the instruction; `raw_kept` are the raw tokens that stand beside the summary.
    """

    def __init__(
        self, situation: Situation, counter: TokenCounter, hidden: tuple[Visible, ...], words: str, raw_kept: int
    ) -> None:
        self._situation = situation
        self._counter = counter
        self._hidden = hidden
        self._words = words
        self._written = forecasts.summary_tokens(situation)
        shown = round(self._written / situation.writer.ratio) + raw_kept
        self._after = situation.after(counter.count_messages(hidden), shown)

    def fresh(self) -> Candidate | None:
        """Return the fresh shape, without its pictures if it fits only so; None where it does not fit."""
        writer = self._situation.writer
        for images in (True, False):
            request = fresh(self._hidden, self._words, writer.model, MOST_OUTPUT, images=images)
            prompt = round(writer.ratio * self._counter.count_request(request.system, (), request.messages))
            if (room := self._room(prompt)) is not None:
                usage = forecasts.fresh_usage(prompt, min(self._written, room))
                return Candidate("fresh", replace(request, max_output=room), self._forecast("fresh", usage))
        return None

    def cached(self) -> Candidate | None:
        """Return the cached shape; None where it would not be read from the cache, or does not fit."""
        situation, counter = self._situation, self._counter
        if situation.summariser is not None or not situation.last_prefix:
            return None
        request = cached(self._hidden, self._words, situation, MOST_OUTPUT)
        sent = begins_with(request, situation.last_prefix)
        if sent is None:
            return None
        head = counter.count_request(request.system, request.tools)
        blocks = [block for message in request.messages for block in message.blocks]
        before = round(situation.ratio * (head + counter.count_blocks(blocks[:sent])))
        prompt = round(situation.ratio * (head + counter.count_blocks(blocks)))
        if (room := self._room(prompt)) is None:
            return None
        usage = forecasts.cached_usage(prompt, before, min(self._written, room), forecasts.is_warm(situation))
        return Candidate("cached", replace(request, max_output=room), self._forecast("cached", usage))

    def staged(self, parts: Stages) -> Forecast:
        """Return what asking in parts will cost."""
        return self._forecast("staged", usage_of(parts, self._written))

    def _room(self, prompt: int) -> int | None:
        """Return the tokens the answer may have, None where there is no useful room for it."""
        window = self._situation.writer.window
        if prompt + min(LEAST_OUTPUT, window // 10) > window:
            return None
        most = max(LEAST_OUTPUT, min(MOST_OUTPUT, self._situation.limits.reserved))
        return min(most, window - prompt)

    def _forecast(self, shape: forecasts.Shape, usage: Usage) -> Forecast:
        return forecasts.of_condense(self._situation, shape, usage, self._after)


def price(candidate: Candidate) -> tuple[float, int]:
    """Return what candidates are compared by; without a price, what is read from a cache counts a tenth."""
    cost, usage = candidate.forecast.cost_usd, candidate.forecast.usage
    weight = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens // 10
    return (cost, weight) if cost is not None else (float("inf"), weight)
