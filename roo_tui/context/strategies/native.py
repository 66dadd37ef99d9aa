"""Native: the model writes a summary, and the history is hidden behind it. The default."""

from dataclasses import dataclass

from roo_tui.context.condense.condense import condense
from roo_tui.context.condense.condense import prepare as prepare_condense
from roo_tui.context.condense.cut_point import cut
from roo_tui.context.reduction_input import Services, Situation
from roo_tui.context.strategies.protocol import Plan, StrategyOptions
from roo_tui.context.window.tokens import cost
from roo_tui.domain.entries import Body
from roo_tui.domain.usage import Usage

ASSUMED_SUMMARY_TOKENS = 2_000


@dataclass
class Native:
    """Wraps `context.condense`, which see."""

    id: str = "native"
    name: str = "Summary"
    description: str = "The model summarises the conversation; the summary takes its place."
    enabled: bool = True
    priority: int = 10

    def should_activate(self, situation: Situation) -> bool:
        return len(cut(situation.path).hidden) > 1

    def estimate_cost(self, situation: Situation) -> float | None:
        usage = Usage(input_tokens=situation.context_tokens, output_tokens=_summary_tokens(situation))
        return cost(situation.writer.model, usage)

    def validate(self, situation: Situation, options: StrategyOptions) -> tuple[str, ...]:
        del options
        return () if self.should_activate(situation) else ("There are not enough messages to condense yet.",)

    def prepare(self, situation: Situation, options: StrategyOptions) -> Plan:
        plan = prepare_condense(situation, options.counter, options.context)
        raw_shown = min(round(_summary_tokens(situation) / situation.ratio), plan.raw_hidden)
        after = situation.after(plan.raw_hidden, raw_shown)
        calls = 1 if plan.stages is None else len(plan.stages.parts) + 1
        return Plan(
            self.id, situation.context_tokens, after, model_calls=calls, hides=len(plan.hides), remarks=plan.remarks
        )

    async def perform(
        self, plan: Plan, situation: Situation, services: Services, options: StrategyOptions
    ) -> tuple[Body, ...]:
        del plan
        return (await condense(situation, services, options.context),)


def _summary_tokens(situation: Situation) -> int:
    return situation.summary_tokens or ASSUMED_SUMMARY_TOKENS
