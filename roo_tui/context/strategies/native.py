"""Native: the model writes a summary, and the history is hidden behind it. The default."""

from dataclasses import dataclass

from roo_tui.context.condense.cut_point import cut
from roo_tui.context.condense.steps import PreparedCondense, carry_out, prepare
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.strategies.protocol import StrategyOptions, StrategyPlan
from roo_tui.domain.entries import Body


@dataclass
class NativeStrategy:
    """Condenses as `context.condense` does: the plan is its preparation, and performing it asks the model."""

    id: str = "native"
    name: str = "Summary"
    description: str = "The model summarises the conversation; the summary takes its place."
    enabled: bool = True
    priority: int = 10

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        del options
        return () if len(cut(given.path).hidden) > 1 else ("There are not enough messages to condense yet.",)

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        prepared = prepare(given, options.counter, options.context)
        return StrategyPlan(prepared.preview, state=prepared)

    async def perform(
        self, plan: StrategyPlan, given: ReductionInput, services: ReductionServices, options: StrategyOptions
    ) -> tuple[Body, ...]:
        assert isinstance(plan.state, PreparedCondense)
        return (await carry_out(plan.state, given, services, options.context),)
