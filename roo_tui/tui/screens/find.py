"""The find screen: search the whole task, including hidden entries and other branches."""

from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.domain.errors import RooError
from roo_tui.domain.ids import entry_ref
from roo_tui.domain.views import FoundEntry
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.screens.page import Page

Search = Callable[[str], Awaitable[tuple[FoundEntry, ...]]]

_STYLES = {"context": "$text-success", "hidden": "$foreground-muted", "branch": "$text-warning"}


class FindScreen(Page[FoundEntry | None]):
    """Dismisses with the entry to go to, or None. The search line keeps the focus; arrows move in the list."""

    TITLE_TEXT = strings.FIND_TITLE
    KEYS_TEXT = strings.FIND_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-5)", show=False, priority=True),
        Binding("pagedown", "move(5)", show=False, priority=True),
    ]

    def __init__(self, search: Search, query: str = "") -> None:
        super().__init__()
        self._search = search
        self._query = query
        self._found: tuple[FoundEntry, ...] = ()

    def body(self) -> Iterable[Widget]:
        """Yield the search line and the hits."""
        yield Input(self._query, placeholder=strings.FIND_PLACEHOLDER, compact=True, id="search")
        options = OptionList(markup=False, id="found")
        options.can_focus = False
        options.display = False
        yield options
        yield Static(strings.FIND_HINT, id="nothing", markup=False)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._look_for(event.value.strip())

    @work(exclusive=True, group="find")
    async def _look_for(self, query: str) -> None:
        try:
            self._found = await self._search(query) if query else ()
        except RooError as error:
            self.app.notify(str(error), severity="warning")
            return
        options, nothing = self.query_one("#found", OptionList), self.query_one("#nothing", Static)
        options.clear_options()
        options.add_options(Option(_found_lines(found)) for found in self._found)
        options.display = bool(self._found)
        nothing.display = not self._found
        nothing.update(strings.FIND_NOTHING if query else strings.FIND_HINT)
        if self._found:
            options.highlighted = 0

    @on(Input.Submitted)
    def _take(self) -> None:
        highlighted = self.query_one("#found", OptionList).highlighted
        if highlighted is not None and highlighted < len(self._found):
            self.dismiss(self._found[highlighted])

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])

    def action_move(self, steps: int) -> None:
        """Move the highlight while the search line has the focus."""
        options = self.query_one("#found", OptionList)
        if options.highlighted is not None and self._found:
            options.highlighted = min(max(0, options.highlighted + steps), len(self._found) - 1)


def _found_lines(found: FoundEntry) -> Content:
    where = "branch" if not found.on_path else "context" if found.in_context else "hidden"
    title = Content.assemble(
        (f"{entry_ref(found.entry_id):<6}", "$text-accent"),
        (f"{strings.FIND_WHERE[where]:<13} ", _STYLES[where]),
        one_line(found.title, 300),
    )
    return Content.assemble(title, "\n      ", (one_line(found.excerpt, 400), "$foreground-muted"))
