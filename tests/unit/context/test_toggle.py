import pytest

from roo_tui.context.history.undo import newest_switchable, redo_marker, undo_marker
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.markers import Toggle, Truncation
from tests.support.histories import History


@pytest.fixture
def talk() -> History:
    history = History()
    for word in "abcdef":
        history.user(word)
    return history


def test_undo_takes_back_the_newest_marker_and_redo_does_it_again(talk: History):
    marker = talk.condense()
    assert undo_marker(talk.path) == Toggle(marker, on=False)
    talk.add(undo_marker(talk.path))
    assert redo_marker(talk.path) == Toggle(marker, on=True)


def test_undo_goes_back_one_by_one_and_redo_returns_in_turn(talk: History):
    first = talk.add(Truncation((2,)))
    second = talk.add(Truncation((3,)))
    for expected in (second, first):
        toggle = undo_marker(talk.path)
        assert toggle.marker_id == expected
        talk.add(toggle)
    for expected in (first, second):
        toggle = redo_marker(talk.path)
        assert toggle.marker_id == expected
        talk.add(toggle)


def test_a_covered_marker_is_passed_over_and_refused_with_the_outer_ones_name(talk: History):
    inner = talk.condense("inner")
    talk.user("more")
    outer = talk.condense("outer")
    assert newest_switchable(talk.path, on=False) == outer
    with pytest.raises(CommandRefused, match=f"e{outer}"):
        undo_marker(talk.path, inner)


def test_nothing_to_switch_is_reported(talk: History):
    with pytest.raises(CommandRefused, match="nothing to undo"):
        undo_marker(talk.path)
    with pytest.raises(CommandRefused, match="nothing to redo"):
        redo_marker(talk.path)
    with pytest.raises(CommandRefused, match="e2 is no condense"):
        undo_marker(talk.path, 2)


def test_a_marker_is_not_switched_to_what_it_is(talk: History):
    marker = talk.condense()
    with pytest.raises(CommandRefused, match="in force already"):
        redo_marker(talk.path, marker)
    talk.add(undo_marker(talk.path, marker))
    with pytest.raises(CommandRefused, match="undone already"):
        undo_marker(talk.path, marker)


def test_toggles_of_what_is_no_marker_change_nothing(talk: History):
    talk.add(Toggle(2, on=False))
    talk.add(Toggle(99, on=False))
    assert talk.texts() == list("abcdef")
    assert newest_switchable(talk.path, on=True) is None
