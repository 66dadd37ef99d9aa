"""What was learnt about each model: limits its provider stated in errors, and the length of its summaries."""

from dataclasses import asdict, dataclass, fields

from roo_tui.domain.requests import ModelInfo


@dataclass(slots=True)
class ModelLimits:
    """What was learnt about one model, in tokens; 0 means unknown. These limits override the catalogue's."""

    window: int = 0
    max_output: int = 0
    summary_tokens: int = 0

    def wrote_summary(self, tokens: int) -> None:
        """Learn the length of one more summary; the result is a weighted mean."""
        self.summary_tokens = tokens if not self.summary_tokens else (2 * self.summary_tokens + tokens) // 3


class LearnedLimits:
    """What was learnt about every model. `saved` is what `to_json` returned earlier; anything else is ignored."""

    def __init__(self, saved: object = None) -> None:
        known = saved if isinstance(saved, dict) else {}
        self._by_model = {
            name: ModelLimits(**{field.name: int(found.get(field.name, 0)) for field in fields(ModelLimits)})
            for name, found in known.items()
            if isinstance(found, dict)
        }

    def of(self, model: ModelInfo) -> ModelLimits:
        """Return what was learnt about a model; change it to record more."""
        return self._by_model.setdefault(f"{model.provider}/{model.id}", ModelLimits())

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return what was learnt; models without anything learnt are left out."""
        return {name: asdict(limits) for name, limits in self._by_model.items() if limits != ModelLimits()}
