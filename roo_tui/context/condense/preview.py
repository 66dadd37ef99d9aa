"""What a reduction will cost and save, before it is made. Start with `preview` and `preview_of_bodies`.

A condense costs its requests. Masks and condenses also make the provider's cache useless from the first changed block
on: what is left must be written to the cache once more. In return every later request is shorter.
"""

from collections.abc import Sequence

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.history.log_facts import typed_messages
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.tokens import TokenCounter, cost
from roo_tui.domain.entries import AssistantMessage, Body, Entry
from roo_tui.domain.markers import Condense, Marker, PassMetrics
from roo_tui.domain.previews import CondensePreview, Shape
from roo_tui.domain.requests import ModelInfo
from roo_tui.domain.usage import Usage

# How long a provider keeps a prefix in its cache after it was last read. Source: Messages API.
CACHE_LIFE_S = 300.0
# What a nine-section summary takes where nothing is known of the model's.
USUAL_SUMMARY_TOKENS = 1_500


def preview(
    given: ReductionInput,
    strategy: str,
    tokens_after: int,
    usage: Usage,
    *,
    shape: Shape = "",
    cost_usd: float | None = None,
    model_calls: int = 1,
    hidden: int = 0,
    passes: tuple[PassMetrics, ...] = (),
    remarks: tuple[str, ...] = (),
) -> CondensePreview:
    """Return the preview of a reduction that asks a model, whose calls use this much.

    `cost_usd` is given where other models than the one that writes summaries are asked, too.
    """
    price = cost(given.writer.model, usage) if cost_usd is None else cost_usd
    saving, turns = _savings(given, tokens_after, price, tokens_after)
    return CondensePreview(
        strategy=strategy,
        shape=shape,
        tokens_before=given.context_tokens,
        tokens_after=tokens_after,
        usage=usage,
        cost_usd=price,
        saving_per_turn_usd=saving,
        turns_to_pay_back=turns,
        model_calls=model_calls,
        hidden=hidden,
        passes=passes,
        remarks=remarks,
    )


def preview_of_bodies(
    given: ReductionInput,
    strategy: str,
    bodies: Sequence[Body],
    counter: TokenCounter,
    *,
    passes: tuple[PassMetrics, ...] = (),
    remarks: tuple[str, ...] = (),
) -> CondensePreview:
    """Return the exact preview of a reduction without a model. Counts the history: call it in a thread."""
    before, after = effective_history(given.path), effective_history(appended(given.path, *bodies))
    first = next((at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(after))
    tokens_after = given.after(counter.count_messages(before), counter.count_messages(after))
    cached_anew = round(given.ratio * counter.count_messages(after[first:]))
    saving, turns = _savings(given, tokens_after, 0.0, cached_anew)
    return CondensePreview(
        strategy=strategy,
        tokens_before=given.context_tokens,
        tokens_after=tokens_after,
        saving_per_turn_usd=saving,
        turns_to_pay_back=turns,
        hidden=sum(body.hidden_count for body in bodies if isinstance(body, Marker)),
        passes=passes,
        remarks=remarks,
    )


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


def _savings(
    given: ReductionInput, tokens_after: int, cost_usd: float | None, cached_anew: int
) -> tuple[float | None, float | None]:
    """Return the US dollars each later turn saves, and the turns until cost and writing the cache anew are paid back.

    `cached_anew` are the tokens that must be written to the provider's cache once more.
    """
    read, write = _cache_prices(given.model)
    if read is None or write is None:
        return None, None
    saving = (given.context_tokens - tokens_after) * read * requests_per_turn(given.path) / 1_000_000
    if saving <= 0 or cost_usd is None:
        return saving, None
    return saving, (cost_usd + cached_anew * max(0.0, write - read) / 1_000_000) / saving


def _cache_prices(model: ModelInfo) -> tuple[float | None, float | None]:
    """Return the prices of reading from and writing to the cache, US dollars per million tokens; None if unknown."""
    if model.input_usd is None:
        return None, None
    read = model.input_usd if model.cache_read_usd is None else model.cache_read_usd
    write = model.input_usd if model.cache_write_usd is None else model.cache_write_usd
    return read, write
