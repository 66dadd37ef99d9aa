"""Before a condense: what it would free, cost and save, and what each strategy would."""

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
from roo_tui.domain.views import Comparison, Forecast
from roo_tui.plain_text import clean, one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import change_percent, counted, exact, money
from roo_tui.tui.screens.page import Page
from roo_tui.tui.widgets.context_bar import bar

_LARGEST_BAR = 48


class ForecastScreen(Page[bool]):
    """Dismisses with true if the user wants the condense."""

    TITLE_TEXT = strings.FORECAST_TITLE
    KEYS_TEXT = strings.FORECAST_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "condense", strings.CONDENSE, show=False)]

    def __init__(self, forecasts: Sequence[Forecast]) -> None:
        super().__init__()
        self._forecasts = forecasts

    def body(self) -> Iterable[Widget]:
        """Yield the previews."""
        yield VerticalScroll(Static(id="forecasts", markup=False), id="forecast-body")

    def on_mount(self) -> None:
        self.query_one("#forecast-body").focus()

    def on_resize(self) -> None:
        room = min(_LARGEST_BAR, max(8, self.size.width - 8))
        lines = [line for one in self._forecasts for line in (*_lines(one, room), Content(""))]
        nothing = [Content.styled(strings.FORECAST_NONE, "$foreground-muted")]
        self.query_one("#forecasts", Static).update(Content("\n").join(lines or nothing))

    def action_condense(self) -> None:
        """Condense."""
        self.dismiss(True)

    def action_less(self) -> None:
        """Go back without a condense."""
        self.dismiss(False)


def _lines(forecast: Forecast, room: int) -> Iterable[Content]:
    before, after = forecast.tokens_before, forecast.tokens_after
    yield Content.styled(one_line(forecast.label, 200), "bold")
    for tokens, style in ((before, "$foreground-muted"), (after, "$primary")):
        full, free = bar(tokens, max(before, after), room)
        yield Content.assemble("  ", (full, style), (free, "$foreground 10%"))
    tokens_change = strings.FORECAST_UNCHANGED if before == after else strings.FORECAST_TOKENS
    percent = change_percent(before, after)
    yield Content(f"  {tokens_change.format(before=exact(before), after=exact(after), percent=percent)}")
    money_parts = list(_money(forecast))
    if money_parts:
        yield Content.styled("  " + " · ".join(money_parts), "$foreground-muted")
    if forecast.note:
        yield Content.styled(f"  {clean(forecast.note)}", "$foreground-muted")


def _money(forecast: Forecast) -> Iterable[str]:
    if forecast.cost_usd is not None:
        yield strings.FORECAST_COST.format(cost=money(forecast.cost_usd))
    if forecast.saving_per_turn_usd is None:
        return
    if forecast.saving_per_turn_usd <= 0:
        yield strings.FORECAST_SAVES_NOTHING
        return
    yield strings.FORECAST_SAVES.format(saving=money(forecast.saving_per_turn_usd))
    turns = forecast.turns_to_pay_back
    if turns is None:
        yield strings.FORECAST_NEVER
    else:
        yield counted(strings.FORECAST_PAYS, max(1, round(turns)))


Compare = Callable[[], Awaitable[Sequence[Comparison]]]

_NAME, _TOKENS, _FREES, _KEPT = 20, 13, 9, 9
_LARGEST_BAR = 40


class CompareScreen(Page[Comparison | None]):
    """Dismisses with the strategy to condense with, or None. The comparing stops when the screen is left."""

    TITLE_TEXT = strings.COMPARE_TITLE
    KEYS_TEXT = strings.COMPARE_KEYS

    def __init__(self, compare: Compare) -> None:
        super().__init__()
        self._compare = compare
        self._found: Sequence[Comparison] = ()

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
        room = min(_LARGEST_BAR, max(4, self.size.width - 6 - _NAME - _TOKENS - _FREES - _KEPT))
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


def _way(one: Comparison, room: int) -> Content:
    before, after = one.tokens_before, one.tokens_after
    full, free = bar(after, max(before, after), room)
    line = Content.assemble(
        (set_cell_size(one_line(f"{one.strategy} {one.preset}", 60), _NAME), "bold"),
        (full, "$primary"),
        (free, "$foreground 10%"),
        f"{exact(after):>{_TOKENS}}",
        f"{_freed(before, after):>{_FREES}}",
        (f"{f'{one.survived}/{one.artefacts}':>{_KEPT}}", "$foreground-muted"),
    )
    if not one.note:
        return line
    return Content.assemble(line, "\n  ", (one_line(one.note, 300), "$foreground-muted"))


def _freed(before: int, after: int) -> str:
    share = 100 * (before - after) / max(1, before)
    return f"{share:.1f} %" if 0 < abs(share) < 9.95 else f"{share:.0f} %"
