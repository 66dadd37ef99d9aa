"""A question with two answers, over whatever is open."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from roo_tui.plain_text import clean
from roo_tui.tui import strings


class ConfirmScreen(ModalScreen[bool]):
    """Dismisses with true only for the first button; Escape is the second."""

    CSS_PATH = "pages.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", show=False),
        Binding("y", "answer(True)", show=False),
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(self, title: str, text: str, *, yes: str = strings.YES, no: str = strings.NO) -> None:
        super().__init__()
        self._texts = (title, clean(text), yes, no)

    def compose(self) -> ComposeResult:
        title, text, yes, no = self._texts
        with Vertical(classes="dialog"):
            yield Static(title, classes="dialog-title", markup=False)
            yield Static(text, classes="dialog-text", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button(yes, id="yes", variant="primary", compact=True)
                yield Button(no, id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#yes").focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """Answer by key."""
        self.dismiss(yes)
