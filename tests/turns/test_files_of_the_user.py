"""A rewind of files takes back what the agent's steps did, and leaves what is the user's."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from roo_tui import paths
from roo_tui.domain.entries import Noted
from roo_tui.domain.errors import StoreError, WouldOverwrite
from roo_tui.domain.events import ToolStarted
from roo_tui.domain.ids import EntryId
from roo_tui.domain.views import RewindPreview
from roo_tui.engine import Engine
from tests.support.engines import Recorder, bodies, engine_on, session_of
from tests.support.scripted_model import Answer, ScriptedModel, call


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The folder the agent works in, empty at first."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def runs(*commands: str) -> ScriptedModel:
    """Return a model that runs each command in a turn of its own."""
    replies: list[Answer] = []
    for number, command in enumerate(commands):
        replies += [call("execute_command", f"c{number}", command=command), "Done."]
    return ScriptedModel(replies)


async def first_point(engine: Engine) -> EntryId:
    """Return the point before the first message."""
    return next(point.entry_id for point in await engine.read.rewind_points() if point.kind == "user")


async def rewound(engine: Engine, *, overwrite: bool = False) -> RewindPreview:
    """Rewind files and conversation to before the first message; return the preview of it."""
    point = await first_point(engine)
    preview = await engine.read.rewind_preview(point)
    await engine.rewind(point, files=True, overwrite=overwrite)
    return preview


def actions(preview: RewindPreview) -> dict[str, str]:
    return {change.path: change.action for change in preview.files}


async def test_after_the_agent_edits_gitignore_a_rewind_keeps_what_was_ignored(workspace: Path) -> None:
    (workspace / ".gitignore").write_text(".env\n*.csv\n")
    (workspace / ".env").write_text("KEY=1\n")
    (workspace / "data").mkdir()
    (workspace / "data" / "users.csv").write_text("ada\n")
    model = runs("echo '*.log' > .gitignore; echo 1 > data/new.py", "echo KEY=2 > .env")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("clean up")
        await recorder.turn("another key")
        preview = await rewound(engine)
        assert actions(preview) == {".gitignore": "restore", "data/new.py": "delete"}
        assert ".env" in preview.skipped
        assert (workspace / ".gitignore").read_text() == ".env\n*.csv\n"
        assert (workspace / ".env").read_text() == "KEY=2\n"
        assert (workspace / "data" / "users.csv").read_text() == "ada\n"
        assert not (workspace / "data" / "new.py").exists()
        await engine.undo()
        assert (workspace / ".gitignore").read_text() == "*.log\n"
        assert (workspace / ".env").read_text() == "KEY=2\n"
        assert (workspace / "data" / "new.py").exists()


async def test_a_large_file_that_shrank_is_not_deleted_by_a_rewind(workspace: Path) -> None:
    (workspace / "large.bin").write_bytes(b"1" * 11_000_000)
    model = runs("truncate -s 9000000 large.bin; echo 1 > new.py")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("shrink it")
        preview = await rewound(engine)
    assert actions(preview) == {"new.py": "delete"}
    assert "large.bin" in preview.skipped
    assert (workspace / "large.bin").stat().st_size == 9_000_000


async def test_a_repository_inside_that_lost_its_git_folder_is_not_deleted_by_a_rewind(workspace: Path) -> None:
    nested = workspace / "nested"
    nested.mkdir()
    (nested / "theirs.txt").write_text("theirs\n")
    subprocess.run(["git", "init", "-q"], cwd=nested, check=True)
    model = runs("rm -rf nested/.git; echo 1 > new.py")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("flatten it")
        preview = await rewound(engine)
    assert actions(preview) == {"new.py": "delete"}
    assert (nested / "theirs.txt").read_text() == "theirs\n"


async def test_files_come_back_with_the_modes_they_had(workspace: Path) -> None:
    modes = {"private": 0o600, "fixed": 0o444, "script": 0o750, "loose": 0o600}
    for name, mode in modes.items():
        (workspace / name).write_text(f"{name}\n")
        (workspace / name).chmod(mode)
    model = runs("rm -f private fixed script; chmod 644 loose")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("delete them")
        preview = await rewound(engine)
        assert actions(preview) == {
            "private": "create",
            "fixed": "create",
            "script": "create",
            "loose": "restore",
        }
        assert {name: (workspace / name).stat().st_mode & 0o777 for name in modes} == modes
        await engine.undo()
        assert (workspace / "loose").stat().st_mode & 0o777 == 0o644


async def test_the_rules_of_the_repository_around_the_workspace_and_of_the_user_are_obeyed(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = workspace / "packages" / "app"
    inside.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    (workspace / ".gitignore").write_text("*.o\n/packages/app/out/\n")
    (workspace / ".git" / "info" / "exclude").write_text("*.mine\n")
    (tmp_path / "excludes").write_text("*.swp\n")
    (tmp_path / "config").write_text(f"[core]\nexcludesFile = {tmp_path / 'excludes'}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    (inside / "main.py").write_text("1\n")
    make = "mkdir out; for i in $(seq 100); do touch $i.o $i.swp out/$i; done; touch a.mine; echo 2 > main.py"
    async with engine_on(inside, runs(make), auto_approve=True) as (engine, recorder):
        await recorder.turn("build")
        preview = await rewound(engine)
    assert actions(preview) == {"main.py": "restore"}
    assert (inside / "main.py").read_text() == "1\n"
    assert {(inside / name).exists() for name in ("1.o", "1.swp", "out/1", "a.mine")} == {True}


async def test_a_workspace_that_the_repository_around_it_ignores_is_still_checkpointed(workspace: Path) -> None:
    inside = workspace / "sandbox"
    inside.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    (workspace / ".gitignore").write_text("*\n")
    (inside / "main.py").write_text("1\n")
    async with engine_on(inside, runs("echo 2 > main.py"), auto_approve=True) as (engine, recorder):
        await recorder.turn("edit it")
        await rewound(engine)
    assert (inside / "main.py").read_text() == "1\n"


async def fail(*_: object) -> None:
    """Fail like a store on a full disk."""
    raise StoreError("The disk is full.")


async def interrupt_a_command(engine: Engine, recorder: Recorder, changed: Path) -> None:
    """Send a message, and press Escape once the command has changed a file and goes on."""
    await engine.submit("go")
    await recorder.until(lambda event: isinstance(event, ToolStarted))
    while not changed.exists():
        await asyncio.sleep(0.01)
    engine.cancel()
    await engine.idle()


async def test_what_an_interrupted_command_changed_is_not_taken_for_the_users(workspace: Path) -> None:
    model = runs("echo 1 > half.txt; sleep 60")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await interrupt_a_command(engine, recorder, workspace / "half.txt")
        preview = await rewound(engine)
    assert [(change.path, change.action, change.conflict) for change in preview.files] == [
        ("half.txt", "delete", False)
    ]
    assert not (workspace / "half.txt").exists()


async def test_what_a_command_changed_is_the_agents_even_if_its_result_could_not_be_stored(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_on(workspace, runs("echo 1 > new.txt"), auto_approve=True) as (engine, recorder):
        with monkeypatch.context() as on_a_full_disk:
            on_a_full_disk.setattr(session_of(engine).calls, "_finish", fail)
            assert (await recorder.turn("write")).reason == "failed"
        preview = await rewound(engine)
    assert [(change.path, change.conflict) for change in preview.files] == [("new.txt", False)]


async def test_what_changed_in_a_step_that_the_program_did_not_survive_is_removed_only_after_a_question(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_on(workspace, runs("echo 1 > new.txt"), auto_approve=True) as (engine, recorder):
        session = session_of(engine)
        monkeypatch.setattr(session.calls, "_finish", fail)
        monkeypatch.setattr(session.checkpointing, "after_change", fail)
        await recorder.turn("write")
    async with engine_on(workspace, runs(), task=session.task.id) as (engine, _):
        await session_of(engine).checkpointing.settle()
        with pytest.raises(WouldOverwrite, match=r"new\.txt"):
            await rewound(engine)
        await rewound(engine, overwrite=True)
    assert not (workspace / "new.txt").exists()


async def test_files_that_only_the_user_touched_stay_as_they_are(workspace: Path) -> None:
    (workspace / "edited.txt").write_text("as it was\n")
    model = runs("echo 1 > agents.txt", "echo 2 >> agents.txt")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("write")
        (workspace / "mine.txt").write_text("mine\n")
        (workspace / "edited.txt").write_text("edited by me\n")
        await recorder.turn("write more")
        (workspace / "later.txt").write_text("mine, too\n")
        preview = await rewound(engine)
        assert actions(preview) == {"agents.txt": "delete"}
        assert not preview.files[0].conflict
        kept = {"mine.txt": "mine\n", "edited.txt": "edited by me\n", "later.txt": "mine, too\n"}
        assert {name: (workspace / name).read_text() for name in kept} == kept
        await engine.undo()
        assert (workspace / "agents.txt").read_text() == "1\n2\n"
        assert {name: (workspace / name).read_text() for name in kept} == kept


async def test_a_file_that_the_user_edited_between_two_turns_is_overwritten_only_after_a_question(
    workspace: Path,
) -> None:
    model = runs("echo 1 > both.txt", "echo 3 >> both.txt")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("write")
        (workspace / "both.txt").write_text("1\n2, by me\n")
        await recorder.turn("write more")
        with pytest.raises(WouldOverwrite, match=r"both\.txt"):
            await rewound(engine)
        await rewound(engine, overwrite=True)
    assert not (workspace / "both.txt").exists()


async def test_what_another_task_did_stays(workspace: Path) -> None:
    model = runs("echo 1 > one.txt", "echo 2 > two.txt")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("write one")
        first = session_of(engine).task.id
        await engine.new_task()
        await recorder.turn("write two")
        await engine.open_task(first)
        preview = await rewound(engine)
    assert actions(preview) == {"one.txt": "delete"}
    assert (workspace / "two.txt").exists()


async def test_a_task_whose_rewind_was_interrupted_opens_without_git_and_is_put_right_with_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with engine_on(workspace, runs("echo 1 > new.txt"), auto_approve=True) as (engine, recorder):
        await recorder.turn("write")
        task = session_of(engine).task
        moved = task.move_head

        async def power_cut(*_: object, **__: object) -> None:
            raise asyncio.CancelledError

        monkeypatch.setattr(task, "move_head", power_cut)
        store = session_of(engine).rewinding._runtime.store
        remember = store.set_value

        async def keep_intent(key: str, value: object) -> None:
            if value is not None or not key.startswith("rewind:"):
                await remember(key, value)

        monkeypatch.setattr(store, "set_value", keep_intent)
        with pytest.raises(asyncio.CancelledError):
            await rewound(engine)
        monkeypatch.setattr(store, "set_value", remember)
        monkeypatch.setattr(task, "move_head", moved)
    assert not (workspace / "new.txt").exists()
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(tmp_path))
        async with engine_on(workspace, runs(), task=task.id) as (engine, _):
            assert "Install git" in bodies(engine, Noted)[-1].detail
    async with engine_on(workspace, runs(), task=task.id) as (engine, _):
        assert (workspace / "new.txt").read_text() == "1\n"


async def test_checkpoints_that_were_deleted_do_not_stop_a_turn(workspace: Path) -> None:
    model = runs("echo 1 > one.txt", "echo 2 > two.txt")
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await recorder.turn("write one")
        shutil.rmtree(paths.checkpoints_dir())
        await recorder.turn("write two")
        point = [point for point in await engine.read.rewind_points() if point.kind == "user"][-1]
        await engine.rewind(point.entry_id, files=True)
    assert (workspace / "one.txt").exists()
    assert not (workspace / "two.txt").exists()
