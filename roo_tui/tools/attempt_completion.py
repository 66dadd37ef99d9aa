"""Tool: report the result of the task and end the turn."""

from typing import ClassVar

from pydantic import BaseModel, Field

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import TextView
from roo_tui.plain_text import one_line, well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext


class AttemptCompletionArguments(ToolArguments):
    """The arguments of `attempt_completion`."""

    result: str = Field(min_length=1)


class AttemptCompletion:
    """Ends the turn with a result."""

    name: ClassVar[str] = "attempt_completion"
    Arguments: ClassVar[type[BaseModel]] = AttemptCompletionArguments

    async def plan(self, arguments: AttemptCompletionArguments, context: ToolContext) -> CallPlan | CallFailure:  # noqa: ARG002
        """Plan to show the result."""
        result = well_formed(arguments.result)
        return CallPlan(one_line(result), Effect.FINISH, TextView(result, True))

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:  # noqa: ARG002
        """Report the result."""
        return Outcome(render("tools/attempt_completion/completed"), plan.view, CallFacts("finish"))
