import subprocess
import sys
from pathlib import Path

import pytest

from roo_tui import __version__, cli, paths
from roo_tui.arguments import COMMANDS, command_parser, main_parser, split_command
from roo_tui.headless.exit_codes import MEANING
from roo_tui.llm.providers import PROVIDERS, Provider
from roo_tui.settings import Profile, Settings


def parsed(*words: str):
    command, rest = split_command(list(words))
    return command, (command_parser(command) if command else main_parser()).parse_args(rest)


def test_without_arguments_the_app_opens_here() -> None:
    command, arguments = parsed()
    assert command == ""
    assert (arguments.workspace, arguments.prompt, arguments.resume, arguments.latest) == (None, None, None, False)


def test_every_documented_argument_is_understood() -> None:
    _, arguments = parsed(
        "src", "--demo", "--profile", "fast", "--model", "m", "--base-url", "http://127.0.0.1:1", "--continue",
        "--auto-approve", "-p", "do it", "--output", "stream-json",
    )  # fmt: skip
    assert (arguments.workspace, arguments.demo, arguments.profile, arguments.model) == ("src", True, "fast", "m")
    assert (arguments.base_url, arguments.latest, arguments.auto_approve) == ("http://127.0.0.1:1", True, True)
    assert (arguments.prompt, arguments.output) == ("do it", "stream-json")
    assert parsed("--resume", "abc")[1].resume == "abc"


def test_every_documented_command_is_understood() -> None:
    assert parsed("tasks", "--json")[1].json
    assert parsed("import", "a.json.gz", "--format", "messages")[1].path == Path("a.json.gz")
    exported = parsed("export", "abc", "--view", "effective", "--format", "json")[1]
    assert (exported.id, exported.view, exported.format) == ("abc", "effective", "json")
    assert parsed("condense", "abc", "--json")[1].id == "abc"
    rewound = parsed("rewind", "abc", "e12", "--files")[1]
    assert (rewound.id, rewound.point, rewound.files) == ("abc", 12, True)
    assert parsed("undo", "abc")[1].id == "abc"
    assert parsed("doctor")[0] == "doctor"


@pytest.mark.parametrize(
    ("words", "command", "workspace"),
    [
        (("./tasks",), "", "./tasks"),
        (("--", "tasks"), "", "tasks"),
        (("-p", "tasks"), "", None),
        (("--profile", "undo"), "", None),
        (("--resume", "tasks", "src"), "", "src"),
        (("src", "-p", "condense"), "", "src"),
        (("--profile", "fast", "tasks"), "tasks", None),
        (("--model=m", "tasks"), "tasks", None),
    ],
)
def test_a_folder_or_a_value_named_like_a_command_is_no_command(
    words: tuple[str, ...], command: str, workspace: str | None
) -> None:
    found, arguments = parsed(*words)
    assert found == command
    assert getattr(arguments, "workspace", None) == workspace


@pytest.mark.parametrize(
    "words",
    [
        ("--colour",), ("--continue", "--resume", "abc"), ("--output", "xml"), ("condense",), ("rewind", "abc"),
        ("rewind", "abc", "first"), ("export", "abc", "--view", "all"), ("src", "more"), ("--prof", "fast"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_ends_with_code_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert "usage: roo-tui" in capsys.readouterr().err


def test_help_shows_commands_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(meaning in text for meaning in MEANING.values())
    assert list(COMMANDS) == list(cli._HANDLERS)
    assert all(f"  {name} " in text for name in COMMANDS)
    with pytest.raises(SystemExit):
        cli.main(["tasks", "-h"])
    assert "--json" in capsys.readouterr().out


def test_version_prints_name_and_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert cli.main(["tasks", "--version"]) == 0
    assert capsys.readouterr().out == f"roo-tui {__version__}\n" * 2


@pytest.fixture(autouse=True)
def quiet_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logging is set up once for a process; a test's process has its own."""
    monkeypatch.setattr("roo_tui.logs.set_up", lambda *_: paths.log_file())


def test_a_prompt_without_a_key_ends_with_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main([str(tmp_path), "-p", "hello"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "ANTHROPIC_API_KEY" in captured.err
    assert cli.main([str(tmp_path), "-p", "hello", "--output", "json"]) == 3
    assert '"exit_code": 3' in capsys.readouterr().out


def test_a_provider_without_keys_needs_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROVIDERS, "local", Provider("no.module"))
    local = Settings(profiles={"default": Profile("default", provider="local")})
    monkeypatch.setattr(cli, "_settings", lambda *_, **__: local)
    assert cli.main(["doctor"]) == 0
    assert "local needs none" in capsys.readouterr().out


def test_an_unknown_profile_ends_with_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main([str(tmp_path), "-p", "hello", "--profile", "fast"]) == 3
    assert "no profile “fast”. Profiles: default." in capsys.readouterr().err


def test_a_workspace_that_is_no_folder_ends_with_code_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main([str(tmp_path / "gone"), "-p", "hello"]) == 1
    assert "is not a folder" in capsys.readouterr().err


def test_an_unknown_task_ends_with_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["export", "abc"], ["undo", "abc"], ["--resume", "abc", "-p", "x"]):
        assert cli.main(words) == 1
        assert "abc" in capsys.readouterr().err


def test_an_unexpected_error_names_the_log_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> int:
        raise ZeroDivisionError("odd")

    monkeypatch.setitem(cli._HANDLERS, "doctor", broken)
    assert cli.main(["doctor"]) == 1
    error = capsys.readouterr().err
    assert str(paths.log_file()) in error
    assert "Traceback" not in error


def test_an_interrupt_ends_with_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(cli._HANDLERS, "doctor", interrupted)
    assert cli.main(["doctor"]) == 130


def test_doctor_looks_at_every_room_and_never_shows_the_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
    assert cli.main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "secret" not in text
    for name in ("Python", "git", "API key", "vocabulary", "grammars", "database", "data folder", "settings"):
        assert f" {name} " in text


def test_nothing_is_left_of_a_reader_that_went_away(tmp_path: Path) -> None:
    run = subprocess.run(
        f"{sys.executable} -m roo_tui doctor | true", shell=True, capture_output=True, text=True, cwd=tmp_path
    )
    assert "Traceback" not in run.stderr
    assert "Exception ignored" not in run.stderr
