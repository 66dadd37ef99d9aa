import pytest

from roo_tui.context.history.log import Log
from roo_tui.domain.entries import Entry, UserMessage
from roo_tui.domain.ids import EntryId


def entry(entry_id: EntryId, parent: EntryId | None) -> Entry:
    return Entry(entry_id, parent, 0, UserMessage(()))


def ids(log: Log) -> list[EntryId]:
    return [entry.id for entry in log.path()]


def test_a_log_without_a_head_shows_nothing_and_keeps_everything():
    log = Log([entry(1, None), entry(2, 1)])
    assert log.path() == ()
    assert log.head is None
    assert len(log.entries) == 2


def test_the_path_runs_from_the_root_to_the_head():
    assert ids(Log([entry(1, None), entry(2, 1), entry(3, 1)], head=3)) == [1, 3]


def test_added_entries_take_the_head_with_them():
    log = Log()
    log.add([entry(1, None), entry(2, 1)])
    assert (log.head, ids(log)) == (2, [1, 2])


def test_entries_after_a_rewind_grow_a_branch_and_the_old_one_can_be_returned_to():
    log = Log([entry(1, None), entry(2, 1), entry(3, 2)], head=3)
    log.move(1)
    log.add([entry(4, 1)])
    assert ids(log) == [1, 4]
    log.move(3)
    assert ids(log) == [1, 2, 3]


def test_a_task_can_be_begun_anew_before_its_first_entry():
    log = Log([entry(1, None)], head=1)
    log.move(None)
    log.add([entry(2, None)])
    assert ids(log) == [2]


def test_an_entry_of_another_branch_moves_the_head_there():
    log = Log([entry(1, None), entry(2, 1)], head=2)
    log.add([entry(3, 1)])
    assert ids(log) == [1, 3]


def test_the_path_is_one_value_until_something_changes():
    log = Log([entry(1, None)], head=1)
    assert log.path() is log.path()
    before = log.path()
    log.add([entry(2, 1)])
    assert len(before) == 1


def test_an_entry_is_found_by_its_id():
    log = Log([entry(1, None)])
    assert log.entry(1).id == 1
    with pytest.raises(KeyError):
        log.entry(2)


@pytest.mark.parametrize("wrong", [entry(1, None), entry(5, 4)])
def test_a_second_entry_of_one_id_and_an_unknown_parent_are_refused(wrong: Entry):
    with pytest.raises(ValueError):
        Log([entry(1, None), wrong])


def test_a_head_that_is_not_in_the_log_is_refused_and_nothing_moves():
    log = Log([entry(1, None)], head=1)
    with pytest.raises(KeyError):
        log.move(7)
    assert ids(log) == [1]
