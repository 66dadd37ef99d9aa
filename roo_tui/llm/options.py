"""Settings of models: profiles (which model, at which address) and model facts (its limits and prices)."""

from dataclasses import dataclass
from typing import Literal

from roo_tui.llm.providers import PROVIDERS
from roo_tui.setting_field import setting

_PRICE_UNIT = "US dollars per million tokens"
_PRICE_RANGE = (0.0, 10_000.0)


@dataclass(frozen=True, slots=True)
class Profile:
    """One model with its connection. API keys are never part of a profile. `name` is its name in the settings."""

    name: str
    provider: str = setting(
        "anthropic",
        title="Provider",
        sentence="The provider whose API the model uses; demo is offline and scripted.",
        choices=tuple(PROVIDERS),
    )
    model: str = setting(
        "claude-sonnet-5-5",
        title="Model",
        sentence="The model's id, spelled as the provider spells it.",
        filled=True,
    )
    base_url: str = setting(
        "",
        title="Base URL",
        sentence="The provider's address; blank uses the official one.",
        url=True,
    )
    window: int = setting(
        0,
        title="Context window",
        sentence="How many tokens the model can read at once; 0 uses the known window of the model.",
        unit="tokens",
        range=(1_000, 100_000_000),
        also=(0,),
    )
    max_output: int = setting(
        0,
        title="Longest answer",
        sentence="The most tokens one answer may have, reserved in the context window; 0 uses the model's limit.",
        unit="tokens",
        range=(1, 10_000_000),
        also=(0,),
    )
    threshold_percent: int | Literal["auto"] = setting(
        -1,
        title="Condense threshold",
        sentence="How full the context window may get with this profile; -1 uses the general threshold.",
        unit="% of the context window",
        range=(5, 100),
        also=(-1, "auto"),
    )
    thinking: Literal["off", "adaptive"] = setting(
        "off",
        title="Thinking",
        sentence="Whether the model may reason before it answers: off, or adaptive (the model decides how much).",
    )
    temperature: float | None = setting(
        None,
        title="Temperature",
        sentence="How much the model's answers vary; not set uses the provider's default.",
        range=(0.0, 2.0),
    )


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model's limits, prices and capabilities; what is not set comes from the built-in table.

    Each field has the name of the `ModelInfo` field that it sets.
    """

    window: int | None = setting(
        None,
        title="Context window",
        sentence="How many tokens the model can read at once.",
        unit="tokens",
        range=(1_000, 100_000_000),
    )
    max_output: int | None = setting(
        None,
        title="Longest answer",
        sentence="The most tokens one answer may have.",
        unit="tokens",
        range=(1, 10_000_000),
    )
    input_usd: float | None = setting(
        None,
        title="Input price",
        sentence="US dollars per million input tokens. Costs are shown once both this and the output price are known.",
        unit=_PRICE_UNIT,
        range=_PRICE_RANGE,
    )
    output_usd: float | None = setting(
        None,
        title="Output price",
        sentence="US dollars per million output tokens.",
        unit=_PRICE_UNIT,
        range=_PRICE_RANGE,
    )
    cache_write_usd: float | None = setting(
        None,
        title="Cache write price",
        sentence="US dollars per million tokens written to the cache; not set uses the input price.",
        unit=_PRICE_UNIT,
        range=_PRICE_RANGE,
    )
    cache_read_usd: float | None = setting(
        None,
        title="Cache read price",
        sentence="US dollars per million tokens read from the cache; not set uses the input price.",
        unit=_PRICE_UNIT,
        range=_PRICE_RANGE,
    )
    supports_images: bool | None = setting(
        None,
        title="Images",
        sentence="Whether the model can see images.",
    )
    supports_thinking: bool | None = setting(
        None,
        title="Thinking",
        sentence="Whether the model can reason before it answers.",
    )
