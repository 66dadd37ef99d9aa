"""The command line with the real engine, store and git, against a scripted Messages API on loopback."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roo_tui import cli, paths
from roo_tui.prompt_files import render
from tests.support.messages_server import answer, hang, refusal, serving, text, tool_call

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "dates.py").write_text("YEAR = 1999\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setattr("roo_tui.logs.set_up", lambda *_: paths.log_file())
    return tmp_path


@pytest.fixture
def program(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


WRITES = answer(
    text("I will write it."), tool_call("write_to_file", {"path": "src/dates.py", "content": "YEAR = 2026\n"})
)
DONE = answer(tool_call("attempt_completion", {"result": "The year is right now."}, "toolu_2"))


def test_a_prompt_edits_a_file_and_prints_the_answer(program: Run, workspace: Path) -> None:
    with serving(WRITES, DONE):
        code, out, err = program("-p", "fix the year", "--auto-approve")
    assert (code, out) == (0, "I will write it.\n\nThe year is right now.\n")
    assert "write_to_file  src/dates.py" in err
    assert (workspace / "src" / "dates.py").read_text() == "YEAR = 2026\n"


def test_without_approval_nothing_is_changed_and_the_code_says_so(program: Run, workspace: Path) -> None:
    with serving(WRITES, DONE) as server:
        code, out, err = program("-p", "fix the year", "--output", "json")
        (result,) = [block for block in server.requests[1].body["messages"][-1]["content"] if "tool_use_id" in block]
    found = json.loads(out)
    assert code == found["exit_code"] == 4
    assert (found["result"], found["denied"]) == ("The year is right now.", 1)
    assert found["usage"]["output_tokens"] == 40
    assert str(result["content"]) == render("headless/denied")
    assert "user denied" not in str(server.requests[1].body["messages"])
    assert (workspace / "src" / "dates.py").read_text() == "YEAR = 1999\n"
    assert err == ""


def test_a_task_is_continued_exported_rewound_and_undone(program: Run, workspace: Path) -> None:
    with serving(answer(text("Hello.")), answer(text("Hello again."))) as server:
        _, out, _ = program("-p", "first words", "--output", "stream-json")
        result = json.loads(out.splitlines()[-1])
        assert [json.loads(line)["type"] for line in out.splitlines()][-2:] == ["TurnEnded", "Result"]
        task = result["task_id"]
        code, out, _ = program("--continue", "-p", "second words")
        assert (code, out) == (0, "Hello again.\n")
        assert len(server.requests[1].body["messages"]) == 3
        _, out, _ = program("tasks", "--json")
        (listed,) = json.loads(out)
        assert listed["id"] == task
        _, before, _ = program("export", task, "--view", "effective", "--format", "json")
        assert [message["role"] for message in json.loads(before)] == ["user", "assistant", "user", "assistant"]
        _, log, _ = program("export", task, "--view", "transcript", "--format", "jsonl")
        second = next(entry for entry in map(json.loads, log.splitlines()) if "second words" in json.dumps(entry))
        code, out, err = program("rewind", task, f"e{second['id']}")
        assert (code, err) == (0, "")
        assert out.endswith("second words\n")
        _, out, _ = program("export", task, "--view", "effective", "--format", "json")
        assert len(json.loads(out)) == 2
        code, _, _ = program("undo", task)
        assert code == 0
        assert (program("export", task, "--view", "effective", "--format", "json"))[1] == before
        code, _, err = program("undo", task)
        assert code == 4
        assert err.startswith("roo-tui: ")


def test_a_conversation_is_imported_and_condensed(program: Run, workspace: Path) -> None:
    messages = [{"role": role, "content": f"{role} words " * 300} for _ in range(4) for role in ("user", "assistant")]
    (workspace / "chat.json").write_text(json.dumps(messages))
    headings = "\n".join(f"{number}. Section {number}: words" for number in range(1, 10))
    summary = answer(text(f"<analysis>a</analysis><summary>{headings}</summary>"))
    with serving(otherwise=summary):
        _, out, _ = program("import", "chat.json")
        task = out.split()[-1]
        code, out, err = program("condense", task, "--json")
        report = json.loads(out)
        assert (code, err, report["outcome"]) == (0, "", "condensed")
        assert report["tokens_after"] < report["tokens_before"]
        _, out, _ = program("export", task, "--view", "effective", "--format", "json")
        assert "Conversation Summary" in json.dumps(json.loads(out)[0])
        code, out, _ = program("condense", task)
        assert code == 4
        assert out.startswith("Condense refused. ")


def test_an_exported_history_ends_without_the_blanks_that_the_api_refuses(program: Run, workspace: Path) -> None:
    messages = [{"role": "user", "content": "hi \n"}, {"role": "assistant", "content": "Hello. \n\n"}]
    (workspace / "chat.json").write_text(json.dumps(messages))
    _, out, _ = program("import", "chat.json")
    _, out, _ = program("export", out.split()[-1], "--view", "effective", "--format", "json")
    assert [message["content"][0]["text"] for message in json.loads(out)] == ["hi \n", "Hello."]


def test_a_refused_key_ends_with_the_models_code(program: Run, workspace: Path) -> None:
    with serving(otherwise=refusal(401, message="invalid x-api-key")):
        code, out, err = program("-p", "hello")
    assert (code, out) == (7, "")
    assert "invalid x-api-key" in err
    assert "Traceback" not in err
    assert "secret-key" not in err


def test_an_interrupt_ends_the_turn_and_keeps_what_was_said(workspace: Path) -> None:
    with serving(hang(answer(text("Half an answer that never ends", 2)))):
        command = [sys.executable, "-m", "roo_tui", "-p", "hello", "--output", "stream-json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            seen: list[dict[str, object]] = []
            for line in process.stdout:
                seen.append(json.loads(line))
                said = "".join(str(event["text"]) for event in seen if event["type"] == "BlockText")
                if seen[-1]["type"] == "BlockText" and said.endswith("never ends"):
                    process.send_signal(2)
    assert process.returncode == 130
    assert seen[-1]["exit_reason"] == "cancelled"
    assert str(seen[-1]["result"]).startswith("Half an answer")
