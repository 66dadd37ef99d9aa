"""Every kind of row is in the table, and every key in a row's title does something."""

from typing import cast, get_args

import pytest

from roo_tui.domain.views import (
    AnswerRow,
    CheckpointRow,
    CommandView,
    DiffView,
    FailureRow,
    ReductionRow,
    RowBody,
    TextView,
    ThinkingRow,
    TodoView,
    ToolRow,
    UserRow,
)
from roo_tui.headless.output import reduction_line
from roo_tui.tui.screens.chat.commands import ROW_ACTIONS
from roo_tui.tui.widgets import rows
from roo_tui.tui.widgets.rows import AnyBody, FoldedRow, StatusRow, copy_text, gap_between, kind_of
from roo_tui.tui.widgets.rows.notes import FailureKind

CONDENSED = ReductionRow("condense", True, 100, 10, 0.5, "manual", "native", 3, "the summary", receipt=("a.py",))
TRUNCATED = ReductionRow("truncation", True, 100, 10, None, "manual", "", 3)
FAILED = FailureRow("Condense failed", "Overloaded.", "HTTP status: 529", of_condense=True)
ROWS: dict[AnyBody, str] = {
    UserRow("my words", 0): "my words",
    AnswerRow("**an** answer"): "**an** answer",
    ThinkingRow("a thought"): "a thought",
    ToolRow("1", "read_file", "a.py", "waiting"): "read_file a.py",
    ToolRow("2", "edit", "a.py", "done", view=DiffView("a.py", "old", "new", added=1)): "new",
    ToolRow("3", "run", "make", "done", view=CommandView("make", "built")): "$ make\nbuilt",
    ToolRow("4", "todos", "", "done", view=TodoView((("one", "done"), ("two", "pending")))): "[x] one\n[ ] two",
    ToolRow("5", "ask", "", "done", view=TextView("text")): "text",
    CONDENSED: "the summary",
    TRUNCATED: "Context truncated 100 → 10 tokens",
    FAILED: "Condense failed\n\nOverloaded.\n\nHTTP status: 529",
    CheckpointRow("abc1234", ("a.py", "b.py")): "abc1234\na.py\nb.py",
    FoldedRow(2): "",
    StatusRow("Condensing context…", 2, "⠋", "Esc cancels"): "",
}


def test_every_kind_of_row_has_an_example_here() -> None:
    assert {type(body) for body in ROWS} == {*get_args(RowBody), FoldedRow, StatusRow}


@pytest.mark.parametrize("body", ROWS, ids=lambda body: type(body).__name__)
def test_a_row_is_copied_as_it_came(body: AnyBody) -> None:
    assert copy_text(body) == ROWS[body]


@pytest.mark.parametrize("body", ROWS, ids=lambda body: type(body).__name__)
def test_every_key_of_a_title_has_an_action(body: AnyBody) -> None:
    title = kind_of(body).view(body, False, "").title
    hints = title.hints if title is not None else ()
    assert len({hint.key for hint in hints}) == len(hints)
    assert {hint.action for hint in hints} <= set(ROW_ACTIONS)


def test_every_action_is_offered_by_some_row() -> None:
    undone = ReductionRow("mask", False, 100, 10, None, "manual", "", 3)
    titles = [kind_of(body).view(body, False, "").title for body in (*ROWS, undone, FailureRow("Failed", "Why."))]
    offered = {hint.action for title in titles if title is not None for hint in title.hints}
    assert offered == set(ROW_ACTIONS)


def test_calls_that_show_a_kind_of_view_may_have_a_row_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = FailureKind()
    monkeypatch.setitem(cast(dict[type, object], rows._KINDS), TodoView, own)
    todos, other = (ToolRow("1", "todos", "", "done", view=view) for view in (TodoView(), TextView("text")))
    assert kind_of(todos) is own
    assert kind_of(other) is kind_of(ToolRow("1", "todos", "", "running")) is not own


def test_blank_lines_stand_around_what_is_spoken() -> None:
    tool, answer = ToolRow("1", "read_file", "a.py", "done"), AnswerRow("words")
    pairs = ((None, answer), (tool, tool), (tool, answer), (answer, tool))
    assert [gap_between(before, body) for before, body in pairs] == [0, 0, 1, 1]


def test_only_small_changes_to_files_open_by_themselves() -> None:
    small = ToolRow("1", "edit", "a.py", "done", view=DiffView("a.py", "", "", added=30))
    large = ToolRow("1", "edit", "a.py", "done", view=DiffView("a.py", "", "", added=31))
    assert kind_of(small).opens_by_itself(small)
    assert not any(kind_of(body).opens_by_itself(body) for body in (large, CONDENSED, ThinkingRow("x")))


@pytest.mark.parametrize(("title", "shown"), [("", "Duplicates hidden"), ("Pictures hidden", "Pictures hidden")])
def test_a_reduction_has_its_own_title_or_that_of_its_kind(title: str, shown: str) -> None:
    body = ReductionRow("mask", True, 100, 10, None, "forced", "refused pictures", 1, title=title)
    view = kind_of(body).view(body, False, "")
    assert view.title is not None and view.title.parts[0][0][0] == shown
    assert kind_of(body).copy_text(body) == f"{shown} 100 → 10 tokens"
    assert reduction_line(body) == f"{shown}  100 → 10 tokens"
