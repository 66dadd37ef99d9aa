"""What waits for an answer, one question at a time above the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.message import Message

from roo_tui.tui.widgets.question_panel import QuestionPanel

if TYPE_CHECKING:  # only a name: importing the events before the first frame would delay it
    from roo_tui.domain.events import Question


class QuestionStack(Vertical):
    """Open questions, oldest first; only the first one is shown. Its panel posts `QuestionAnswered`."""

    DEFAULT_CSS = "QuestionStack { height: auto; }"

    class Changed(Message):
        """Another question is shown, or none. `had_focus` says that the one before had the focus."""

        def __init__(self, panel: QuestionPanel | None, had_focus: bool) -> None:
            super().__init__()
            self.panel = panel
            self.had_focus = had_focus

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[str, Question] = {}

    @property
    def waiting(self) -> bool:
        """Whether any question is open."""
        return bool(self._open)

    @property
    def panel(self) -> QuestionPanel | None:
        """The panel that is shown."""
        panel = self.children[0] if self.children else None
        return panel if isinstance(panel, QuestionPanel) else None

    async def show(self, questions: Sequence[Question]) -> None:
        """Show exactly these questions."""
        self._open = {question.id: question for question in questions}
        await self._show_first()

    async def ask(self, question: Question) -> None:
        """Add a question; it is shown when those before it are answered."""
        self._open[question.id] = question
        await self._show_first()

    async def close_question(self, question_id: str) -> None:
        """Take a question away: answered or withdrawn."""
        if self._open.pop(question_id, None) is not None:
            await self._show_first()

    async def _show_first(self) -> None:
        question = next(iter(self._open.values()), None)
        shown = self.panel
        if (shown.question.id if shown else None) == (question.id if question else None):
            return
        had_focus = shown is not None and shown.has_focus_within
        await self.remove_children()
        panel = _panel_for(question) if question is not None else None
        if panel is not None:
            await self.mount(panel)
        self.post_message(self.Changed(panel, had_focus))


def _panel_for(question: Question) -> QuestionPanel:
    from roo_tui.domain.events import Approval
    from roo_tui.tui.widgets.approval import ApprovalPanel
    from roo_tui.tui.widgets.question import ChoicePanel

    body = question.body
    return ApprovalPanel(question, body) if isinstance(body, Approval) else ChoicePanel(question, body)
