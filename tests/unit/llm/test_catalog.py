"""The table of models."""

import dataclasses
import tomllib
from importlib import resources

import pytest

from roo_tui.domain.requests import ModelInfo
from roo_tui.llm.catalog import Catalog
from roo_tui.llm.options import ModelFacts

CATALOG = Catalog.load()


def known_models() -> list[tuple[str, str]]:
    table = tomllib.loads((resources.files("roo_tui") / "data" / "models.toml").read_text(encoding="utf-8"))
    return [(provider, model) for provider, entry in table.items() for model in entry.get("models", {})]


@pytest.mark.parametrize(("provider", "model"), known_models())
def test_every_model_of_the_table_has_a_window_an_output_limit_and_prices(provider: str, model: str) -> None:
    info = CATALOG.info(provider, model)
    assert info.known
    assert 0 < info.max_output < info.window
    prices = (info.cache_read_usd, info.input_usd, info.cache_write_usd, info.output_usd)
    assert all(price is not None and price > 0 for price in prices)
    assert sorted(price or 0 for price in prices) == list(prices)


def test_the_default_model_is_known_to_think_and_to_see() -> None:
    info = CATALOG.info("anthropic", "claude-sonnet-5-5")
    assert (info.window, info.max_output, info.input_usd, info.output_usd) == (1_000_000, 128_000, 2.0, 10.0)
    assert info.supports_thinking
    assert info.supports_images
    assert info.token_factor == 1.5


def test_a_long_prompt_raises_the_price_of_a_tiered_model() -> None:
    assert CATALOG.info("anthropic", "claude-haiku-5-5").tiers == ((100_000, 0.50, 2.50, 0.625, 0.05),)


def test_older_models_make_fewer_tokens() -> None:
    factors = {model: CATALOG.info("anthropic", model).token_factor for _, model in known_models() if "claude" in model}
    assert {model for model, factor in factors.items() if factor == 1.2} == {
        "claude-opus-4-6",
        "claude-sonnet-4-6",
        "claude-opus-4-5",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
    }
    assert CATALOG.info("openai", "anything").token_factor == 1.0


def test_a_dated_id_is_its_model() -> None:
    dated = CATALOG.info("anthropic", "claude-haiku-4-5-20251001")
    assert (dated.id, dated.known, dated.input_usd) == ("claude-haiku-4-5-20251001", True, 1.0)


@pytest.mark.parametrize(("provider", "factor"), [("anthropic", 1.5), ("openai", 1.0), ("elsewhere", 1.5)])
def test_an_unknown_model_works_with_its_providers_defaults_and_no_price(provider: str, factor: float) -> None:
    info = CATALOG.info(provider, "brand-new")
    assert (info.id, info.known, info.input_usd, info.token_factor) == ("brand-new", False, None, factor)
    assert info.window > info.max_output > 0


def test_facts_of_the_settings_make_a_model_known() -> None:
    facts = ModelFacts(window=32_000, max_output=4_000, input_usd=0.1, output_usd=0.4, supports_images=False)
    info = Catalog.load({"house-model": facts}).info("anthropic", "house-model")
    assert info == ModelInfo(
        "house-model",
        "anthropic",
        window=32_000,
        max_output=4_000,
        input_usd=0.1,
        output_usd=0.4,
        supports_images=False,
        known=True,
    )


def test_facts_of_the_settings_beat_the_table_where_they_say_something() -> None:
    catalog = Catalog.load({"claude-haiku-5-5": ModelFacts(window=50_000)})
    for model in ("claude-haiku-5-5", "claude-haiku-5-5-20260101"):
        info = catalog.info("anthropic", model)
        assert (info.window, info.max_output, info.input_usd) == (50_000, 128_000, 0.1)
        assert len(info.tiers) == 1


def test_a_price_of_the_settings_holds_for_long_prompts_too() -> None:
    info = Catalog.load({"claude-haiku-5-5": ModelFacts(output_usd=9.0)}).info("anthropic", "claude-haiku-5-5")
    assert (info.input_usd, info.output_usd, info.tiers) == (0.1, 9.0, ())


def test_empty_facts_make_no_model_known() -> None:
    assert not Catalog.load({"brand-new": ModelFacts()}).info("anthropic", "brand-new").known


def test_facts_have_the_names_that_they_fill() -> None:
    fields = {field.name for field in dataclasses.fields(ModelInfo)}
    assert {field.name for field in dataclasses.fields(ModelFacts)} < fields
