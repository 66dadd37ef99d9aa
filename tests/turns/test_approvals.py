"""Which commands of the model run without a question."""

from pathlib import Path

import pytest

from roo_tui import settings
from roo_tui.domain.events import Approval, Question
from tests.support.engines import engine_on
from tests.support.scripted_model import ScriptedModel, call


async def questions_about(workspace: Path, *commands: str) -> list[str]:
    """Let the model run commands, deny what is asked about, and return the commands that were asked about."""
    asked = []

    def deny(question: Question) -> tuple[str, str]:
        assert isinstance(question.body, Approval)
        asked.append(question.body.title)
        return "deny", ""

    calls = [call("execute_command", f"c{number}", command=command) for number, command in enumerate(commands)]
    async with engine_on(workspace, ScriptedModel([*calls, "Done."]), answer=deny) as (_, recorder):
        await recorder.turn("go")
    return asked


async def test_an_allowed_command_runs_unasked_whatever_its_arguments(tmp_path: Path) -> None:
    settings.save({"approvals.allowed_commands": ["true", "echo done"]})
    assert await questions_about(tmp_path, "true", "true --short", "echo done > made", "echo done twice") == [
        "echo done > made"
    ]
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "command",
    [
        "git status && rm x",
        "git status -s; rm x",
        "git status;rm x",
        "git status | sh",
        "git status || rm x",
        "git status & rm x",
        "git status $(rm x)",
        "git status $REMOVE",
        "git status `rm x`",
        "git status -s\nrm x",
        "git status < x",
        "git status <(rm x)",
        "git status > x",
        "git status \\; rm x",
        "git status \\x",
        "git status {rm,x}",
        " git status -s; rm x",
    ],
)
async def test_a_command_chained_to_an_allowed_one_is_asked_about(tmp_path: Path, command: str) -> None:
    settings.save({"approvals.allowed_commands": ["git status"]})
    (tmp_path / "x").write_text("kept\n")
    assert await questions_about(tmp_path, command) == [command]
    assert (tmp_path / "x").read_text() == "kept\n"


async def test_a_command_that_only_begins_with_the_letters_of_an_allowed_one_is_asked_about(tmp_path: Path) -> None:
    settings.save({"approvals.allowed_commands": ["git status"]})
    assert await questions_about(tmp_path, "git statusx", "git push") == ["git statusx", "git push"]
