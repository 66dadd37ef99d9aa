"""Shown at the start where there is no API key: what to do, and the demo."""

from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from roo_tui.plain_text import clean
from roo_tui.tui import strings


class NoKeyScreen(ModalScreen[Literal["demo", "quit"]]):
    """`reason` is the engine's own sentence, shown above the way out."""

    CSS_PATH = "pages.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "choose('quit')", show=False),
        Binding("d", "choose('demo')", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self._reason = clean(reason)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(strings.NO_KEY_TITLE, classes="dialog-title", markup=False)
            text = "\n\n".join(part for part in (self._reason, strings.NO_KEY_TEXT) if part)
            yield Static(text, classes="dialog-text", markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button(strings.NO_KEY_DEMO, id="demo", variant="primary", compact=True)
                yield Button(strings.NO_KEY_QUIT, id="quit", compact=True)

    def on_mount(self) -> None:
        self.query_one("#demo").focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss("demo" if event.button.id == "demo" else "quit")

    def action_choose(self, what: Literal["demo", "quit"]) -> None:
        """Choose by key."""
        self.dismiss(what)
