"""What was said on the line above the prompt, newest first."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from roo_tui.tui import strings
from roo_tui.tui.numbers import clock
from roo_tui.tui.screens.page import Page
from roo_tui.tui.widgets.notice_line import Level, Said

_STYLES: dict[Level, str] = {"information": "$foreground", "warning": "$text-warning", "error": "$text-error"}


class NoticesScreen(Page[None]):
    """Each notice whole, with its time."""

    TITLE_TEXT = strings.NOTICES_TITLE
    KEYS_TEXT = strings.NOTICES_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "less", show=False)]

    def __init__(self, said: Sequence[Said]) -> None:
        super().__init__()
        self._said = said

    def body(self) -> Iterable[Widget]:
        lines = [
            Content.assemble((f"{clock(one.at_ms)}  ", "$foreground-muted"), (one.text, _STYLES[one.level]))
            for one in reversed(self._said)
        ]
        text = Content("\n").join(lines or [Content.styled(strings.NOTICES_EMPTY, "$foreground-muted")])
        yield VerticalScroll(Static(text, markup=False), id="notices-body")

    def on_mount(self) -> None:
        self.query_one("#notices-body").focus()
