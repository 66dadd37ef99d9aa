"""What a request cost."""

from roo_tui.domain.requests import ModelInfo
from roo_tui.domain.usage import Usage


def cost(info: ModelInfo, usage: Usage) -> float | None:
    """Return the US dollars of one request, None where the model's price is unknown.

    A tier holds for the whole request once its prompt is longer than the tier says. Where a price for cache reads or
    writes is unknown, they cost as much as other input.
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
