"""The artefacts of the survival bench: taken from raw messages, kind by kind, without the product's code."""

import ast
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bench import artefacts as module
from bench.artefacts import artefacts, conversations, read, whole_text

Message = dict[str, Any]


def call(name: str, given: dict[str, Any], output: str = "Done.", *, is_error: bool = False) -> list[Message]:
    """Return a call and its result; ids may repeat, since a result directly follows its call."""
    use = {"type": "tool_use", "id": "c", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": "c", "content": output, "is_error": is_error}
    said = {"type": "text", "text": f"Now {name}."}
    return [{"role": "assistant", "content": [said, use]}, {"role": "user", "content": [result]}]


def texts(messages: list[Message], kind: str) -> list[tuple[str, ...]]:
    return [one.texts for one in artefacts(messages) if one.kind == kind]


def test_nothing_of_the_product_is_imported() -> None:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "gzip" in imported
    assert not [name for name in imported if name.partition(".")[0] in ("roo_tui", "tests", "bench")]


@pytest.mark.parametrize(
    ("name", "given", "path", "line"),
    [
        (
            "Edit",
            {
                "file_path": "/w/a.py",
                "old_string": "it stays here",
                "new_string": "it stays here\n  value = 12345",
            },
            "/w/a.py",
            "value = 12345",
        ),
        (
            "write_to_file",
            {"path": "b.py", "content": "x = 1\nprint('hello, world')\n"},
            "b.py",
            "print('hello, world')",
        ),
        (
            "apply_diff",
            {"path": "c.py", "diff": "<<<<<<< SEARCH\nthe old long line\n=======\nthe new line\n>>>>>>> REPLACE"},
            "c.py",
            "the new line",
        ),
        (
            "MultiEdit",
            {"file_path": "d.py", "edits": [{"old_string": "x", "new_string": "first = 'of two'"}]},
            "d.py",
            "first = 'of two'",
        ),
    ],
)
def test_a_change_is_a_path_and_the_longest_line_put_in(name: str, given: dict[str, Any], path: str, line: str) -> None:
    messages = call(name, given)
    assert texts(messages, "path") == [(path,)]
    assert texts(messages, "change") == [(line,)]
    assert [one.subject for one in artefacts(messages) if one.kind == "change"] == [path]


def test_a_patch_changes_each_of_its_files() -> None:
    added = "*** Add File: new.py\n+import pathlib\n"
    updated = "*** Update File: old.py\n@@\n-import os, sys, re\n+import os, sys\n"
    patch = f"*** Begin Patch\n{added}{updated}*** End Patch"
    messages = call("apply_patch", {"input": patch})
    assert texts(messages, "path") == [("new.py",), ("old.py",)]
    assert texts(messages, "change") == [("import pathlib",), ("import os, sys",)]


def test_the_file_that_is_open_is_the_one_edited() -> None:
    output = "Text replaced.\n(Open file: /testbed/a.py)\n(Current directory: /testbed)\nbash-$"
    assert texts(call("edit", {"search": "x", "replace": "y = 'replaced'"}, output), "path") == [("/testbed/a.py",)]


def test_the_last_change_of_a_file_counts_and_failed_ones_do_not() -> None:
    first = call("Write", {"file_path": "a.py", "content": "the first content"})
    second = call("Write", {"file_path": "a.py", "content": "the second content"})
    third = call("Write", {"file_path": "a.py", "content": "the third content"}, is_error=True)
    assert texts([*first, *second, *third], "change") == [("the second content",)]
    assert texts(third, "path") == []


def test_every_command_counts_once_and_the_last_that_still_fails_is_the_failure() -> None:
    tests = call("Bash", {"command": "make test"}, "Exit code 2\nerror: no rule\ntail", is_error=True)
    lint = call("exec_command", {"cmd": "ruff check"}, "Time: 1\nProcess exited with code 1\nOutput:\nE501 too long")
    fixed = call("exec_command", {"cmd": "ruff check"}, "Wall time: 1\nProcess exited with code 0\nOutput:\n")
    assert texts([*tests, *lint], "failure") == [("ruff check", "E501 too long")]
    assert texts([*tests, *lint, *fixed], "failure") == [("make test", "error: no rule")]
    assert texts([*tests, *lint, *fixed], "command") == [("make test",), ("ruff check",)]


def test_an_exit_code_decides_before_the_error_mark_and_in_the_head_of_the_output_only() -> None:
    marked = call("execute_command", {"command": "a"}, "Command executed in 'x'. Exit code: 0\nOutput:", is_error=True)
    assert texts(marked, "failure") == []
    quoted = call("Bash", {"command": "cat log"}, "x" * 700 + "\nExit code 1\n")
    assert texts(quoted, "failure") == []


def test_open_todos_are_those_of_the_last_list_or_of_single_tasks() -> None:
    old = call("TodoWrite", {"todos": [{"content": "old", "status": "pending"}]})
    new = call("update_todo_list", {"todos": "[x] done\n[-] begun\n- [ ] open"})
    assert texts([*old, *new], "todo") == [("begun",), ("open",)]
    plan = call("update_plan", {"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "pending"}]})
    assert texts(plan, "todo") == [("b",)]
    tasks = [*call("TaskCreate", {"subject": "one"}, "Task #1 created successfully: one")]
    tasks += call("TaskCreate", {"subject": "two"}, "Task #2 created successfully: two")
    tasks += call("TaskUpdate", {"taskId": "1", "status": "completed"})
    assert texts(tasks, "todo") == [("two",)]


def test_the_last_request_is_what_the_user_typed_not_what_a_program_added() -> None:
    added = "<local-command-stdout>Copied</local-command-stdout>"
    blocks = [{"type": "text", "text": text} for text in (added, "say it shorter", "<environment_details>x")]
    messages: list[Message] = [{"role": "user", "content": "go"}, {"role": "user", "content": blocks}]
    messages.append({"role": "user", "content": added})
    assert texts(messages, "request") == [("say it shorter",)]


def test_conversations_are_read_zipped_or_not(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "go"}, *call("Bash", {"command": "ls"}, "a.py")]
    (tmp_path / "b.json").write_text(json.dumps(messages))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(messages).encode()))
    (tmp_path / "index.json").write_text("[]")
    files = conversations(tmp_path)
    assert [file.name for file in files] == ["a.json.gz", "b.json"]
    assert [read(file) for file in files] == [messages, messages]
    assert whole_text(messages).splitlines() == ["go", "Now Bash.", "ls", "a.py"]
