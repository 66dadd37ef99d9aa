"""Questions for the user: asked by an event with an id, answered by a method call."""

import asyncio
from dataclasses import dataclass

from roo_tui.domain.events import Approval, Choice, Option, Question, QuestionAsked, QuestionClosed
from roo_tui.domain.ids import new_id
from roo_tui.engine.task import OpenTask


@dataclass(frozen=True, slots=True)
class UserReply:
    """An answer. `decision` is the id of the chosen option, `text` what was typed with it."""

    decision: str
    text: str = ""


class Questions:
    """The open questions, oldest first."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Question, asyncio.Future[UserReply]]] = {}

    def pending(self) -> tuple[Question, ...]:
        """Return the open questions, oldest first."""
        return tuple(question for question, _ in self._open.values())

    async def ask(self, task: OpenTask, body: Approval | Choice, options: tuple[Option, ...]) -> UserReply:
        """Ask, and return the answer; the caller records it. Cancelling withdraws the question."""
        question = Question(new_id(), body, options)
        future: asyncio.Future[UserReply] = asyncio.get_running_loop().create_future()
        self._open[question.id] = (question, future)
        task.emit(QuestionAsked(task.id, question))
        decision = ""
        try:
            reply = await future
            decision = reply.decision
            return reply
        finally:
            del self._open[question.id]
            task.emit(QuestionClosed(task.id, question.id, decision))

    def answer(self, question_id: str, decision: str, text: str) -> bool:
        """Answer a question; return whether it was still open."""
        found = self._open.get(question_id)
        if found is None or found[1].done():
            return False
        found[1].set_result(UserReply(decision, text))
        return True
