"""Ask for a name that is not taken yet."""

import re
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from roo_tui.tui import strings

_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


class NameScreen(ModalScreen[str]):
    """Dismisses with the name, empty if none was given."""

    CSS_PATH = "pages.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", show=False)]

    def __init__(self, title: str, taken: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._taken = taken

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Input(placeholder=strings.PROFILE_NAME_PLACEHOLDER, compact=True)
            yield Static(strings.PROFILE_NAME_KEYS, classes="dialog-keys", markup=False)

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        problem = ""
        if not _NAME.fullmatch(name):
            problem = strings.PROFILE_NAME_INVALID
        elif name in self._taken:
            problem = strings.PROFILE_NAME_TAKEN
        if problem:
            keys = self.query_one(".dialog-keys", Static)
            keys.update(problem)
            keys.add_class("-problem")
        else:
            self.dismiss(name)

    def action_cancel(self) -> None:
        """Give none."""
        self.dismiss("")
