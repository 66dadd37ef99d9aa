"""What was learnt about each model: limits its provider stated in errors, and the length of its summaries."""

from dataclasses import asdict, dataclass, fields

from roo_tui.domain.requests import ModelInfo
from roo_tui.llm.options import Profile
from roo_tui.store import Store

LEARNED_KEY = "stated limits"
"""The key under which the store keeps what was learnt."""


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
        """Return what was learnt about a model wherever it is reached; change it to record more."""
        return self._by_model.setdefault(f"{model.provider}/{model.id}", ModelLimits())

    def limits_of(self, profile: Profile, model: ModelInfo) -> ModelLimits:
        """Return what was learnt about a model at the profile's address; change it to record more.

        What was learnt holds for the window and the longest answer that the profile set then: a user who changes them
        is believed until the provider says otherwise again.
        """
        key = f"{model.provider}/{model.id} {profile.base_url} {profile.window} {profile.max_output}"
        return self._by_model.setdefault(key, ModelLimits())

    def learned(self) -> dict[str, ModelLimits]:
        """Return the limits that providers stated, by `provider/model` and, if one is set, its address."""
        shown = (
            (" at ".join(name.split()[:-2]) if " " in name else name, known) for name, known in self._by_model.items()
        )
        return {name: known for name, known in shown if known.window or known.max_output}

    def forget(self) -> None:
        """Forget the limits that providers stated; the length of summaries stays."""
        for known in self._by_model.values():
            known.window = known.max_output = 0

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return what was learnt; models without anything learnt are left out."""
        return {name: asdict(limits) for name, limits in self._by_model.items() if limits != ModelLimits()}


async def learned_limits(store: Store, *, forget: bool = False) -> list[str]:
    """Return a line for each limit that a provider stated, after forgetting all of them if asked to."""
    known = LearnedLimits(await store.get_value(LEARNED_KEY))
    if forget:
        known.forget()
        await store.set_value(LEARNED_KEY, known.to_json())
    return [f"{name}: {_shown(limits)}" for name, limits in sorted(known.learned().items())]


def _shown(limits: ModelLimits) -> str:
    window = f"context window {limits.window:,}" if limits.window else ""
    answer = f"longest answer {limits.max_output:,}" if limits.max_output else ""
    return ", ".join(filter(None, (window, answer))) + " tokens"
