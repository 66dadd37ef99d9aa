import asyncio

import pytest

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import CommandView
from roo_tui.tools.base import Effect
from tests.support.tool_bench import Bench


async def test_a_command_runs_and_is_recorded(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    plan = await bench.plan("execute_command", command="pwd; exit 3", cwd="sub")
    assert (plan.title, plan.effect, plan.view) == ("pwd; exit 3", Effect.COMMAND, CommandView("pwd; exit 3"))
    outcome = await bench.run("execute_command", command="pwd; exit 3", cwd="sub")
    words = str(outcome.for_model)
    assert words.startswith("Exit code 3 after 0.")
    assert words.endswith(f"s.\n\n{bench.root}/sub\n")
    assert outcome.facts == CallFacts("command", query="pwd; exit 3", full_content=True, exit_code=3)
    assert outcome.view == CommandView("pwd; exit 3", f"{bench.root}/sub\n", 3)
    assert (outcome.is_error, outcome.detail, outcome.full_output) == (False, "exit 3", "")
    assert "".join(bench.emitted) == f"{bench.root}/sub\n"


async def test_no_output_is_reported(bench: Bench) -> None:
    assert (await bench.result("execute_command", command="true")).endswith("(no output)")


async def test_50_megabytes_are_kept_whole_and_shown_cut(bench: Bench) -> None:
    command = "echo begin; head -c 50000000 /dev/zero | tr '\\0' 'x'; echo; echo finish"
    outcome = await bench.run("execute_command", command=command)
    assert len(outcome.full_output) == 50_000_014
    assert isinstance(outcome.view, CommandView)
    for shown in (str(outcome.for_model), outcome.view.output):
        assert len(shown) < 21_000
        assert "begin\n" in shown
        assert shown.endswith("x\nfinish\n")
        assert "lines) are left out here" in shown
    assert not outcome.facts.full_content
    assert sum(map(len, bench.emitted)) < 50_000_014


async def test_a_command_out_of_time_is_ended_and_told(bench: Bench) -> None:
    outcome = await bench.run("execute_command", command="echo up; sleep 300", timeout_s=0.3)
    assert outcome.is_error
    assert "still running after 0.3 s" in str(outcome.for_model)
    assert "up\n" in str(outcome.for_model)
    assert isinstance(outcome.view, CommandView)
    assert outcome.view.timed_out


async def test_a_background_command_is_left_running(bench: Bench) -> None:
    outcome = await bench.run("execute_command", command="echo up; sleep 300", timeout_s="0.3", background="true")
    [running] = bench.workspace.commands.running()
    assert f"kill -- -{running.pid}" in str(outcome.for_model)
    assert outcome.detail == f"running, pid {running.pid}"
    assert outcome.facts.exit_code is None
    await bench.workspace.commands.kill_all()


async def test_leftovers_of_a_foreground_command_are_ended_and_told(bench: Bench) -> None:
    words = await bench.result("execute_command", command="sleep 300 & echo started")
    assert words.startswith("Exit code 0")
    assert "Processes the command left behind were ended" in words


async def test_a_cancel_in_the_middle_ends_the_command(bench: Bench) -> None:
    running = asyncio.create_task(bench.run("execute_command", command="echo $$ > pid; sleep 300"))
    async with asyncio.timeout(10):
        while not (bench.root / "pid").exists():
            await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await bench.workspace.commands.kill_all()
    assert bench.workspace.commands.running() == ()


async def test_what_cannot_be_started_is_an_error(bench: Bench) -> None:
    outcome = await bench.run("execute_command", command="echo \0")
    assert outcome.is_error
    assert "could not be started" in str(outcome.for_model)
    bench.write("file", "")
    assert "not a folder" in await bench.failure("execute_command", command="ls", cwd="file")
    assert "does not exist" in await bench.failure("execute_command", command="ls", cwd="nowhere")


async def test_ignored_files_and_folders_outside_are_concerns(bench: Bench) -> None:
    bench.write(".rooignore", ".env\n")
    bench.write(".env", "KEY=1\n")
    assert (await bench.plan("execute_command", command="grep KEY .env | head")).concerns == (
        "names a file hidden by .rooignore: .env",
    )
    assert (await bench.plan("execute_command", command="ls", cwd="..")).concerns == (
        f"outside the workspace: {bench.root.parent}",
    )
    assert (await bench.plan("execute_command", command="ls -la .")).concerns == ()


async def test_output_that_is_no_text_does_no_harm(bench: Bench) -> None:
    outcome = await bench.run("execute_command", command=r"printf '\377\033[31m[/red]\0\r\n'")
    assert isinstance(outcome.view, CommandView)
    assert outcome.view.output == "\ufffd\x1b[31m[/red]\0\r\n"
