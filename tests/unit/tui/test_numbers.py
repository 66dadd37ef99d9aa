"""How numbers are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roo_tui.tui.numbers import age, exact, money, short_tokens


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"), (999, "999"), (1_000, "1k"), (9_874, "9.9k"), (9_949, "9.9k"), (9_950, "10k"), (172_000, "172k"),
        (999_499, "999k"), (999_500, "1M"), (1_250_000, "1.2M"),
    ],
)  # fmt: skip
def test_tokens_are_short(count: int, text: str) -> None:
    assert short_tokens(count) == text


@given(st.integers(0, 9_000_000))
def test_tokens_take_at_most_five_characters(count: int) -> None:
    assert len(short_tokens(count)) <= 5


def test_money_shows_cents_and_never_hides_that_something_was_paid() -> None:
    assert [money(0), money(0.001), money(0.08), money(1_234.5)] == ["$0.00", "<$0.01", "$0.08", "$1,234.50"]


def test_counts_have_separators() -> None:
    assert exact(148_210) == "148,210"


def test_age_uses_its_largest_unit() -> None:
    minute = 60_000
    assert [age(0, 59_999), age(0, 5 * minute), age(0, 120 * minute), age(0, 3 * 24 * 60 * minute)] == [
        "just now", "5 min ago", "2 h ago", "3 d ago",
    ]  # fmt: skip


def test_a_clock_that_went_back_is_no_future() -> None:
    assert age(1_000_000, 0) == "just now"
