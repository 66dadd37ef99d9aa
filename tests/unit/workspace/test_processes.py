import asyncio
import os
import time
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roo_tui.workspace import command_output
from roo_tui.workspace.command_output import CommandOutput
from roo_tui.workspace.processes import CommandRun, Commands


@pytest.fixture
async def commands(tmp_path: Path) -> AsyncIterator[Commands]:
    commands = Commands(tmp_path, ("MY_OWN_KEY",))
    yield commands
    await commands.kill_all()


def _text(run: CommandRun) -> str:
    text = run.output.text()
    run.output.close()
    return text


async def _appears(path: Path) -> str:
    """Wait until a command has written the file, and return what it holds."""
    async with asyncio.timeout(10):
        while not (path.exists() and path.read_text().endswith("\n")):
            await asyncio.sleep(0.01)
    return path.read_text().strip()


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        if Path("/proc/self/stat").exists():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return state != "Z"


async def test_both_streams_exit_code_and_folder(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    run = await commands.run("pwd; echo err >&2; exit 3", cwd=tmp_path / "sub")
    assert (_text(run), run.exit_code, run.timed_out) == (f"{tmp_path / 'sub'}\nerr\n", 3, False)


async def test_a_command_has_no_input_and_no_keys(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "MY_OWN_KEY"):
        monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("KEPT", "kept")
    run = await commands.run("cat; env")
    text = _text(run)
    assert "hush" not in text
    assert "KEPT=kept" in text


async def test_output_is_shown_while_it_comes_and_characters_are_never_split(
    commands: Commands, tmp_path: Path
) -> None:
    shown: list[str] = []
    seen = asyncio.Event()

    def emit(text: str) -> None:
        shown.append(text)
        seen.set()

    command = r"printf 'a\342\202'; while [ ! -e go ]; do sleep 0.01; done; printf '\254\377z\n'"
    running = asyncio.create_task(commands.run(command, emit=emit))
    await asyncio.wait_for(seen.wait(), 10)
    assert shown == ["a"]
    (tmp_path / "go").touch()
    run = await running
    assert "".join(shown) == "a€\ufffdz\n" == _text(run)


async def test_50_megabytes_stay_on_disk_and_the_loop_stays_free(commands: Commands) -> None:
    longest = 0.0
    done = False

    async def watch() -> None:
        nonlocal longest
        while not done:
            before = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - before)

    watcher = asyncio.create_task(watch())
    tracemalloc.start()
    try:
        emitted = 0

        def emit(text: str) -> None:
            nonlocal emitted
            emitted += len(text)

        run = await commands.run("head -c 50000000 /dev/zero | tr '\\0' 'x'; echo end", emit=emit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        done = True
        await watcher
    assert run.output.size == 50_000_004
    assert peak < 5_000_000
    assert emitted < 50_000_004
    assert longest < 0.25
    text = _text(run)
    assert len(text) == 50_000_004
    assert text.endswith("xend\n")


def test_of_a_flood_the_beginning_and_the_end_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_output, "KEPT", 100_000)
    for size in (99_999, 100_000, 100_001, 150_000, 160_000):
        output = CommandOutput()
        data = b"".join(b"%07d\n" % number for number in range(size // 8 + 1))[:size]
        for at in range(0, size, 7_777):
            output.add(data[at : at + 7_777])
        assert output.text() == data.decode(), size
        output.close()
    output = CommandOutput()
    data = b"".join(b"%07d\n" % number for number in range(100_000))
    for at in range(0, len(data), 7_777):
        output.add(data[at : at + 7_777])
    head, _, tail = output.text().partition("[…")
    assert data.decode().startswith(head.rstrip("\n"))
    assert len(head) >= 100_000
    assert data.decode().endswith(tail.partition("…]\n")[2])
    assert len(tail) >= command_output.TAIL
    assert output.since(0, 16) == "0099998\n0099999\n"
    assert output.since(output.size - 8, 100) == "0099999\n"
    assert output.since(output.size, 100) == ""
    output.close()


async def test_a_timeout_ends_the_whole_group(commands: Commands, tmp_path: Path) -> None:
    run = await commands.run("sleep 300 & echo $! > child; echo before; wait", timeout_s=0.5)
    assert (run.timed_out, _text(run)) == (True, "before\n")
    assert not _is_running(int((tmp_path / "child").read_text()))


async def test_a_command_that_ignores_being_asked_is_killed(commands: Commands) -> None:
    run = await commands.run("trap '' TERM; echo up; while true; do sleep 0.05; done", timeout_s=0.3)
    assert (run.timed_out, run.exit_code, _text(run)) == (True, -9, "up\n")
    assert run.duration_s < 5


async def test_cancel_returns_at_once_and_ends_the_whole_group(commands: Commands, tmp_path: Path) -> None:
    command = "trap '' TERM; (trap '' TERM; sleep 300) & echo $$ $! > pids; wait; sleep 300"
    running = asyncio.create_task(commands.run(command))
    pids = [int(pid) for pid in (await _appears(tmp_path / "pids")).split()]
    before = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - before < 0.2
    await commands.kill_all()
    assert not any(_is_running(pid) for pid in pids)


async def test_what_a_command_leaves_behind_is_ended_with_it(commands: Commands, tmp_path: Path) -> None:
    run = await commands.run("sleep 300 & echo $! > child; echo done")
    assert (run.exit_code, run.ended_leftovers, _text(run)) == (0, True, "done\n")
    assert not _is_running(int((tmp_path / "child").read_text()))


async def test_something_that_left_the_group_does_not_hold_the_command_up(commands: Commands, tmp_path: Path) -> None:
    run = await commands.run("setsid sleep 300 & echo $! > child; echo done")
    assert (run.exit_code, _text(run)) == (0, "done\n")
    assert run.duration_s < 5
    os.kill(int((tmp_path / "child").read_text()), 9)


async def test_a_background_command_goes_on_and_its_unread_output_is_told(commands: Commands, tmp_path: Path) -> None:
    command = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo second; exit 4"
    run = await commands.run(command, timeout_s=0.2, background=True)
    assert run.pid is not None
    assert (run.exit_code, run.timed_out, run.output.text()) == (None, False, "first\n")
    [told] = commands.running()
    assert (told.pid, told.command, told.running, told.unread) == (run.pid, command, True, "first\n")
    assert commands.running(mark_read=True) == (told,)
    assert commands.running()[0].unread == ""
    (tmp_path / "go").touch()
    async with asyncio.timeout(10):
        while commands.running()[0].running:
            await asyncio.sleep(0.01)
    [told] = await asyncio.to_thread(commands.running, mark_read=True)
    assert (told.running, told.exit_code, told.unread) == (False, 4, "second\n")
    assert commands.running() == ()


async def test_a_background_command_that_ends_in_time_is_an_ordinary_one(commands: Commands) -> None:
    run = await commands.run("echo quick", background=True)
    assert (run.pid, run.exit_code, _text(run)) == (None, 0, "quick\n")
    assert commands.running() == ()


async def test_kill_all_ends_background_commands(commands: Commands, tmp_path: Path) -> None:
    run = await commands.run("sleep 300 & echo $! > child; wait", timeout_s=0.3, background=True)
    child = int(await _appears(tmp_path / "child"))
    assert run.pid is not None
    await commands.kill_all()
    assert not _is_running(run.pid)
    assert not _is_running(child)
    assert commands.running() == ()


async def test_what_cannot_be_started_raises(commands: Commands, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        await commands.run("true", cwd=tmp_path / "nowhere")
    with pytest.raises(ValueError):
        await commands.run("echo \0")
    with pytest.raises(OSError):
        await commands.run("#" * 3_000_000)
