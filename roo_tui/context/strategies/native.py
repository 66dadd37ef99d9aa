"""The native strategy, the default: one summary written by a model replaces the history."""

from dataclasses import dataclass

from roo_tui.context.condense.cut_point import cut
from roo_tui.context.condense.steps import PreparedCondense, carry_out, prepare
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.strategies.protocol import StrategyOptions, StrategyPlan
from roo_tui.domain.entries import Body


@dataclass
class NativeStrategy:
    """Prepares and carries out the condense of `context.condense`."""

    id: str = "native"
    name: str = "Summary"
    description: str = "A model writes a summary, which replaces the conversation so far."
    enabled: bool = True
    priority: int = 10

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        """Require more than one message to hide."""
        del options
        return () if len(cut(given.path).hidden) > 1 else ("There are not enough messages to condense yet.",)

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        """Return the plan of a condense.

        Raises:
            CondenseRefused: there is nothing to condense, nothing to gain, or the history is too long.
        """
        prepared = prepare(given, options.counter, options.context)
        return StrategyPlan(prepared.preview, state=prepared)

    async def perform(
        self, plan: StrategyPlan, given: ReductionInput, services: ReductionServices, options: StrategyOptions
    ) -> tuple[Body, ...]:
        """Return the marker of the prepared condense.

        Raises:
            CondenseError: the model failed, or its summary cannot be used.
        """
        assert isinstance(plan.state, PreparedCondense)
        return (await carry_out(plan.state, given, services, options.context),)
