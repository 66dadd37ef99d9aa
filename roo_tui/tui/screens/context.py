"""The context screen: a bar for each kind of content, and every entry with its tokens and its pin."""

from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar, Literal

from rich.cells import set_cell_size
from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.domain.errors import RooError
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.views import ContextBreakdown, ContextUse, EntryShare
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import exact
from roo_tui.tui.screens.page import Page
from roo_tui.tui.widgets.context_bar import bar

_NAME = 30
_FIGURES = 18
_LARGEST_BAR = 60

Deed = Literal["condense", "preview", "mask", "compare"]
Choice = EntryId | Deed
Pin = Callable[[EntryId, bool], Awaitable[tuple[EntryId, ...]]]


class ContextScreen(Page[Choice | None]):
    """Dismisses with the entry to go to, with what to do about the context, or None.

    `pin` pins or unpins an entry and returns the pinned ones.
    """

    TITLE_TEXT = strings.CONTEXT_TITLE
    KEYS_TEXT = strings.CONTEXT_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5,q", "less", show=False),
        Binding("c", "leave('condense')", strings.CONDENSE, show=False),
        Binding("p", "leave('preview')", strings.PREVIEW_TITLE, show=False),
        Binding("m", "leave('mask')", show=False),
        Binding("t", "leave('compare')", strings.COMPARE_TITLE, show=False),
        Binding("x", "pin", show=False),
    ]

    def __init__(self, breakdown: ContextBreakdown, use: ContextUse, pinned: tuple[EntryId, ...], pin: Pin) -> None:
        super().__init__()
        self._breakdown = breakdown
        self._use = use
        self._pinned = pinned
        self._pin = pin
        visible = {share.entry_id for share in breakdown.by_entry}
        hidden = (EntryShare(one, "", strings.CONTEXT_PINNED_HIDDEN, 0) for one in pinned if one not in visible)
        self._entries = (*hidden, *breakdown.by_entry)

    def body(self) -> Iterable[Widget]:
        """Yield the bars and the list of entries."""
        if not self._entries and not self._breakdown.by_kind:
            yield Static(strings.CONTEXT_EMPTY, id="nothing", markup=False)
            return
        yield Static(id="context-kinds", markup=False)
        yield Static(id="context-title", classes="list-title", markup=False)
        yield OptionList(markup=False, id="context-entries")

    def on_mount(self) -> None:
        for entries in self.query(OptionList):
            entries.focus()

    def on_resize(self) -> None:
        if not self.query(OptionList):
            return
        self.query_one("#context-kinds", Static).update(Content("\n").join(self._kinds(self.size.width - 4)))
        entries = self.query_one(OptionList)
        at = entries.highlighted
        entries.clear_options()
        entries.add_options(Option(self._entry(share)) for share in self._entries)
        entries.highlighted = len(self._entries) - 1 if at is None else at
        self._show_pins()

    def _kinds(self, width: int) -> list[Content]:
        found, use = self._breakdown, self._use
        share = strings.CONTEXT_TOTAL.format(
            used=exact(found.tokens), window=exact(use.window), percent=_percent(found.tokens, use.window)
        )
        left = use.trigger_tokens - found.tokens
        when = strings.CONTEXT_TO_GO if left > 0 else strings.CONTEXT_OVER
        when = when.format(left=exact(left), trigger=exact(use.trigger_tokens))
        lines = [Content.assemble((share, "bold"), (f"   {when}", "$foreground-muted"))]
        if use.threshold_note:
            lines.append(Content.styled(one_line(use.threshold_note, 300), "$foreground-muted"))
        room = min(_LARGEST_BAR, max(4, width - _NAME - _FIGURES))
        for kind in found.by_kind:
            name = set_cell_size(one_line(kind.kind, 60), _NAME)
            full, free = bar(kind.tokens, found.tokens, room)
            lines.append(
                Content.assemble(
                    name,
                    (full, "$primary"),
                    (free, "$foreground 20%"),
                    f"{exact(kind.tokens):>10}",
                    (f"{_percent(kind.tokens, found.tokens):>5} %", "$foreground-muted"),
                )
            )
        return lines

    def _entry(self, share: EntryShare) -> Content:
        return Content.assemble(
            f"{exact(share.tokens):>9}",
            (f"{_percent(share.tokens, self._breakdown.tokens):>4} %  ", "$foreground-muted"),
            (f"{strings.CONTEXT_PIN if share.entry_id in self._pinned else '':<2}", "$text-warning"),
            (f"{entry_ref(share.entry_id):<6}", "$text-accent"),
            (f"{one_line(share.role, 10):<10} ", "$foreground-muted"),
            one_line(share.title, 300),
        )

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._entries[event.option_index].entry_id)

    def _show_pins(self) -> None:
        title = strings.CONTEXT_ENTRIES
        if self._pinned:
            title += f" · {strings.CONTEXT_PINNED.format(count=len(self._pinned))}"
        self.query_one("#context-title", Static).update(title)

    @work(group="pin")
    async def action_pin(self) -> None:
        """Pin or unpin the highlighted entry."""
        for entries in self.query(OptionList):
            at = entries.highlighted
            if at is None:
                return
            share = self._entries[at]
            try:
                self._pinned = await self._pin(share.entry_id, share.entry_id not in self._pinned)
            except RooError as error:
                self.app.notify(str(error), severity="warning")
                return
            entries.replace_option_prompt_at_index(at, self._entry(share))
            self._show_pins()

    def action_leave(self, choice: Deed) -> None:
        """Leave with what to do about the context."""
        self.dismiss(choice)


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(1, whole)
    return "<1" if 0 < share < 0.5 else f"{share:.0f}"
