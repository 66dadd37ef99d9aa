import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.window.policy import decide, limits, notice_at
from roo_tui.domain.requests import ModelInfo

SONNET = ModelInfo("m", "p", window=200_000, max_output=8192)


def test_the_default_is_due_above_what_leaves_room_for_the_answer():
    found = limits(SONNET, max_output=8000)
    assert (found.reserved, found.allowed_tokens, found.trigger_tokens) == (8000, 172_000, 172_001)
    assert [decide(count, found) for count in (172_000, 172_001)] == ["nothing", "over"]


def test_a_lower_threshold_is_due_before_the_window_is_full():
    found = limits(SONNET, global_percent=50)
    assert found.trigger_tokens == 100_000
    assert [decide(count, found) for count in (99_999, 100_000, 171_809)] == ["nothing", "due", "over"]


@pytest.mark.parametrize(
    ("info", "max_output", "reserved"),
    [
        (SONNET, 0, 8192),
        (SONNET, 64_000, 64_000),
        (ModelInfo("m", "p", window=200_000, max_output=128_000), 0, 40_000),
        (ModelInfo("m", "p", window=200_000, max_output=0), 0, 8192),
        (ModelInfo("m", "p", window=10_001, max_output=0), 0, 2001),
    ],
)
def test_room_is_reserved_for_the_answer(info: ModelInfo, max_output: int, reserved: int):
    found = limits(info, max_output=max_output)
    assert (found.reserved, found.warnings) == (reserved, ())


def test_a_maximum_output_that_leaves_no_room_is_reported_and_not_used():
    found = limits(SONNET, max_output=190_000)
    assert found.reserved == 40_000
    assert "190,000" in found.warnings[0]


def test_a_profiles_window_goes_before_the_models():
    assert limits(SONNET, window=50_000).window == 50_000
    assert limits(ModelInfo("m", "p", window=0)).window == 200_000


@pytest.mark.parametrize(
    ("profile", "general", "percent", "warned"),
    [
        (-1, 80, 80, False),
        (60, 80, 60, False),
        (5, 80, 5, False),
        (100, 80, 100, False),
        (-1, 3, 5, False),
        (-1, 250, 100, False),
        (4, 80, 80, True),
        (101, 80, 80, True),
        (0, 80, 80, True),
        (math.nan, 80, 80, True),
        (True, 80, 80, True),
        (-1, math.inf, 100, True),
    ],
)
@pytest.mark.line("B19", "E36")
def test_thresholds_inherit_clamp_and_fall_back(profile: float, general: float, percent: float, warned: bool):
    found = limits(SONNET, profile_percent=profile, global_percent=general)
    assert (found.threshold_percent, bool(found.warnings)) == (percent, warned)


def test_the_notice_comes_a_tenth_of_the_window_earlier():
    assert notice_at(limits(SONNET, global_percent=50)) == 80_000
    assert notice_at(limits(SONNET, global_percent=5)) == 0


numbers = {
    "window": st.integers(1, 3_000_000),
    "max_output": st.integers(0, 300_000),
    "percent": st.integers(5, 100) | st.floats(5, 100),
}


@settings(max_examples=200, deadline=None)
@given(**numbers, count=st.integers(0, 3_000_000))
@pytest.mark.line("B19")
def test_due_means_at_the_threshold_or_over_what_is_allowed(window: int, max_output: int, percent: float, count: int):
    found = limits(SONNET, window=window, max_output=max_output, global_percent=percent)
    over = Fraction(count) > Fraction(window) * 9 / 10 - found.reserved
    due = Fraction(100 * count, window) >= Fraction(percent) or over
    assert decide(count, found) == ("over" if over else "due" if due else "nothing")


@settings(max_examples=200, deadline=None)
@given(**numbers)
@pytest.mark.line("B19")
def test_the_trigger_is_the_smallest_count_at_which_it_is_due(window: int, max_output: int, percent: float):
    found = limits(SONNET, window=window, max_output=max_output, global_percent=percent)
    assert decide(found.trigger_tokens, found) != "nothing"
    assert found.trigger_tokens == 0 or decide(found.trigger_tokens - 1, found) == "nothing"
    assert 0 <= notice_at(found) <= found.trigger_tokens


@settings(max_examples=200, deadline=None)
@given(**numbers, counts=st.tuples(st.integers(0, 3_000_000), st.integers(0, 3_000_000)))
def test_more_tokens_never_mean_less(window: int, max_output: int, percent: float, counts: tuple[int, int]):
    found = limits(SONNET, window=window, max_output=max_output, global_percent=percent)
    order = ["nothing", "due", "over"]
    fewer, more = sorted(counts)
    assert order.index(decide(fewer, found)) <= order.index(decide(more, found))
