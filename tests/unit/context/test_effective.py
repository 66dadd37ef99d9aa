import pytest

from roo_tui.context.history.effective import (
    active_markers,
    covering,
    effective_history,
    hidden_ids,
    truncation_line,
    with_marker,
)
from roo_tui.domain.blocks import Image, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Checkpoint, Noted, UserMessage
from roo_tui.domain.markers import Condense, Mask, MaskItem, Toggle, Truncation
from tests.support.histories import History


def line(count: int) -> str:
    return truncation_line(count).text


@pytest.fixture
def talk() -> History:
    """Four messages: u1, a2, u3, a4."""
    history = History()
    history.user("one")
    history.answer("two")
    history.user("three")
    history.answer("four")
    return history


def test_only_messages_with_blocks_are_shown_to_the_model(talk: History):
    talk.add(Checkpoint("tree", "commit"))
    talk.add(Noted("info", "a remark"))
    talk.add(AssistantMessage((), unsent=(Text("cut off"),), interrupted=True))
    talk.add(UserMessage(()))
    assert talk.texts() == ["one", "two", "three", "four"]


def test_a_condense_shows_its_summary_in_place_of_what_it_hides(talk: History):
    marker = talk.condense("summary")
    talk.user("five")
    assert talk.texts() == ["summary", "five"]
    visible = effective_history(talk.path)
    assert (visible[0].entry_id, visible[0].role, visible[0].source) == (marker, "user", "summary")
    assert hidden_ids(talk.path) == {1, 2, 3, 4}


def test_a_summary_stands_before_the_turns_that_were_kept(talk: History):
    talk.condense("summary", keep=2)
    assert talk.texts() == ["summary", "three", "four"]


def test_a_second_condense_hides_the_first_summary_where_it_stood(talk: History):
    first = talk.condense("first", keep=2)
    talk.add(Condense((first, 3), (Text("second"),)))
    assert talk.texts() == ["second", "four"]


def test_a_truncation_shows_one_line_with_the_number_of_messages(talk: History):
    talk.add(Truncation((2, 3)))
    assert talk.texts() == ["one", line(2), "four"]


def test_a_truncation_counts_the_messages_of_the_one_it_hides(talk: History):
    first = talk.add(Truncation((2, 3)))
    talk.user("five")
    talk.add(Truncation((first, 4)))
    assert talk.texts() == ["one", line(3), "five"]


@pytest.mark.line("A3")
def test_undo_brings_the_messages_back_and_redo_hides_them_again(talk: History):
    marker = talk.condense("summary")
    talk.user("five")
    talk.add(Toggle(marker, on=False))
    assert talk.texts() == ["one", "two", "three", "four", "five"]
    assert active_markers(talk.path) == {}
    talk.add(Toggle(marker, on=True))
    assert talk.texts() == ["summary", "five"]


@pytest.mark.line("A2")
def test_a_rewind_to_between_a_condense_and_its_undo_finds_it_on(talk: History):
    marker = talk.condense("summary")
    talk.add(Toggle(marker, on=False))
    talk.log.move(marker)
    assert talk.texts() == ["summary"]


def test_undo_of_the_outer_condense_shows_the_inner_summary(talk: History):
    talk.condense("inner")
    talk.user("five")
    outer = talk.condense("outer")
    talk.add(Toggle(outer, on=False))
    assert talk.texts() == ["inner", "five"]


def test_a_condense_made_while_another_was_undone_covers_it(talk: History):
    undone = talk.condense("undone")
    talk.add(Toggle(undone, on=False))
    later = talk.condense("later")
    assert covering(talk.path, undone) == later
    assert covering(talk.path, later) is None
    assert talk.texts() == ["later"]


def test_the_outermost_of_nested_markers_is_named(talk: History):
    first = talk.condense("first")
    talk.user("five")
    talk.condense("second")
    talk.user("six")
    third = talk.condense("third")
    assert covering(talk.path, first) == third


def test_a_marker_that_hides_nothing_of_another_does_not_cover_it(talk: History):
    condense = talk.condense("summary", keep=2)
    talk.user("five")
    talk.add(Truncation((3, 4)))
    assert covering(talk.path, condense) is None
    assert covering(talk.path, 1) is None
    assert covering(talk.path, 99) is None


def test_what_a_marker_says_of_later_entries_is_not_believed(talk: History):
    talk.add(Condense((1, 6), (Text("summary"),)))
    talk.user("six")
    assert talk.texts() == ["summary", "two", "three", "four", "six"]


def test_a_marker_without_anything_to_show_only_hides(talk: History):
    talk.add(Condense((1, 2), ()))
    assert talk.texts() == ["three", "four"]


def test_masks_replace_stretches_of_results_inputs_and_texts():
    history = History()
    history.user("read it")
    history.add(AssistantMessage((ToolUse("c", "write", {"content": "0123456789", "path": "a"}),)))
    history.add(UserMessage((ToolResult("c", "abcdefghij"),), source="tools"))
    items = (
        MaskItem(1, 0, "text", 5, 7, "[..]"),
        MaskItem(2, 0, "input", 2, 10, "[cut]", field="content"),
        MaskItem(3, 0, "result", 0, 2, "[a]"),
        MaskItem(3, 0, "result", 4, 6, "[b]"),
    )
    history.add(Mask(items))
    user, call, result = effective_history(history.path)
    assert user.blocks == (Text("read [..]"),)
    assert call.blocks == (ToolUse("c", "write", {"content": "01[cut]", "path": "a"}),)
    assert result.blocks == (ToolResult("c", "[a]cd[b]ghij"),)


def test_a_mask_reaches_over_the_parts_of_a_result_and_takes_pictures_inside_it():
    history = History()
    picture = Image("image/png", "aGk=")
    history.add(UserMessage((ToolResult("c", (Text("abc"), picture, Text("def"))),), source="tools"))
    history.add(Mask((MaskItem(1, 0, "result", 1, 14, "[cut]"),)))
    assert effective_history(history.path)[0].blocks == (ToolResult("c", (Text("a[cut]"), Text("f"))),)


def test_masks_that_overlap_or_fit_nothing_do_no_harm(talk: History):
    talk.add(Mask((MaskItem(1, 0, "text", 0, 2, "[x]"), MaskItem(1, 0, "text", 1, 3, "[y]"))))
    talk.add(
        Mask(
            (
                MaskItem(1, 7, "text", 0, 2, "z"),
                MaskItem(2, 0, "result", 0, 1, "z"),
                MaskItem(3, 0, "text", 90, 99, "z"),
            )
        )
    )
    assert talk.texts() == ["[x]", "two", "three", "four"]


def test_a_mask_comes_off_when_its_target_is_hidden(talk: History):
    talk.add(Mask((MaskItem(1, 0, "text", 0, 3, "see e3", target=3),)))
    assert talk.texts()[0] == "see e3"
    assert with_marker(talk.path, Truncation((2, 3)))[0].blocks == (Text("one"),)
    talk.add(Truncation((2, 3)))
    assert talk.texts()[0] == "one"


def test_a_mask_under_a_later_condense_is_covered(talk: History):
    mask = talk.add(Mask((MaskItem(1, 0, "text", 0, 3, "-"),)))
    condense = talk.condense("summary")
    assert covering(talk.path, mask) == condense


def test_a_list_and_a_tuple_of_the_same_path_give_the_same(talk: History):
    assert effective_history(list(talk.path)) == effective_history(talk.path)


def test_a_path_that_shares_ids_with_one_seen_before_is_not_mistaken_for_it(talk: History):
    other = History()
    other.user("something else")
    assert talk.texts()[0] == "one"
    assert other.texts() == ["something else"]
