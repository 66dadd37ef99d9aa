"""Tool: find hidden entries of the task by text or by id."""

from typing import ClassVar

from pydantic import BaseModel

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import TextView
from roo_tui.prompt_files import render
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext


class RecallHistoryArguments(ToolArguments):
    """The arguments of `recall_history`; an id takes precedence over a query."""

    query: str = ""
    id: str = ""


class RecallHistory:
    """Searches what reductions hide from the model; changes nothing."""

    name: ClassVar[str] = "recall_history"
    Arguments: ClassVar[type[BaseModel]] = RecallHistoryArguments

    async def plan(self, arguments: RecallHistoryArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Plan the search; ids get their `e`, as in `e12`."""
        if context.recall is None:
            return CallFailure(render("tools/recall_history/unavailable"), title=self.name)
        wanted = arguments.id.strip() or arguments.query.strip()
        if not wanted:
            return CallFailure(render("tools/recall_history/no_arguments"), title=self.name)
        if arguments.id.strip():
            wanted = " ".join(part if part[:1] in "eE" else f"e{part}" for part in wanted.replace(",", " ").split())
        return CallPlan(wanted, Effect.READ, state=wanted)

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Return the entries found."""
        assert context.recall is not None
        found = await context.recall(plan.state)
        return Outcome(found, TextView(found), CallFacts("other", query=plan.state))
