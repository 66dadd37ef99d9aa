"""Whatever is wrong around the program: a sentence that says what to do, nothing lost, no traceback on the screen."""

import asyncio
import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from roo_tui import cli, paths
from roo_tui.domain.entries import UserMessage
from roo_tui.store import open_store
from tests.support.engines import without_waits
from tests.support.messages_server import answer, cut, refusal, serving, text, tool_call

Run = Callable[..., tuple[int, str, str]]
DONE = answer(text("All done."))
ESCAPES = "\x1b[31mred\x1b[0m \x1b]0;title\x07 [bold]x[/bold] [/brackets] \x9b2J \u202e \ud800"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setattr("roo_tui.logs.set_up", lambda *_: paths.log_file())
    without_waits(monkeypatch)
    return folder


@pytest.fixture
def program(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return code, captured.out, captured.err

    return run


def effective(program: Run) -> str:
    """Return what the next request of the newest task would hold."""
    (task, *_) = json.loads(program("tasks", "--json")[1])
    return program("export", task["id"], "--view", "effective", "--format", "json")[1]


def test_without_a_key_the_sentence_says_where_to_put_one(program: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    code, out, err = program("-p", "hi")
    assert (code, out) == (3, "")
    assert "ANTHROPIC_API_KEY" in err and "keys.toml" in err and "--demo" in err


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "Check the API key"), (403, "permissions"), (404, "model's name"), (400, "details")]
)
def test_a_providers_refusal_is_shown_and_the_message_is_kept(program: Run, status: int, advice: str) -> None:
    with serving(otherwise=refusal(status, message="It said [/no]")) as server:
        code, _, err = program("-p", "precious words")
        assert len(server.requests) == 1
    assert code == 7
    assert advice in err and "It said [/no]" in err
    assert "precious words" in effective(program)


def test_a_dead_server_is_tried_four_times_and_the_message_is_kept(program: Run) -> None:
    with serving() as server:
        url = server.url
    os.environ["ANTHROPIC_BASE_URL"] = url
    code, _, err = program("-p", "precious words")
    assert code == 7
    assert "Check the network and base URL" in err
    assert "precious words" in effective(program)


def test_a_base_url_that_is_none_is_told_at_once(program: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "api.example.org")
    code, _, err = program("-p", "hi")
    assert code == 7
    assert "http://" in err and "again" not in err


def test_an_answer_whose_connection_is_cut_is_kept_as_far_as_it_came(program: Run) -> None:
    with serving(otherwise=cut(answer(text("Half of an answer")))) as server:
        code, _, err = program("-p", "hi")
        assert len(server.requests) == 4
    assert code == 7
    assert "connection" in err
    with serving(DONE) as server:
        assert program("--continue", "-p", "go on")[0] == 0
        assert "Half of" in json.dumps(server.requests[0].body["messages"])


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (b"profile = [broken", "settings.toml"),
        (b"\xff\xfe\x00", "settings.toml"),
        (b'[context]\nthreshold_percent = "many"', "threshold_percent"),
        (b'[approvals]\nedit = "\\u001b[31m[/red]"', "approvals.edit"),
    ],
)
def test_a_broken_settings_file_is_named_left_alone_and_worked_without(program: Run, file: bytes, told: str) -> None:
    paths.settings_file().parent.mkdir(parents=True)
    paths.settings_file().write_bytes(file)
    with serving(DONE):
        code, out, err = program("-p", "hi")
    assert (code, out) == (0, "All done.\n")
    assert told in err and "\x1b" not in err
    assert paths.settings_file().read_bytes() == file


def test_a_workspace_that_does_not_exist_is_named(program: Run) -> None:
    code, _, err = program("no/such/folder", "-p", "hi")
    assert code == 1
    assert "no/such/folder is not a folder" in err


def test_without_git_everything_works_but_rewinding_files(
    program: Run, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    write = answer(tool_call("write_to_file", {"path": "b.txt", "content": "two\n"}))
    with serving(write, DONE):
        code, out, err = program("--auto-approve", "-p", "write it")
    assert (code, out) == (0, "All done.\n")
    assert "Install git" in err
    (task,) = json.loads(program("tasks", "--json")[1])
    code, _, err = program("rewind", task["id"], "e1", "--files")
    assert code == 4
    assert "Install git" in err
    assert program("rewind", task["id"], "e1")[0] == 0
    assert (workspace / "b.txt").read_text() == "two\n"


def test_files_that_cannot_be_written_or_read_as_text_stay_as_they_are(program: Run, workspace: Path) -> None:
    (workspace / "latin.txt").write_bytes(b"caf\xe9\nsecond\n")
    (workspace / "folder").mkdir()
    diff = "<<<<<<< SEARCH\nsecond\n=======\nother\n>>>>>>> REPLACE"
    steps = [
        answer(tool_call("read_file", {"path": "latin.txt"}, "t1")),
        answer(tool_call("apply_diff", {"path": "latin.txt", "diff": diff}, "t2")),
        answer(tool_call("write_to_file", {"path": "folder", "content": "x"}, "t3")),
        answer(tool_call("write_to_file", {"path": "a.txt/b.txt", "content": "x"}, "t4")),
        answer(tool_call("write_to_file", {"path": "nul\0.txt", "content": "x"}, "t5")),
        answer(tool_call("write_to_file", {"path": "n" * 300, "content": "x"}, "t6")),
    ]
    with serving(*steps, DONE):
        code, out, err = program("--auto-approve", "-p", "try")
    assert (code, out) == (0, "All done.\n")
    assert err.count("failed") == 5
    assert "failed  failed" not in err
    assert (workspace / "latin.txt").read_bytes() == b"caf\xe9\nsecond\n"
    assert (workspace / "a.txt").read_text() == "one\n"


@pytest.mark.line("B14")
def test_fifty_megabytes_of_output_are_kept_whole_and_sent_cut(program: Run, workspace: Path) -> None:
    command = f"{sys.executable} -c \"print((chr(121) * 99 + chr(10)) * 524_288, end='')\""
    with serving(answer(tool_call("execute_command", {"command": command}, "big")), DONE) as server:
        code, _, _ = program("--auto-approve", "-p", "run it")
        assert len(json.dumps(server.requests[1].body)) < 1_000_000
    assert code == 0
    assert asyncio.run(kept_output("big")) == ("y" * 99 + "\n") * 524_288


async def kept_output(call_id: str) -> str:
    """Return the whole output of a call of the newest task."""
    store = open_store(paths.database_file())
    task = await store.load((await store.tasks())[0].id)
    records = [call for entry in task.entries if isinstance(entry.body, UserMessage) for call in entry.body.calls]
    output = await store.get_blob(next(record.output_blob for record in records if record.call_id == call_id))
    await store.close()
    return output


def test_foreign_characters_reach_no_terminal_and_break_nothing(program: Run, workspace: Path) -> None:
    strange = os.fsdecode(b"bad\xff[red]\x1b[31m.txt")
    (workspace / strange).write_text(ESCAPES.encode("utf-8", "replace").decode())
    shown = base64.b64encode(ESCAPES.encode("utf-8", "surrogatepass")).decode()
    steps = [
        answer(text(ESCAPES), tool_call("list_files", {"path": "."}, "t1")),
        answer(tool_call("search_files", {"path": ".", "regex": "red"}, "t2")),
        answer(tool_call("execute_command", {"command": f"echo {shown} | base64 -d"}, "t3")),
        answer(tool_call("write_to_file", {"path": "b.txt", "content": ESCAPES}, "t4")),
        answer(tool_call("no_such_tool", {ESCAPES: ESCAPES}, "t5")),
        answer(tool_call("attempt_completion", {"result": ESCAPES}, "t6")),
    ]
    prompt = f"say {ESCAPES} @{strange}"
    with serving(*steps) as server:
        code, out, err = program("--auto-approve", "-p", prompt)
        assert server.steps == []
    assert code == 0
    assert not set("\x1b\x07\x9b\u202e\ud800") & set(out + err)
    assert "[/brackets]" in out
    (task,) = json.loads(program("tasks", "--json")[1])
    for view, form in (("effective", "json"), ("transcript", "jsonl"), ("transcript", "markdown")):
        code, found, _ = program("export", task["id"], "--view", view, "--format", form)
        assert code == 0
        found.encode()
    with serving(DONE) as server:
        assert program("--continue", "-p", "and now?")[0] == 0


def test_a_home_that_cannot_be_written_is_named(program: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ROO_TUI_HOME", str(tmp_path / "file" / "home"))
    code, _, err = program("-p", "hi")
    assert code == 1
    assert "ROO_TUI_HOME" in err


def test_a_bug_is_told_in_one_sentence_and_the_log_file_has_the_rest(workspace: Path, tmp_path: Path) -> None:
    script = (
        "import sys\nfrom roo_tui import cli, headless\nfrom roo_tui.headless import tasks\n"
        "def broken(*_, **__): raise LookupError('a bug')\ntasks.list_tasks = broken\nsys.exit(cli.main(['tasks']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and str(paths.log_file()) in done.stderr
    assert "LookupError: a bug" in paths.log_file().read_text()
