"""The condense preview and the comparison of strategies: what each would free, cost and save."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ClassVar

from rich.cells import set_cell_size
from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.domain.errors import RooError
from roo_tui.domain.previews import CondensePreview
from roo_tui.plain_text import clean, one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import change_percent, counted, exact, money
from roo_tui.tui.screens.page import Page
from roo_tui.tui.widgets.context_bar import bar

_PREVIEW_BAR = 48
_COMPARE_BAR = 40


class PreviewScreen(Page[bool]):
    """The preview of a condense and of its alternatives. Dismisses with true if the user wants it."""

    TITLE_TEXT = strings.PREVIEW_TITLE
    KEYS_TEXT = strings.PREVIEW_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "condense", strings.CONDENSE, show=False)]

    def __init__(self, preview: CondensePreview) -> None:
        super().__init__()
        self._previews = (preview, *preview.alternatives)

    def body(self) -> Iterable[Widget]:
        """Yield the previews."""
        yield VerticalScroll(Static(id="previews", markup=False), id="preview-body")

    def on_mount(self) -> None:
        self.query_one("#preview-body").focus()

    def on_resize(self) -> None:
        room = min(_PREVIEW_BAR, max(8, self.size.width - 8))
        lines = [line for one in self._previews for line in (*_lines(one, room), Content(""))]
        self.query_one("#previews", Static).update(Content("\n").join(lines))

    def action_condense(self) -> None:
        """Condense."""
        self.dismiss(True)

    def action_less(self) -> None:
        """Go back without a condense."""
        self.dismiss(False)


def _lines(preview: CondensePreview, room: int) -> Iterable[Content]:
    before, after = preview.tokens_before, preview.tokens_after
    name = ", ".join(part for part in (_name(preview), preview.shape) if part)
    yield Content.styled(one_line(name, 200), "bold")
    for tokens, style in ((before, "$foreground-muted"), (after, "$primary")):
        full, free = bar(tokens, max(before, after), room)
        yield Content.assemble("  ", (full, style), (free, "$foreground 10%"))
    tokens_change = strings.PREVIEW_UNCHANGED if before == after else strings.PREVIEW_TOKENS
    estimate = strings.ABOUT.format(count=exact(after)) if preview.model_calls else exact(after)
    change = tokens_change.format(before=exact(before), after=estimate, percent=change_percent(before, after))
    yield Content(f"  {change}")
    if parts := list(_money(preview)):
        yield Content.styled("  " + " · ".join(parts), "$foreground-muted")
    for remark in filter(None, (preview.refusal, *preview.remarks)):
        yield Content.styled(f"  {clean(remark)}", "$foreground-muted")


def _name(preview: CondensePreview) -> str:
    return f"{preview.strategy} {preview.preset}".strip()


def _money(preview: CondensePreview) -> Iterable[str]:
    if preview.cost_usd is None:
        yield strings.PRICE_UNKNOWN
    elif preview.cost_usd:
        yield strings.PREVIEW_COST.format(cost=money(preview.cost_usd))
    if preview.saving_per_turn_usd is None:
        return
    if preview.saving_per_turn_usd <= 0:
        yield strings.PREVIEW_SAVES_NOTHING
        return
    yield strings.PREVIEW_SAVES.format(saving=money(preview.saving_per_turn_usd))
    turns = preview.turns_to_pay_back
    if turns is None:
        yield strings.PREVIEW_NEVER
    else:
        yield counted(strings.PREVIEW_PAYS, max(1, round(turns)))


Compare = Callable[[], Awaitable[Sequence[CondensePreview]]]

_NAME, _TOKENS, _FREES, _KEPT = 20, 13, 9, 9


class CompareScreen(Page[CondensePreview | None]):
    """Dismisses with the strategy to condense with, or None. The comparing stops when the screen is left."""

    TITLE_TEXT = strings.COMPARE_TITLE
    KEYS_TEXT = strings.COMPARE_KEYS

    def __init__(self, compare: Compare) -> None:
        super().__init__()
        self._compare = compare
        self._found: Sequence[CondensePreview] = ()

    def body(self) -> Iterable[Widget]:
        """Yield the table of strategies."""
        yield Static(strings.COMPARE_RUNNING, id="compare-before", markup=False)
        yield Static(id="compare-head", markup=False)
        yield OptionList(markup=False, id="comparisons")
        yield Static(strings.COMPARE_NO_MODEL, id="compare-note", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._run()

    @work
    async def _run(self) -> None:
        try:
            self._found = await self._compare()
        except RooError as error:
            self.query_one("#compare-before", Static).update(one_line(str(error), 300))
            return
        self._show()

    def on_resize(self) -> None:
        if self._found:
            self._show()

    def _show(self) -> None:
        first = self._found[0]
        before = strings.COMPARE_BEFORE.format(
            tokens=exact(first.tokens_before), facts=counted(strings.COMPARE_FACTS, first.artefacts)
        )
        self.query_one("#compare-before", Static).update(before)
        name, tokens, frees, kept = strings.COMPARE_HEAD
        room = min(_COMPARE_BAR, max(4, self.size.width - 6 - _NAME - _TOKENS - _FREES - _KEPT))
        head = f"{name:<{_NAME}}{'':{room}}{tokens:>{_TOKENS}}{frees:>{_FREES}}{kept:>{_KEPT}}"
        self.query_one("#compare-head", Static).update(Content.styled(head, "$foreground-muted"))
        ways = self.query_one(OptionList)
        at = ways.highlighted
        ways.clear_options()
        ways.add_options(Option(_way(one, room)) for one in self._found)
        ways.highlighted = at or 0

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])


def _way(one: CondensePreview, room: int) -> Content:
    before, after = one.tokens_before, one.tokens_after
    full, free = bar(after, max(before, after), room)
    line = Content.assemble(
        (set_cell_size(one_line(_name(one), 60), _NAME), "bold"),
        (full, "$primary"),
        (free, "$foreground 10%"),
        f"{exact(after):>{_TOKENS}}",
        f"{_freed(before, after):>{_FREES}}",
        (f"{f'{one.survived}/{one.artefacts}':>{_KEPT}}", "$foreground-muted"),
    )
    if not one.refusal:
        return line
    return Content.assemble(line, "\n  ", (one_line(one.refusal, 300), "$foreground-muted"))


def _freed(before: int, after: int) -> str:
    share = 100 * (before - after) / max(1, before)
    return f"{share:.1f} %" if 0 < abs(share) < 9.95 else f"{share:.0f} %"
