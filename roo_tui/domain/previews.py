"""A request for a condense, and its preview: one type for every preview, dry run and comparison."""

from dataclasses import dataclass, field
from typing import Literal

from roo_tui.domain.markers import PassMetrics
from roo_tui.domain.usage import Usage

Preset = Literal["", "conservative", "balanced", "aggressive", "custom"]
Shape = Literal["", "fresh", "cached", "staged"]
"""How a model is asked for a summary: in a fresh request, from the prompt cache, or in parts; blank without a model."""


@dataclass(frozen=True, slots=True)
class CondenseRequest:
    """Instructions, strategy and preset for one condense. A blank strategy or preset means the one in the settings."""

    instructions: str = ""
    strategy: str = ""
    preset: Preset = ""


@dataclass(frozen=True, slots=True)
class CondensePreview:
    """What one way to condense would do now. A preview changes nothing and asks no model.

    Counts are context tokens, including system prompt and tools. `tokens_after` is exact if no model will be asked
    (`model_calls` is 0), otherwise an estimate. `usage` and `cost_usd` are those of the calls; the cost is None if the
    price is unknown. `hidden` counts the entries or contents that will be hidden. `turns_to_pay_back` counts the turns
    until shorter requests have saved the cost, None if never or unknown. `alternatives` are the other ways to ask the
    model, cheapest first. `refusal` says why this way would change nothing.

    `artefacts` (edited files, the failing command, open todos, the request), how many of them `survived`, and
    `duration_s` are known only if strategies were compared by running them.
    """

    strategy: str
    preset: Preset = ""
    shape: Shape = ""
    tokens_before: int = 0
    tokens_after: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    saving_per_turn_usd: float | None = None
    turns_to_pay_back: float | None = None
    model_calls: int = 0
    hidden: int = 0
    passes: tuple[PassMetrics, ...] = ()
    remarks: tuple[str, ...] = ()
    alternatives: tuple["CondensePreview", ...] = ()
    refusal: str = ""
    artefacts: int = 0
    survived: int = 0
    duration_s: float = 0.0
