"""The base of all full screens: a title line, a body and a line of keys; Esc goes back."""

from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from roo_tui.tui import strings
from roo_tui.tui.widgets.notice_line import NoticeLine

Result = TypeVar("Result")


class Page(Screen[Result], Generic[Result]):
    """A screen over the chat. Subclasses give `TITLE_TEXT`, `KEYS_TEXT` and `body`."""

    CSS_PATH = "pages.tcss"
    TITLE_TEXT: ClassVar[str] = ""
    KEYS_TEXT: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "less", show=False)]

    def compose(self) -> ComposeResult:
        title = Content.assemble(
            (strings.APP, "bold $text-primary"), ("  ›  ", "$foreground-muted"), (self.TITLE_TEXT, "bold")
        )
        yield Static(title, classes="page-title", markup=False)
        yield from self.body()
        yield NoticeLine(rule=False)
        yield Static(self.KEYS_TEXT, classes="page-keys", markup=False)

    def body(self) -> Iterable[Widget]:
        """Yield the widgets between title and keys."""
        return ()

    @on(NoticeLine.Pressed)
    def _notice_pressed(self) -> None:
        self.query_one(NoticeLine).dismiss()

    def action_less(self) -> None:
        """Go back."""
        self.dismiss(None)
