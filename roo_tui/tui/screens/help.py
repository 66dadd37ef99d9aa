"""The help screen (keys and commands) and the list of recent notices."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from roo_tui.commands import COMMANDS
from roo_tui.tui import strings
from roo_tui.tui.bindings import keys_of
from roo_tui.tui.numbers import clock
from roo_tui.tui.screens.page import Page
from roo_tui.tui.widgets.notice_line import Level, ShownNotice


class HelpScreen(Page[None]):
    """`about` is the help of the widget that had the focus."""

    TITLE_TEXT = strings.HELP_TITLE
    KEYS_TEXT = strings.HELP_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1,q", "less", show=False)]

    def __init__(self, about: str) -> None:
        super().__init__()
        self._about = about

    def body(self) -> Iterable[Widget]:
        """Yield the text."""
        yield VerticalScroll(Static(id="help-text", markup=False), id="help-body")

    def on_mount(self) -> None:
        self.query_one("#help-body").focus()

    def on_resize(self) -> None:
        self.query_one("#help-text", Static).update(Content("\n").join(self._lines(self.size.width - 4)))

    def _lines(self, width: int) -> list[Content]:
        lines: list[Content] = []
        if self._about:
            lines += [_heading(strings.HELP_HERE), *_entry("", "", self._about, width, indent=2), Content("")]
        lines.append(_heading(strings.HELP_PROMPT))
        for key, text in strings.HELP_PROMPT_KEYS:
            lines += _entry(key, "", text, width)
        lines += [Content(""), _heading(strings.HELP_COMMANDS)]
        for one in COMMANDS:
            if one.context == "app":
                lines += _entry(keys_of(one), f"/{one.slash}" if one.slash else "", one.help, width)
        lines += [Content(""), _heading(strings.HELP_TRANSCRIPT)]
        for one in COMMANDS:
            if one.context == "transcript":
                lines += _entry(keys_of(one), "", one.help, width)
        lines += [Content(""), _heading(strings.HELP_CONTEXT)]
        for key, text in strings.HELP_CONTEXT_KEYS:
            lines += _entry(key, "", text, width)
        return lines


def _heading(text: str) -> Content:
    return Content.styled(text, "bold $text-primary")


def _entry(keys: str, slash: str, text: str, width: int, indent: int = 27) -> list[Content]:
    """Return keys, slash word and text in columns; the text's later lines begin below its first."""
    first, *rest = textwrap.wrap(text, max(20, width - indent)) or [""]
    lead = (
        Content.assemble("  ", (f"{keys:<14}", "bold"), (f"{slash:<11}", "$text-accent"))
        if indent > 2
        else Content("  ")
    )
    lines = [Content.assemble(lead, (first, "$foreground-muted"))]
    return lines + [Content.styled(" " * indent + line, "$foreground-muted") for line in rest]


_STYLES: dict[Level, str] = {"information": "$foreground", "warning": "$text-warning", "error": "$text-error"}


class NoticesScreen(Page[None]):
    """Each notice whole, with its time."""

    TITLE_TEXT = strings.NOTICES_TITLE
    KEYS_TEXT = strings.NOTICES_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "less", show=False)]

    def __init__(self, notices: Sequence[ShownNotice]) -> None:
        super().__init__()
        self._notices = notices

    def body(self) -> Iterable[Widget]:
        """Yield the notices, newest first."""
        lines = [
            Content.assemble((f"{clock(one.at_ms)}  ", "$foreground-muted"), (one.text, _STYLES[one.level]))
            for one in reversed(self._notices)
        ]
        text = Content("\n").join(lines or [Content.styled(strings.NOTICES_EMPTY, "$foreground-muted")])
        yield VerticalScroll(Static(text, markup=False), id="notices-body")

    def on_mount(self) -> None:
        self.query_one("#notices-body").focus()
