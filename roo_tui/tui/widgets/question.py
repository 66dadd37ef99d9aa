"""A question from the model: options to pick by number, and a line for the user's own answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.plain_text import clean, one_line
from roo_tui.tui import strings

if TYPE_CHECKING:  # only names: importing entries and events before the first frame would delay it
    from roo_tui.domain.events import Choice, Question


class QuestionAnswered(Message):
    """The user answered: `option` is an option's id, or blank for the answer typed in `text`."""

    def __init__(self, question_id: str, option: str, text: str = "") -> None:
        super().__init__()
        self.question_id = question_id
        self.option = option
        self.text = text


class QuestionPanel(Vertical):
    """A panel above the prompt, open until its question is answered or withdrawn."""

    DEFAULT_CSS = "QuestionPanel { height: auto; padding: 0 1; }"

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def take_focus(self) -> None:
        """Focus what answers."""
        self.focus()

    def less(self) -> bool:
        """Close or leave the innermost part. Return whether there was one."""
        return False


class Options(OptionList):
    """The offered answers; a number picks one."""

    HELP = strings.QUESTION_HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(number), f"pick({number})", show=False) for number in range(1, 10)
    ]

    def action_pick(self, number: int) -> None:
        """Choose the option with this number."""
        if number <= self.option_count:
            self.highlighted = number - 1
            self.action_select()


class ChoicePanel(QuestionPanel):
    """A question of the model or the engine."""

    DEFAULT_CSS = """
    ChoicePanel #question-text { height: auto; max-height: 20vh; }
    ChoicePanel Options { height: auto; max-height: 30vh; border: none; padding: 0; }
    ChoicePanel Options:focus { border: none; background-tint: $foreground 0%; }
    ChoicePanel Input { border: none; height: 1; padding: 0 1; }
    """

    def __init__(self, question: Question, body: Choice) -> None:
        super().__init__(question)
        self._body = body

    def compose(self) -> ComposeResult:
        yield Static(Content(clean(self._body.text)), id="question-text", markup=False)
        if self.question.options:
            yield Options(
                *(
                    Option(Content.assemble((f"{number} ", "bold $text-accent"), one_line(option.label, 500)))
                    for number, option in enumerate(self.question.options, 1)
                ),
                markup=False,
            )
        if self._body.free_text:
            yield Input(placeholder=strings.ANSWER_PLACEHOLDER, compact=True)

    def take_focus(self) -> None:
        """Focus what answers."""
        self.query_one(Options if self.question.options else Input).focus()

    def less(self) -> bool:
        """Go from the line for your own answer back to the options. Return whether that was done."""
        if isinstance(self.screen.focused, Input) and self.question.options:
            self.query_one(Options).focus()
            return True
        return False

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(QuestionAnswered(self.question.id, self.question.options[event.option_index].id))

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.post_message(QuestionAnswered(self.question.id, "", event.value))

    def on_click(self, event: events.Click) -> None:
        event.stop()
