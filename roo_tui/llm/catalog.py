"""The catalog of models: windows, prices and capabilities, from `data/models.toml` and from the settings."""

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from roo_tui.domain.requests import ModelInfo
from roo_tui.llm.options import ModelFacts

_DATED = re.compile(r"-(?:\d{8}|latest)\Z")
_PRICES = ("input_usd", "output_usd", "cache_write_usd", "cache_read_usd")

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Catalog:
    """Known models by provider and id, and model facts from the settings by id."""

    providers: Mapping[str, Table]
    facts: Mapping[str, ModelFacts]

    @classmethod
    def load(cls, facts: Mapping[str, ModelFacts] | None = None) -> "Catalog":
        """Read the shipped table; `facts` from the settings take precedence over it."""
        text = (resources.files("roo_tui") / "data" / "models.toml").read_text(encoding="utf-8")
        return cls(tomllib.loads(text), dict(facts or {}))

    def info(self, provider: str, model_id: str) -> ModelInfo:
        """Return what is known of a model; an unknown one gets its provider's defaults, no price and `known=False`.

        An id with a date finds the entry without it. A price from the settings applies to prompts of every length and
        replaces the table's price tiers.
        """
        table = self.providers.get(provider, {})
        models = table.get("models", {})
        undated = _DATED.sub("", model_id)
        listed = models.get(model_id) or models.get(undated) or {}
        given = _given(self.facts.get(model_id) or self.facts.get(undated) or ModelFacts())
        values = {**table.get("defaults", {}), **listed, **given}
        priced = any(name in given for name in _PRICES)
        values["tiers"] = () if priced else tuple(tuple(tier) for tier in values.get("tiers", ()))
        return ModelInfo(id=model_id, provider=provider, known=bool(listed or given), **values)


def _given(facts: ModelFacts) -> dict[str, float | bool]:
    values = ((field.name, getattr(facts, field.name)) for field in dataclasses.fields(facts))
    return {name: value for name, value in values if value is not None}
