"""What is known of models: windows, prices, abilities. The table is `data/models.toml`; settings may override it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from roo_tui.domain.requests import ModelInfo

_DATED = re.compile(r"-(?:\d{8}|latest)\Z")
# Names in the table (and in overrides) that differ from the field they fill.
_FIELDS = {
    "input": "input_usd",
    "output": "output_usd",
    "cache_write": "cache_write_usd",
    "cache_read": "cache_read_usd",
    "images": "supports_images",
    "thinking": "supports_thinking",
}

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Catalog:
    """Known models by provider and id."""

    providers: Mapping[str, Table]
    overrides: Mapping[str, Table]

    @classmethod
    def load(cls, overrides: Mapping[str, Table] | None = None) -> "Catalog":
        """Read the shipped table. `overrides` maps `provider/model` to values in the table's own names; they win."""
        text = (resources.files("roo_tui") / "data" / "models.toml").read_text(encoding="utf-8")
        return cls(tomllib.loads(text), dict(overrides or {}))

    def info(self, provider: str, model_id: str) -> ModelInfo:
        """Return what is known; an unknown model gets its provider's defaults, no price, and `known=False`."""
        table = self.providers.get(provider, {})
        models = table.get("models", {})
        entry = models.get(model_id) or models.get(_DATED.sub("", model_id))
        override = self.overrides.get(f"{provider}/{model_id}", {})
        values = {**table.get("defaults", {}), **(entry or {}), **override}
        fields = {_FIELDS.get(name, name): value for name, value in values.items()}
        fields["tiers"] = tuple(tuple(tier) for tier in fields.get("tiers", ()))
        return ModelInfo(id=model_id, provider=provider, known=bool(entry or override), **fields)
