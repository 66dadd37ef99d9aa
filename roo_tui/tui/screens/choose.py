"""Pick one of a few names: a profile, a theme."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.plain_text import one_line
from roo_tui.tui import strings


class ChooseScreen(ModalScreen[str]):
    """A filter line over a list of (name, help). Dismisses with the name, empty if nothing was chosen."""

    CSS_PATH = "pages.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", show=False),
        Binding("up", "move('up')", show=False, priority=True),
        Binding("down", "move('down')", show=False, priority=True),
    ]

    def __init__(self, title: str, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        super().__init__()
        self._title = title
        self._choices = list(choices)
        self._current = current
        self._shown: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Input(placeholder=strings.CHOOSE_FILTER, compact=True)
            choices = OptionList(markup=False)
            choices.can_focus = False
            yield choices
            yield Static(strings.CHOOSE_KEYS, classes="dialog-keys", markup=False)

    def on_mount(self) -> None:
        self._show("")

    def _show(self, typed: str) -> None:
        wanted = typed.lower()
        found = [(name, sentence) for name, sentence in self._choices if wanted in name.lower()]
        found.sort(key=lambda choice: not choice[0].lower().startswith(wanted))
        self._shown = [name for name, _ in found]
        column = max((len(name) for name in self._shown), default=0) + 2
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(
            Option(
                Content.assemble(
                    ("● " if name == self._current else "  ", "$text-success"),
                    f"{one_line(name):<{column}}",
                    (one_line(sentence), "$foreground-muted"),
                )
            )
            for name, sentence in found
        )
        if self._shown:
            at = self._shown.index(self._current) if not typed and self._current in self._shown else 0
            options.highlighted = at
            self.call_after_refresh(options.scroll_to_highlight)

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self._show(event.value)

    @on(Input.Submitted)
    def _take(self) -> None:
        highlighted = self.query_one(OptionList).highlighted
        if highlighted is not None:
            self.dismiss(self._shown[highlighted])

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index])

    def action_move(self, direction: str) -> None:
        """Move the highlight while the filter has the focus."""
        options = self.query_one(OptionList)
        options.action_cursor_up() if direction == "up" else options.action_cursor_down()

    def action_cancel(self) -> None:
        """Choose nothing."""
        self.dismiss("")
