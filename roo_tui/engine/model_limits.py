"""What was learnt of each model: limits its provider stated in errors, how long its summaries are."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from roo_tui.domain.requests import ModelInfo


@dataclass(slots=True)
class ModelLimits:
    """What is known of one model, in tokens; 0 where nothing is. Limits hold before what the table says."""

    window: int = 0
    max_output: int = 0
    summary_tokens: int = 0

    def wrote_summary(self, tokens: int) -> None:
        """Learn from one more summary."""
        self.summary_tokens = tokens if not self.summary_tokens else (2 * self.summary_tokens + tokens) // 3


class LearnedLimits:
    """What was learnt of every model."""

    def __init__(self, saved: Any = None) -> None:
        known = saved if isinstance(saved, dict) else {}
        self._by_model = {
            name: ModelLimits(**{field.name: int(found.get(field.name, 0)) for field in fields(ModelLimits)})
            for name, found in known.items()
            if isinstance(found, dict)
        }

    def of(self, model: ModelInfo) -> ModelLimits:
        """Return what is known of a model; what is learnt is written into it."""
        return self._by_model.setdefault(f"{model.provider}/{model.id}", ModelLimits())

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return what there is to save."""
        return {name: asdict(limits) for name, limits in self._by_model.items() if limits != ModelLimits()}
