"""Snapshots and restores of real files with real git."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from roo_tui.domain.errors import CheckpointError
from roo_tui.domain.views import FileChange
from roo_tui.store import restoring
from roo_tui.store.checkpoints import Checkpoints, Restored, Snapshot
from roo_tui.store.working_tree import HUGE_BYTES


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    return root


@pytest.fixture
def checkpoints(root, tmp_path):
    return Checkpoints(root, tmp_path / "checkpoints")


def shadow(checkpoints: Checkpoints) -> Path:
    return checkpoints._git.folder


TASK = "task"


async def step(checkpoints: Checkpoints) -> Snapshot:
    """Take the checkpoint after a step of the agent."""
    return await checkpoints.snapshot(step_of=TASK, by_user=False)


async def back(checkpoints: Checkpoints, tree: str) -> Restored:
    """Let what changed be a step's doing, and restore a tree."""
    await step(checkpoints)
    return await checkpoints.restore(tree, TASK)


async def looked_ahead(checkpoints: Checkpoints, tree: str) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
    """Let what changed be a step's doing, and preview a restore."""
    await step(checkpoints)
    return await checkpoints.preview(tree, TASK)


def git(folder, *arguments):
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_GLOBAL": "/dev/null"}
    identity = ("-c", "user.name=a", "-c", "user.email=b")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def files_of(root: Path) -> dict[bytes, object]:
    """Return everything in a folder: text, link target or None for a folder, and the executable bit."""
    found: dict[bytes, object] = {}
    for path in sorted(root.rglob("*")):
        name = os.fsencode(path.relative_to(root))
        if path.is_symlink():
            found[name] = ("link", path.readlink())
        elif path.is_file():
            found[name] = (path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


async def test_a_restore_brings_back_changed_deleted_and_created_files(root, checkpoints):
    (root / "kept.py").write_text("kept\n")
    (root / "changed.py").write_text("one\ntwo\n")
    (root / "sub").mkdir()
    (root / "sub" / "deleted.py").write_text("gone\n")
    first = await checkpoints.snapshot()
    was = files_of(root)
    (root / "changed.py").write_text("one\n2\n3\n")
    (root / "sub" / "deleted.py").unlink()
    (root / "sub").rmdir()
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "file.py").write_text("new\n")
    second = await step(checkpoints)
    restored = await back(checkpoints, first.tree)
    assert files_of(root) == was
    assert not (root / "new").exists()
    assert (restored.before, restored.after, restored.skipped) == (second.tree, first.tree, ())
    assert restored.files == ("changed.py", "new/deep/file.py", "sub/deleted.py")
    await back(checkpoints, restored.before)
    assert (root / "changed.py").read_text() == "one\n2\n3\n"
    assert (root / "new" / "deep" / "file.py").exists()
    assert not (root / "sub").exists()


async def test_the_first_snapshot_names_no_files_and_later_ones_what_changed(root, checkpoints):
    (root / "a").write_text("1")
    (root / "b").write_text("1")
    assert (await checkpoints.snapshot()).files == ()
    (root / "a").write_text("2")
    (root / "b").unlink()
    (root / "c").write_text("3")
    assert (await checkpoints.snapshot()).files == ("a", "b", "c")


async def test_an_equal_tree_is_the_same_snapshot(root, checkpoints, tmp_path):
    (root / "a").write_text("1")
    first = await checkpoints.snapshot()
    (root / "a").write_text("2")
    (root / "a").write_text("1")
    again = await Checkpoints(root, tmp_path / "checkpoints").snapshot()
    assert again == first
    assert git(shadow(checkpoints), "rev-list", "--count", "refs/heads/checkpoints") == "1\n"


async def test_an_empty_workspace_can_be_kept_and_restored(root, checkpoints):
    empty = await checkpoints.snapshot()
    (root / "a").write_text("1")
    await back(checkpoints, empty.tree)
    assert files_of(root) == {}
    assert root.is_dir()


async def test_names_of_any_bytes_survive(root, checkpoints):
    names = [
        b" a b ",
        b"new\nline",
        b"\xff\xfe",
        "ä日本".encode(),
        b'"quoted"',
        b"-dash",
        b":(glob)*",
        b"tab\there",
        b"*",
    ]
    for name in names:
        (root / os.fsdecode(name)).write_bytes(name)
    first = await checkpoints.snapshot()
    was = files_of(root)
    assert sorted(was) == sorted(names)
    for name in names:
        (root / os.fsdecode(name)).unlink()
    preview, _ = await looked_ahead(checkpoints, first.tree)
    assert sorted(os.fsencode(change.path) for change in preview) == sorted(names)
    await back(checkpoints, first.tree)
    assert files_of(root) == was


async def test_mode_bits_and_links_survive(root, checkpoints):
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "private").write_text("1")
    (root / "private").chmod(0o600)
    (root / "link").symlink_to("run.sh")
    (root / "dangling").symlink_to("/nowhere")
    (root / "folder").mkdir()
    (root / "to_folder").symlink_to("folder")
    (root / "folder" / "a").write_text("1")
    first = await checkpoints.snapshot()
    was = files_of(root)
    (root / "run.sh").chmod(0o644)
    (root / "private").write_text("2")
    (root / "link").unlink()
    (root / "link").write_text("a file now")
    (root / "dangling").unlink()
    (root / "to_folder").unlink()
    (root / "to_folder").mkdir()
    (root / "to_folder" / "b").write_text("1")
    await back(checkpoints, first.tree)
    assert files_of(root) == was
    assert (root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (root / "private").stat().st_mode & 0o777 == 0o600


async def test_files_and_folders_may_take_each_others_places(root, checkpoints, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "x").write_text("file")
    (root / "y").mkdir()
    (root / "y" / "inner").write_text("inner")
    (root / "z").mkdir()
    (root / "z" / "inner").write_text("inner")
    (root / "moved").mkdir()
    (root / "moved" / "inner").write_text("inner")
    first = await checkpoints.snapshot()
    was = files_of(root)
    (root / "x").unlink()
    (root / "x").mkdir()
    (root / "x" / "inner").write_text("1")
    (root / "y" / "inner").unlink()
    (root / "y").rmdir()
    (root / "y").write_text("file")
    (root / "z" / "inner").unlink()
    (root / "z").rmdir()
    (root / "z").symlink_to(outside)
    (outside / "inner").write_text("not ours")
    (root / "moved").rename(tmp_path / "moved")
    (root / "moved").symlink_to(tmp_path / "moved")
    second = await step(checkpoints)
    now = files_of(root)
    await back(checkpoints, first.tree)
    assert files_of(root) == was
    assert (outside / "inner").read_text() == "not ours"
    await back(checkpoints, second.tree)
    assert files_of(root) == now


async def test_bytes_are_kept_whatever_gitattributes_and_the_users_settings_say(
    root, checkpoints, tmp_path, monkeypatch
):
    (tmp_path / "config").write_text("[core]\nautocrlf = true\nhooksPath = /nowhere\n[commit]\ngpgSign = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    (root / ".gitattributes").write_text(
        "*.txt text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n*.lfs filter=lfs\n*.bin -diff\n"
    )
    content = b"one\ntwo\r\n$Id$ \r three"
    for name in ("a.txt", "a.id", "a.u16", "a.lfs", "a.bin"):
        (root / name).write_bytes(content)
    first = await checkpoints.snapshot()
    for name in ("a.txt", "a.id", "a.u16", "a.lfs", "a.bin"):
        (root / name).unlink()
    await back(checkpoints, first.tree)
    assert {(root / name).read_bytes() for name in ("a.txt", "a.id", "a.u16", "a.lfs", "a.bin")} == {content}


async def test_ignored_huge_and_nested_files_are_left_alone_and_named(root, checkpoints):
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    (root / "a").write_text("1")
    first = await checkpoints.snapshot()
    (root / "a").write_text("2")
    (root / "x.log").write_text("log")
    (root / "build").mkdir()
    (root / "build" / "out").write_text("out")
    (root / "huge.bin").write_bytes(b"\0" * (HUGE_BYTES + 1))
    for name, commit in (("nested", True), ("nested_empty", False)):
        (root / name).mkdir()
        git(root / name, "init", "-q")
        (root / name / "file").write_text("theirs")
        if commit:
            git(root / name, "add", "file")
            git(root / name, "commit", "-qm", "x")
    assert (await step(checkpoints)).skipped == ("huge.bin", "nested/", "nested_empty/")
    files, skipped = await looked_ahead(checkpoints, first.tree)
    assert [change.path for change in files] == ["a"]
    assert skipped == ("build/", "huge.bin", "nested/", "nested_empty/", "x.log")
    await back(checkpoints, first.tree)
    assert (root / "a").read_text() == "1"
    assert all(
        (root / name).exists() for name in ("x.log", "build/out", "huge.bin", "nested/file", "nested_empty/file")
    )


async def test_a_file_that_no_snapshot_holds_is_never_overwritten(root, checkpoints):
    for name in ("grown", "now_ignored", "now_folder"):
        (root / name).write_text("small")
    (root / "through").mkdir()
    (root / "through" / "file").write_text("small")
    first = await checkpoints.snapshot()
    (root / "grown").write_bytes(b"\1" * (HUGE_BYTES + 1))
    (root / "now_ignored").unlink()
    (root / "now_folder").unlink()
    (root / "through" / "file").unlink()
    (root / "through").rmdir()
    (root / ".gitignore").write_text("now_*\nthrough\n")
    await step(checkpoints)
    (root / "now_ignored").write_text("secret")
    (root / "now_folder").mkdir()
    (root / "now_folder" / "secret").write_text("secret")
    (root / "through").symlink_to(root / "now_folder")
    files, skipped = await looked_ahead(checkpoints, first.tree)
    assert [change.path for change in files] == [".gitignore"]
    blocked = {"grown", "now_ignored", "now_folder", "through/file"}
    assert blocked <= set(skipped)
    restored = await back(checkpoints, first.tree)
    assert set(restored.skipped) == blocked
    assert (root / "grown").stat().st_size > HUGE_BYTES
    assert (root / "now_ignored").read_text() == "secret"
    assert (root / "now_folder" / "secret").read_text() == "secret"
    assert (root / "through").is_symlink()


async def test_the_preview_counts_lines_and_marks_what_the_user_changed(root, checkpoints):
    (root / "agent.py").write_text("1\n2\n3\n")
    (root / "both.py").write_text("1\n")
    (root / "deleted.py").write_text("1\n2\n")
    (root / "binary").write_bytes(b"\0\1")
    first = await checkpoints.snapshot()
    (root / "agent.py").write_text("1\n2\nthree\nfour\n")
    (root / "both.py").write_text("2\n")
    (root / "created.py").write_text("1\n")
    (root / "deleted.py").unlink()
    (root / "binary").write_bytes(b"\0\2")
    last = await step(checkpoints)
    (root / "both.py").write_text("the user's\nlines\n")
    (root / "mine.py").write_text("1\n")
    files, _ = await checkpoints.preview(first.tree, TASK)
    assert files == (
        FileChange("agent.py", "restore", 1, 2),
        FileChange("binary", "restore", 0, 0),
        FileChange("both.py", "restore", 1, 2, conflict=True),
        FileChange("created.py", "delete", 0, 1),
        FileChange("deleted.py", "create", 2, 0),
    )
    assert await checkpoints.changes(first.tree, last.tree) == (
        FileChange("agent.py", "restore", 2, 1),
        FileChange("binary", "restore", 0, 0),
        FileChange("both.py", "restore", 1, 1),
        FileChange("created.py", "create", 1, 0),
        FileChange("deleted.py", "delete", 0, 2),
    )
    assert [change.path for change in await checkpoints.changes(last.tree)] == ["both.py", "mine.py"]


async def test_the_users_own_repository_is_not_touched(root, checkpoints):
    git(root, "init", "-q")
    (root / "a").write_text("1")
    git(root, "add", "a")
    git(root, "commit", "-qm", "first")
    (root / "a").write_text("staged")
    git(root, "add", "a")
    (root / "a").write_text("working")
    own = {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()}
    first = await checkpoints.snapshot()
    (root / "a").write_text("later")
    await back(checkpoints, first.tree)
    assert (root / "a").read_text() == "working"
    assert {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()} == own


async def test_a_folder_of_checkpoints_inside_the_workspace_is_left_out(root):
    checkpoints = Checkpoints(root, root / "my [data]")
    (root / "a").write_text("1")
    first = await checkpoints.snapshot()
    assert await checkpoints.snapshot() == first
    assert [change.path for change in await checkpoints.changes(first.tree)] == []


@pytest.mark.line("A5b")
async def test_a_restore_that_fails_midway_changes_nothing(root, checkpoints):
    (root / "a").write_text("1")
    (root / "b").write_text("1")
    (root / "z").write_text("1")
    first = await checkpoints.snapshot()
    (root / "a").write_text("2")
    (root / "b").unlink()
    (root / "new").write_text("2")
    (root / "z").write_text("2")
    was = files_of(root)
    preparing = checkpoints._git.stage

    async def with_a_missing_file(tree, changes, name):
        staged = await preparing(tree, changes, name)
        (staged / "z").unlink() if name == "new" else None
        return staged

    checkpoints._git.stage = with_a_missing_file
    with pytest.raises(CheckpointError, match="Nothing was changed"):
        await back(checkpoints, first.tree)
    assert files_of(root) == was
    del checkpoints._git.stage
    await back(checkpoints, first.tree)
    assert files_of(root) == dict.fromkeys((b"a", b"b", b"z"), (b"1", False))


KILLED_IN_A_RESTORE = """
import asyncio, os, signal, sys
from pathlib import Path
from roo_tui.store import restoring
from roo_tui.store.checkpoints import Checkpoints

left = int(sys.argv[4])

def dying(source, target, change, write=restoring._write):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    write(source, target, change)

restoring._write = dying
asyncio.run(Checkpoints(Path(sys.argv[1]), Path(sys.argv[2])).restore(sys.argv[3], "task"))
"""


@pytest.mark.parametrize("written", [0, 1, 2])
async def test_a_restore_that_was_killed_is_taken_back_and_edits_made_since_stay(root, checkpoints, tmp_path, written):
    for name in ("a", "b", "c"):
        (root / name).write_text("1")
    first = await checkpoints.snapshot()
    (root / "a").write_text("2")
    (root / "b").write_text("2")
    (root / "c").unlink()
    (root / "new").write_text("2")
    await step(checkpoints)
    was = files_of(root)
    arguments = [str(root), str(tmp_path / "checkpoints"), first.tree, str(written)]
    killed = subprocess.run([sys.executable, "-c", KILLED_IN_A_RESTORE, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert files_of(root) != was
    (root / "b").write_text("edited since")
    await checkpoints.snapshot()
    assert files_of(root) == was | {b"b": (b"edited since", False)}


async def test_locks_left_by_a_killed_git_do_not_stop_the_next_snapshot(root, checkpoints):
    (root / "a").write_text("1")
    await checkpoints.snapshot()
    folder = shadow(checkpoints)
    for name in ("index.lock", "HEAD.lock", "refs/heads/checkpoints.lock"):
        (folder / name).write_text("")
    (folder / "scratch").mkdir()
    (folder / "scratch" / "index.lock").write_text("")
    (root / "a").write_text("2")
    assert (await checkpoints.snapshot()).files == ("a",)


async def test_a_cancelled_snapshot_leaves_the_next_one_possible(root, checkpoints):
    for number in range(200):
        (root / f"f{number}").write_text(str(number))
    task = asyncio.create_task(checkpoints.snapshot())
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    snapshot = await checkpoints.snapshot()
    assert len(await checkpoints.changes(snapshot.tree)) == 0


async def test_a_cancelled_restore_is_finished(root, checkpoints):
    (root / "a").write_text("1")
    first = await checkpoints.snapshot()
    (root / "a").write_text("2")
    await step(checkpoints)
    task = asyncio.create_task(checkpoints.restore(first.tree, TASK))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (root / "a").read_text() == "1"


async def test_two_at_once_wait_for_each_other(root, tmp_path):
    (root / "a").write_text("1")
    several = [Checkpoints(root, tmp_path / "checkpoints") for _ in range(3)]
    snapshots = await asyncio.gather(*(one.snapshot() for one in several), several[0].snapshot())
    assert len({snapshot.commit for snapshot in snapshots}) == 1


async def test_a_restore_can_keep_what_the_user_changed_as_well(root, checkpoints):
    first = await checkpoints.snapshot()
    (root / "agents").write_text("1")
    (root / "both").write_text("1")
    await step(checkpoints)
    (root / "both").write_text("2, by the user")
    restored = await checkpoints.restore(first.tree, TASK, keep_users=True)
    assert restored.files == ("agents",)
    assert files_of(root) == {b"both": (b"2, by the user", False)}


async def test_what_changed_between_checkpoints_of_an_earlier_version_counts_as_the_agents(root, checkpoints):
    (root / "a").write_text("1")
    first = await checkpoints.snapshot()
    (root / "a").write_text("2")
    (root / "new").write_text("1")
    last = await checkpoints.snapshot()
    commit = ""
    for taken in (first, last):
        parent = ("-p", commit) if commit else ()
        commit = git(shadow(checkpoints), "commit-tree", taken.tree, *parent, "-m", "checkpoint").strip()
    git(shadow(checkpoints), "update-ref", "refs/heads/checkpoints", commit)
    (root / "mine").write_text("1")
    await checkpoints.restore(first.tree, TASK)
    assert files_of(root) == {b"a": (b"1", False), b"mine": (b"1", False)}


async def test_a_tree_that_is_not_there_is_refused_and_changes_nothing(root, checkpoints):
    (root / "a").write_text("1")
    await checkpoints.snapshot()
    with pytest.raises(CheckpointError, match="no file was changed"):
        await back(checkpoints, "0" * 39 + "1")
    assert (root / "a").read_text() == "1"


async def test_home_and_everything_are_refused_with_a_reason(tmp_path, monkeypatch):
    home = tmp_path / "home" / "me"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for folder in (home, home.parent, Path("/")):
        checkpoints = Checkpoints(folder, tmp_path / "checkpoints")
        assert "too large" in checkpoints.available()
        with pytest.raises(CheckpointError, match="too large"):
            await checkpoints.snapshot()
    assert Checkpoints(home / "project", tmp_path / "checkpoints").available() == ""


async def test_without_git_the_reason_says_so(root, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "Install git" in Checkpoints(root, tmp_path / "checkpoints").available()


async def test_a_folder_that_cannot_be_written_is_reported_in_a_sentence(root, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="ROO_TUI_HOME"):
        await Checkpoints(root, tmp_path / "file").snapshot()


def test_an_executable_bit_follows_who_may_read():
    assert restoring._with_executable_bit(0o640, True) == 0o750
    assert restoring._with_executable_bit(0o755, False) == 0o644
