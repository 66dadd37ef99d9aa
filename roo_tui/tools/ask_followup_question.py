"""Tool: ask the user a question."""

from typing import ClassVar

from pydantic import BaseModel, Field

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import TextView
from roo_tui.plain_text import one_line, well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext


class AskFollowupQuestionArguments(ToolArguments):
    """The arguments of `ask_followup_question`."""

    question: str = Field(min_length=1)
    suggestions: list[str] = Field(default_factory=list, max_length=4)


class AskFollowupQuestion:
    """Asks the user, who picks a suggested answer or writes one."""

    name: ClassVar[str] = "ask_followup_question"
    Arguments: ClassVar[type[BaseModel]] = AskFollowupQuestionArguments

    async def plan(self, arguments: AskFollowupQuestionArguments, context: ToolContext) -> CallPlan | CallFailure:  # noqa: ARG002
        """Plan the question; blank suggestions are left out."""
        question = well_formed(arguments.question)
        suggestions = tuple(text for text in map(well_formed, arguments.suggestions) if text.strip())
        return CallPlan(one_line(question), Effect.ASK, TextView(question, True), state=(question, suggestions))

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Ask the question and return the answer."""
        question, suggestions = plan.state
        answer = (await context.ask(question, suggestions)).strip()
        if not answer:
            reply = render("tools/ask_followup_question/no_answer")
        elif context.user:
            reply = render("tools/ask_followup_question/answer", answer=answer)
        else:
            reply = answer
        view = TextView(f"{question}\n\n> {answer}" if answer else question, True)
        return Outcome(reply, view, CallFacts("question"), detail=one_line(answer, 60))
