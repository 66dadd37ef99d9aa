"""Native: the model writes a summary, and the history is hidden behind it. The default."""

from dataclasses import dataclass

from roo_tui.context.condense.condense import condense
from roo_tui.context.condense.condense import prepare as prepare_condense
from roo_tui.context.condense.cut_point import cut
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.strategies.protocol import StrategyOptions, StrategyPlan
from roo_tui.context.window.tokens import cost
from roo_tui.domain.entries import Body
from roo_tui.domain.usage import Usage

ASSUMED_SUMMARY_TOKENS = 2_000


@dataclass
class NativeStrategy:
    """Wraps `context.condense`, which see."""

    id: str = "native"
    name: str = "Summary"
    description: str = "The model summarises the conversation; the summary takes its place."
    enabled: bool = True
    priority: int = 10

    def should_activate(self, given: ReductionInput) -> bool:
        return len(cut(given.path).hidden) > 1

    def estimate_cost(self, given: ReductionInput) -> float | None:
        usage = Usage(input_tokens=given.context_tokens, output_tokens=_summary_tokens(given))
        return cost(given.writer.model, usage)

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        del options
        return () if self.should_activate(given) else ("There are not enough messages to condense yet.",)

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        plan = prepare_condense(given, options.counter, options.context)
        raw_shown = min(round(_summary_tokens(given) / given.ratio), plan.raw_hidden)
        after = given.after(plan.raw_hidden, raw_shown)
        calls = 1 if plan.stages is None else len(plan.stages.parts) + 1
        return StrategyPlan(
            self.id, given.context_tokens, after, model_calls=calls, hides=len(plan.hides), remarks=plan.remarks
        )

    async def perform(
        self, plan: StrategyPlan, given: ReductionInput, services: ReductionServices, options: StrategyOptions
    ) -> tuple[Body, ...]:
        del plan
        return (await condense(given, services, options.context),)


def _summary_tokens(given: ReductionInput) -> int:
    return given.summary_tokens or ASSUMED_SUMMARY_TOKENS
