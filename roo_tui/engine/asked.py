"""A condense as a person asks for it, and what it would do as a person is shown it."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from roo_tui.context.options import ContextOptions
from roo_tui.domain.entries import Body
from roo_tui.domain.markers import Condense, Mask, Truncation
from roo_tui.domain.views import CondensePlan, Preset

if TYPE_CHECKING:  # the strategies are loaded at the first reduction, not at start
    from roo_tui.context.strategies.protocol import Plan


@dataclass(frozen=True, slots=True)
class Asked:
    """Instructions for one run, and a strategy and preset in place of the settings'; blank means the settings'."""

    instructions: str = ""
    strategy: str = ""
    preset: Preset = ""

    def over(self, options: ContextOptions) -> ContextOptions:
        """Return the options of the settings with what was asked for in their place."""
        return replace(options, smart_preset=self.preset) if self.preset else options


def shown_plan(plan: "Plan") -> CondensePlan:
    """Return a strategy's plan as plain data."""
    return CondensePlan(
        strategy=plan.strategy,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_after,
        model_calls=plan.model_calls,
        hidden=plan.hides + sum(map(_hidden, plan.bodies)),
        passes=plan.passes,
        remarks=plan.remarks,
    )


def _hidden(body: Body) -> int:
    match body:
        case Condense(hides=hides) | Truncation(hides=hides):
            return len(hides)
        case Mask(items=items):
            return len(items)
    return 0
