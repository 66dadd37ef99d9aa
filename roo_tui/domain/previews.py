"""A condense as it is asked for, and what it would do: the one shape of every preview, dry run and comparison."""

from dataclasses import dataclass, field
from typing import Literal

from roo_tui.domain.markers import PassMetrics
from roo_tui.domain.usage import Usage

Preset = Literal["", "conservative", "balanced", "aggressive", "custom"]
Shape = Literal["", "fresh", "cached", "staged"]
"""How a model is asked for a summary: anew, on top of the prompt cache, or in parts; blank where none is asked."""


@dataclass(frozen=True, slots=True)
class CondenseRequest:
    """Instructions for one condense, and a strategy and preset in place of the settings'; blank means the settings'."""

    instructions: str = ""
    strategy: str = ""
    preset: Preset = ""


@dataclass(frozen=True, slots=True)
class CondensePreview:
    """What one way to condense would do now; nothing is changed and no model was asked.

    Counts are context tokens, system prompt and tools included. `tokens_after` is exact where no model will be asked
    (`model_calls` is 0), else an estimate; `usage` and `cost_usd` are those of the calls, the cost None where the price
    is unknown. `hidden` counts what is hidden: entries, or contents of them. `turns_to_pay_back` counts turns until the
    shorter requests have saved what it costs, None where that never happens or cannot be told. `alternatives` are the
    other ways to ask the model, dearer ones last. `refusal` says why this way would change nothing.

    `survived` of `artefacts` (edited files, the failing command, open todos, the request) and `duration_s` are known
    where strategies were compared by running them.
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

    @property
    def tokens_freed(self) -> int:
        """Return how many context tokens it frees."""
        return self.tokens_before - self.tokens_after
