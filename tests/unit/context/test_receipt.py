"""What a receipt finds that a summary does not say."""

from roo_tui.context.condense.receipt import receipt
from roo_tui.domain.blocks import ToolResult
from roo_tui.domain.entries import CallFacts, CallRecord, UserMessage
from tests.support.histories import History

OUTPUT = "collected 2 items\n\nE       AssertionError: 3 != 4\n\x1b[31m1 failed\x1b[0m, 1 passed in 0.1s\n"


def done(history: History, facts: CallFacts, output: str = "ok") -> None:
    call_id = f"t{len(history.path)}"
    history.call(call_id)
    record = CallRecord(call_id, facts.kind, facts)
    history.add(UserMessage((ToolResult(call_id, output),), source="tools", calls=(record,)))


def test_edited_files_that_are_not_named_are_listed_once() -> None:
    history = History()
    history.user("go")
    done(history, CallFacts("edit", "src/a.py", changed=("src/a.py",)))
    done(history, CallFacts("edit", "src/a.py", changed=("src/a.py",)))
    done(history, CallFacts("write", "src/b.py"))
    done(history, CallFacts("command", query="make", exit_code=0, changed=("gen/c.txt",)))
    done(history, CallFacts("read", "src/d.py"))
    assert receipt(history.path, "Changed b.py and nothing in aa.py") == ("Edited: src/a.py", "Edited: gen/c.txt")
    assert receipt(history.path, "Changed SRC/A.py, src/b.py, c.txt.") == ()


def test_last_failing_command_is_listed_with_its_error_line() -> None:
    history = History()
    history.user("go")
    done(history, CallFacts("command", query="npm test", exit_code=2), "Error: old")
    done(history, CallFacts("command", query="pytest -q", exit_code=1), OUTPUT)
    assert receipt(history.path, "nothing") == ("Last failing command: pytest -q (exit 1): 1 failed, 1 passed in 0.1s",)
    assert receipt(history.path, "pytest -q says: 1 failed,\n1 passed in 0.1s") == ()


def test_command_that_succeeded_since_is_not_failing() -> None:
    history = History()
    history.user("go")
    done(history, CallFacts("command", query="pytest -q", exit_code=1), OUTPUT)
    done(history, CallFacts("command", query="pytest -q", exit_code=0))
    assert receipt(history.path, "nothing") == ()


def test_failing_command_without_output_is_listed_all_the_same() -> None:
    history = History()
    history.user("go")
    done(history, CallFacts("command", query="false", exit_code=1), "")
    assert receipt(history.path, "nothing") == ("Last failing command: false (exit 1)",)


def test_open_todo_items_that_are_not_mentioned_are_listed() -> None:
    todos = (("write  the test", "pending"), ("fix it", "in_progress"), ("read", "done"))
    assert receipt((), "Next: Write the Test.", todos) == ("Open todo item: fix it",)
