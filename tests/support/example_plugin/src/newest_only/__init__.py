"""An example of a plug-in: a strategy that keeps the newest messages, and a part in every run of a strategy."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from roo_tui.context.condense.preview import preview_of_bodies
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies.protocol import (
    Strategy,
    StrategyEvent,
    StrategyOptions,
    StrategyPlan,
    Verdict,
)
from roo_tui.context.window.thresholds import Thresholds
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CondenseRefused
from roo_tui.domain.markers import Reduction, Truncation

KEPT = 4


@dataclass
class NewestOnly:
    """Hides everything between the first message and the last four."""

    id: str = "newest-only"
    name: str = "Newest only"
    description: str = "Keeps the first message and the last four."
    enabled: bool = True
    priority: int = 90

    def validate(self, inputs: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        return () if len(effective_history(inputs.path)) > KEPT + 1 else ("There are not enough messages yet.",)

    def prepare(self, inputs: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        visible = effective_history(inputs.path)
        cuts = [cut for cut in legal_cuts(visible) if 1 <= cut <= len(visible) - KEPT]
        if len(cuts) < 2:
            raise CondenseRefused("There is nothing that could be hidden.")
        marker = Truncation(tuple(message.entry_id for message in visible[cuts[0] : cuts[-1]]), reason="Newest only.")
        preview = preview_of_bodies(inputs, self.id, (marker,), options.counter)
        figures = Reduction(inputs.trigger, self.id, "", preview.tokens_before, preview.tokens_after, inputs.ratio)
        return StrategyPlan(preview, (replace(marker, figures=figures),))


class HalfWindow:
    """A condense stops at half of the window unless a setting says otherwise."""

    def resolve(self, inputs: ReductionInput, strategy_id: str, thresholds: Thresholds) -> Thresholds:
        return thresholds.over(Thresholds(stop_tokens=inputs.limits.window // 2))


class InFrench:
    """Summaries are written in French."""

    def prompt(self, inputs: ReductionInput, strategy_id: str, prompt: str) -> str:
        return f"{prompt or 'Summarise the conversation.'} Write in French.".strip()


class NewestFirst:
    """Truncation takes the newest of the old units first."""

    def order(self, inputs: ReductionInput, units: Sequence[tuple[Visible, ...]]) -> Iterable[int]:
        return reversed(range(len(units)))


class SmallFirst:
    """What is free comes first while the context is small."""

    def select(self, inputs: ReductionInput, strategies: Sequence[Strategy], chosen: str) -> str:
        return "newest-only" if inputs.context_tokens < 2_000 else chosen


class KeepsThree:
    """At least three messages must be left."""

    def check(self, inputs: ReductionInput, bodies: Sequence[Body]) -> Verdict:
        left = len(effective_history(appended(inputs.path, *bodies)))
        return Verdict(left >= 3, () if left >= 3 else (f"only {left} messages would be left",), min(1.0, left / 10))


@dataclass
class Notebook:
    """Remembers what happened."""

    seen: list[str] = field(default_factory=list)

    def on_event(self, event: StrategyEvent) -> None:
        self.seen.append(f"{event.kind} {event.strategy}")


notebook = Notebook()
