import pytest

from roo_tui.context.history.rewind import rewind_points, target_head
from roo_tui.domain.blocks import Text, ToolResult
from roo_tui.domain.entries import CallFacts, CallRecord, Checkpoint, TodosChanged, UserMessage
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.views import RewindPoint
from tests.support.histories import History


def test_there_is_a_rewind_point_with_its_text_before_each_typed_message():
    history = History()
    history.add(UserMessage((Text("fix it"), Text("<environment>")), words="fix\n  it"))
    history.answer("done")
    second = history.user("thanks")
    assert rewind_points(history.path) == (
        RewindPoint(1, "user", "fix it", 1000, "", "fix\n  it"),
        RewindPoint(second, "user", "thanks", 3000, "", "thanks"),
    )
    assert target_head(history.path, 1) is None
    assert target_head(history.path, second) == 2


def test_a_tool_step_ends_with_its_last_result_and_its_checkpoint():
    history = History()
    history.user("go")
    before = history.add(Checkpoint("tree-1", "c"))
    history.call("a", "b")
    history.result("a")
    facts = CallRecord("b", "write_file", CallFacts("write", "src/a.py"))
    last = history.add(UserMessage((ToolResult("b", "ok"),), source="tools", calls=(facts,)))
    history.add(TodosChanged((("x", "done"),)))
    after = history.add(Checkpoint("tree-2", "c"))
    next_message = history.user("next")
    points = rewind_points(history.path)
    assert [(point.entry_id, point.kind, point.title, point.tree) for point in points] == [
        (1, "user", "go", ""),
        (last, "tool", "write_file src/a.py", "tree-2"),
        (next_message, "user", "next", "tree-2"),
    ]
    assert target_head(history.path, last) == after
    history.log.move(last)
    assert rewind_points(history.path)[-1].tree == "tree-1"
    assert before < last


@pytest.mark.line("A5a")
def test_a_condense_has_a_point_of_its_own():
    history = History()
    history.user("go")
    history.add(Checkpoint("tree", "c"))
    history.answer("done")
    condense = history.condense()
    assert rewind_points(history.path)[-1] == RewindPoint(condense, "condense", "Context condensed", 4000, "tree")
    assert target_head(history.path, condense) == condense


def test_results_that_never_came_do_not_hide_later_steps():
    history = History()
    history.user("go")
    history.call("lost", "a")
    history.result("a")
    history.user("go on")
    history.call("b")
    last = history.result("b")
    assert [point.entry_id for point in rewind_points(history.path)] == [1, 4, last]


def test_a_message_of_the_engine_is_no_rewind_point_and_an_imported_one_is():
    history = History()
    history.add(UserMessage((Text("continue"),), source="engine"))
    imported = history.add(UserMessage((Text("from elsewhere"),), source="import"))
    assert [(point.entry_id, point.words) for point in rewind_points(history.path)] == [(imported, "from elsewhere")]


def test_an_entry_that_is_no_point_is_refused():
    history = History()
    history.user("go")
    history.answer("done")
    with pytest.raises(CommandRefused, match="e2"):
        target_head(history.path, 2)
