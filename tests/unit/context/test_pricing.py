import pytest

from roo_tui.context.window.tokens import cost
from roo_tui.domain.requests import ModelInfo
from roo_tui.domain.usage import Usage

HAIKU = ModelInfo(
    "haiku",
    "anthropic",
    input_usd=0.10,
    output_usd=0.50,
    cache_write_usd=0.125,
    cache_read_usd=0.01,
    tiers=((100_000, 0.50, 2.50, 0.625, 0.05),),
)


def test_each_kind_of_token_has_its_price():
    usage = Usage(input_tokens=10_000, cache_read_tokens=20_000, cache_write_tokens=30_000, output_tokens=40_000)
    assert cost(HAIKU, usage) == pytest.approx(0.001 + 0.0002 + 0.00375 + 0.02)


def test_a_longer_prompt_makes_the_whole_request_dearer():
    at_the_edge = Usage(input_tokens=50_000, cache_read_tokens=50_000)
    above = Usage(input_tokens=50_001, cache_read_tokens=50_000, output_tokens=1_000_000)
    assert cost(HAIKU, at_the_edge) == pytest.approx(0.0055)
    assert cost(HAIKU, above) == pytest.approx(0.0250005 + 0.0025 + 2.5)


def test_an_unknown_price_is_unknown_not_nothing():
    assert cost(ModelInfo("m", "p"), Usage(input_tokens=5)) is None
    assert cost(ModelInfo("m", "p", input_usd=1.0), Usage()) is None


def test_unknown_cache_prices_are_those_of_other_input():
    plain = ModelInfo("m", "p", input_usd=2.0, output_usd=10.0)
    assert cost(plain, Usage(cache_read_tokens=500_000, cache_write_tokens=500_000)) == pytest.approx(2.0)
