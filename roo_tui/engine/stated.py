"""What providers said of their models in errors: it holds before what we know ourselves, also in later sessions."""

from dataclasses import asdict, dataclass
from typing import Any

from roo_tui.domain.requests import ModelInfo


@dataclass(slots=True)
class Stated:
    """Limits of one model in tokens, 0 where nothing was said."""

    window: int = 0
    max_output: int = 0


class StatedLimits:
    """What was said of every model."""

    def __init__(self, saved: Any = None) -> None:
        known = saved if isinstance(saved, dict) else {}
        self._by_model = {
            name: Stated(int(limits.get("window", 0)), int(limits.get("max_output", 0)))
            for name, limits in known.items()
            if isinstance(limits, dict)
        }

    def of(self, model: ModelInfo) -> Stated:
        """Return what was said of a model; what is learnt is written into it."""
        return self._by_model.setdefault(f"{model.provider}/{model.id}", Stated())

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return what there is to save."""
        return {name: asdict(limits) for name, limits in self._by_model.items() if limits != Stated()}
