"""The bar is to scale and its figures fit."""

from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from roo_tui.domain.views import ContextUse
from roo_tui.tui.widgets.context_bar import ContextBar, ContextMeter, cells_of, fullness

tokens = st.integers(0, 2_000_000)


@settings(max_examples=200)
@given(used=tokens, window=tokens, reserved=tokens, width=st.integers(1, 60))
def test_the_parts_of_the_bar_always_fill_it(used: int, window: int, reserved: int, width: int) -> None:
    parts = cells_of(ContextUse(used, window, reserved, window), width)
    assert sum(len(part) for part in parts) == width


def test_the_parts_are_to_scale() -> None:
    assert cells_of(ContextUse(50_000, 200_000, 20_000, 160_000), 20) == ("█████", "░" * 13, "▒▒")


def test_anything_used_or_reserved_shows_at_least_a_trace() -> None:
    used, _, reserved = cells_of(ContextUse(1, 1_000_000, 1, 900_000), 20)
    assert used == "▏"
    assert reserved == "▒"


def test_an_overfull_window_fills_the_bar_and_no_more() -> None:
    assert cells_of(ContextUse(300_000, 200_000, 8_000, 172_000), 10) == ("█" * 10, "", "")


def test_near_is_a_tenth_of_the_window_before_due() -> None:
    def at(used: int) -> str:
        return fullness(ContextUse(used, 200_000, 8_000, 172_000))

    assert [at(151_999), at(152_000), at(171_999), at(172_000)] == ["calm", "near", "near", "due"]


class BarApp(App[None]):
    def compose(self) -> ComposeResult:
        yield ContextBar()


async def text_at(width: int, use: ContextUse) -> str:
    app = BarApp()
    async with app.run_test(size=(width, 3)) as pilot:
        app.query_one(ContextBar).use = use
        await pilot.pause()
        return app.query_one(ContextMeter).render().plain


USE = ContextUse(9_874, 200_000, 8_000, 172_000)


async def test_80_columns_show_every_figure() -> None:
    text = await text_at(80, USE)
    for figure in ("9.9k of 200k", "reserved 8k", "condense at 172k"):
        assert figure in text


async def test_a_narrow_terminal_keeps_how_full_it_is() -> None:
    text = await text_at(40, USE)
    assert "9.9k of 200k" in text
    assert "reserved" not in text


async def test_automatic_off_is_said() -> None:
    assert "automatic condense off" in await text_at(80, ContextUse(9_874, 200_000, 8_000, 172_000, False))


async def test_the_tooltip_has_the_raw_numbers() -> None:
    app = BarApp()
    async with app.run_test(size=(80, 3)):
        app.query_one(ContextBar).use = USE
        tip = str(app.query_one(ContextMeter).tooltip)
        for figure in ("200,000", "9,874", "182,126", "8,000", "172,000"):
            assert figure in tip


async def test_colours_change_when_near_and_when_due() -> None:
    app = BarApp()
    async with app.run_test(size=(80, 3)):
        bar, meter = app.query_one(ContextBar), app.query_one(ContextMeter)
        bar.use = ContextUse(160_000, 200_000, 8_000, 172_000)
        assert meter.has_class("-near")
        bar.use = ContextUse(180_000, 200_000, 8_000, 172_000)
        assert meter.has_class("-due")
        assert not meter.has_class("-near")
