"""Small dialogs over the current screen: yes or no, a choice from a list, a new name, no API key."""

import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.plain_text import clean, one_line
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


class ConfirmScreen(ModalScreen[bool]):
    """Dismisses with true for the first button, false for the second or Esc."""

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
        """Give no name."""
        self.dismiss("")


class NoKeyScreen(ModalScreen[Literal["demo", "quit"]]):
    """Says how to get an API key, and offers the demo; `reason` is the engine's own sentence."""

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
