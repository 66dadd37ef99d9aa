"""What a condense would free, cost and save, shown before it is made."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from roo_tui.domain.views import Forecast
from roo_tui.plain_text import clean, one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import exact, money
from roo_tui.tui.screens.page import Page
from roo_tui.tui.widgets.context_bar import bar

_LARGEST_BAR = 48


class ForecastScreen(Page[bool]):
    """Dismisses with true if the condense is to be made."""

    TITLE_TEXT = strings.FORECAST_TITLE
    KEYS_TEXT = strings.FORECAST_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "condense", strings.CONDENSE, show=False)]

    def __init__(self, forecasts: Sequence[Forecast]) -> None:
        super().__init__()
        self._forecasts = forecasts

    def body(self) -> Iterable[Widget]:
        yield VerticalScroll(Static(id="forecasts", markup=False), id="forecast-body")

    def on_mount(self) -> None:
        self.query_one("#forecast-body").focus()

    def on_resize(self) -> None:
        room = min(_LARGEST_BAR, max(8, self.size.width - 8))
        lines = [line for one in self._forecasts for line in (*_lines(one, room), Content(""))]
        nothing = [Content.styled(strings.FORECAST_NONE, "$foreground-muted")]
        self.query_one("#forecasts", Static).update(Content("\n").join(lines or nothing))

    def action_condense(self) -> None:
        """Make it."""
        self.dismiss(True)

    def action_less(self) -> None:
        """Leave everything as it is."""
        self.dismiss(False)


def _lines(forecast: Forecast, room: int) -> Iterable[Content]:
    before, after = forecast.tokens_before, forecast.tokens_after
    change = round(100 * (after - before) / before) if before else 0
    percent = f"{'−' if change < 0 else '+' if change else ''}{abs(change)}"
    yield Content.styled(one_line(forecast.label, 200), "bold")
    for tokens, style in ((before, "$foreground-muted"), (after, "$primary")):
        full, free = bar(tokens, max(before, after), room)
        yield Content.assemble("  ", (full, style), (free, "$foreground 10%"))
    yield Content.assemble(
        "  ", strings.FORECAST_TOKENS.format(before=exact(before), after=exact(after), percent=percent)
    )
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
    yield strings.FORECAST_SAVES.format(saving=money(forecast.saving_per_turn_usd))
    turns = forecast.turns_to_pay_back
    if turns is None:
        yield strings.FORECAST_NEVER
    else:
        count = max(1, round(turns))
        yield strings.FORECAST_PAYS.format(
            turns=strings.FORECAST_ONE_TURN if count == 1 else strings.FORECAST_TURNS.format(count=exact(count))
        )
