"""The threshold that adapts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roo_tui.context.window.policy import (
    SUMMARY_TOKENS,
    USUAL_GROWTH,
    auto_threshold,
    left_by_condense,
    recent_growth,
)
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.markers import Condense, Reduction
from roo_tui.domain.requests import ModelInfo
from roo_tui.domain.usage import Usage

SONNET = ModelInfo(
    "m", "p", window=1_000_000, input_usd=2.0, output_usd=10.0, cache_write_usd=2.5, cache_read_usd=0.1, known=True
)


def cost_of_a_request(threshold: float, base: int, growth: int) -> float:
    """The cost the docstring states, per request, in millionths of a dollar."""
    read, write, output = 0.1, 2.5, 10.0
    fixed = output * SUMMARY_TOKENS + write * base
    return read * (base + threshold) / 2 + growth * (fixed + read * threshold) / (threshold - base)


@given(st.integers(5_000, 60_000), st.integers(200, 20_000))
def test_no_other_percentage_costs_less(base: int, growth: int) -> None:
    found = auto_threshold(SONNET, SONNET.window, base, growth).percent
    here = cost_of_a_request(found * SONNET.window / 100, base, growth)
    for other in range(5, 101):
        tokens = other * SONNET.window / 100
        if tokens > base and abs(other - found) > 1:
            assert here <= cost_of_a_request(tokens, base, growth) * 1.1


def test_faster_growth_moves_the_threshold_up() -> None:
    found = [auto_threshold(SONNET, 1_000_000, 15_000, growth).percent for growth in (500, 2_000, 8_000, 32_000)]
    assert found == sorted(found) and found[0] < found[-1]


def test_unknown_prices_mean_condensing_only_when_it_must_be() -> None:
    found = auto_threshold(ModelInfo("m", "p"), 200_000, 10_000, 2_000)
    assert found.percent == 100 and "unknown" in found.sentence


def test_the_sentence_names_the_figures() -> None:
    sentence = auto_threshold(SONNET, 1_000_000, 15_000, 2_500).sentence
    assert "2,500 tokens" in sentence and "pays for itself within" in sentence


def answers(*sizes: int) -> tuple[Entry, ...]:
    return tuple(
        Entry(number, number - 1 or None, 0, AssistantMessage((Text("a"),), usage=Usage(input_tokens=size)))
        for number, size in enumerate(sizes, 1)
    )


@pytest.mark.parametrize(
    ("path", "growth"),
    [((), USUAL_GROWTH), (answers(10, 30, 60, 100), 30), (answers(1_000, 500, 600), 100)],
)
def test_growth_is_the_median_step_of_recent_requests(path: tuple[Entry, ...], growth: int) -> None:
    assert recent_growth(path) == growth


def test_growth_does_not_look_across_a_condense() -> None:
    condense = Entry(3, 2, 0, Condense((1, 2), (Text("s"),), Reduction(tokens_after=700)))
    path = (*answers(10, 5_000), condense)
    assert recent_growth(path) == USUAL_GROWTH
    assert left_by_condense(path, 100) == 700
    assert left_by_condense(path[:2], 100) == 100 + SUMMARY_TOKENS
