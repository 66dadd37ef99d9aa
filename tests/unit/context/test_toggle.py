import pytest

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.history.undo import newest_switchable, redo_act, redo_marker, undo_act, undo_marker
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.markers import Condense, Mask, MaskItem, Toggle, Truncation
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
    with pytest.raises(CommandRefused, match="e2 is not a condense"):
        undo_marker(talk.path, 2)


def test_a_marker_is_not_switched_to_what_it_is(talk: History):
    marker = talk.condense()
    with pytest.raises(CommandRefused, match="already in force"):
        redo_marker(talk.path, marker)
    talk.add(undo_marker(talk.path, marker))
    with pytest.raises(CommandRefused, match="already undone"):
        undo_marker(talk.path, marker)


def test_toggles_of_what_is_no_marker_change_nothing(talk: History):
    talk.add(Toggle(2, on=False))
    talk.add(Toggle(99, on=False))
    assert talk.texts() == list("abcdef")
    assert newest_switchable(talk.path, on=True) is None


def test_markers_that_were_appended_together_are_undone_and_redone_together(talk: History):
    talk.condense()
    before = talk.texts()
    path = list(talk.path)
    both: tuple[Body, ...] = (Mask((MaskItem(4, 0, "text", 0, 4, "…"),)), Condense((4, 5), (Text("both"),)))
    for number, body in enumerate(both, 1):
        path.append(Entry(90 + number, path[-1].id, 777, body))
    undone = undo_act(path)
    assert [toggle.marker_id for toggle in undone] == [92, 91]
    after = appended(path, *undone)
    assert [message.blocks for message in effective_history(after)] == [
        message.blocks for message in effective_history(talk.path)
    ]
    assert before == talk.texts()
    assert [toggle.marker_id for toggle in redo_act(after)] == [91, 92]
    assert [toggle.marker_id for toggle in undo_act(path, 91)] == [92, 91], "by either of its rows"
    with pytest.raises(CommandRefused, match="already undone"):
        undo_act(after, 92)
