"""What every panel that waits for an answer has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.message import Message

if TYPE_CHECKING:  # only names: importing the events before the first frame would delay it
    from roo_tui.domain.events import Question


class QuestionAnswered(Message):
    """A person answered: `option` is an option's id, or empty for the own words in `text`."""

    def __init__(self, question_id: str, option: str, text: str = "") -> None:
        super().__init__()
        self.question_id = question_id
        self.option = option
        self.text = text


class QuestionPanel(Vertical):
    """Stands above the prompt until its question is answered or withdrawn."""

    DEFAULT_CSS = "QuestionPanel { height: auto; padding: 0 1; }"

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def take_focus(self) -> None:
        """Focus what answers."""
        self.focus()

    def less(self) -> bool:
        """Close or leave a part of it. Returns whether there was any."""
        return False
