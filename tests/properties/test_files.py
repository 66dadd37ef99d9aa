"""Law 10: a rewind of files takes back what the agent's steps did; what was never the agent's stays, byte for byte."""

import asyncio
import contextlib
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from roo_tui.store.checkpoints import Checkpoints
from roo_tui.store.working_tree import HUGE_BYTES

SEEDS = 12
LONGEST = 14
TASK, OTHER = "this task", "another task"
RULES = ("*.log\n", "*.log\nsecret*\n", "data/\n", "", "*.txt\n!kept.txt\n")
NAMES = ("{owner}.txt", "{owner}.log", "secret-{owner}", "data/{owner}.csv", "inner/{owner}.py", "deep/er/{owner}.py")
MODES = (0o600, 0o644, 0o444, 0o755)

Files = dict[str, tuple[int, str]]


class Played:
    """A workspace in which an agent and its user take turns. The names of files say whose they are."""

    def __init__(self, root: Path, folder: Path, seed: int) -> None:
        self.root = root
        self.checkpoints = Checkpoints(root, folder)
        self.random = random.Random(seed)
        self.points: list[tuple[str, Files]] = []

    async def play(self) -> None:
        (self.root / ".gitignore").write_text(RULES[0])
        for name in NAMES:
            self.write(name.format(owner="user"))
        for _ in range(self.random.randint(4, LONGEST)):
            await self.random.choice((self.step, self.step, self.user, self.other_task, self.rewind))()
        await self.rewind()

    async def step(self) -> None:
        """Let the agent change files of its own, rules, sizes and repositories, between two checkpoints."""
        before = await self.checkpoints.snapshot()
        self.points.append((before.tree, self.owned_by("agent")))
        for _ in range(self.random.randint(1, 4)):
            act = self.random.choice((self.edit_agents, self.edit_agents, self.edit_rules, self.nest, self.unnest))
            act()
        await self.checkpoints.snapshot(step_of=TASK, by_user=False)

    async def user(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.random.choice((self.edit_users, self.edit_users, self.nest, self.unnest))()

    async def other_task(self) -> None:
        await self.checkpoints.snapshot()
        self.write("other.py")
        await self.checkpoints.snapshot(step_of=OTHER, by_user=False)

    async def rewind(self) -> None:
        """Rewind to any point, and sometimes undo that."""
        if not self.points:
            return
        was, agents = self.not_the_agents(), self.owned_by("agent")
        tree, expected = self.random.choice(self.points)
        previewed, _ = await self.checkpoints.preview(tree, TASK)
        assert {change.path for change in previewed if is_users(change.path)} == set()
        restored = await self.checkpoints.restore(tree, TASK)
        assert set(restored.files) == {change.path for change in previewed}
        assert self.not_the_agents() == was
        left_alone = set(restored.skipped)
        now = self.owned_by("agent")
        for name in restored.files:
            if name in agents.keys() | expected.keys() and name not in left_alone:
                assert now.get(name) == expected.get(name), name
        if self.random.random() < 0.5:
            await self.checkpoints.restore(restored.before, TASK)
            assert self.not_the_agents() == was
            assert {name: self.owned_by("agent").get(name) for name in agents} == agents

    def edit_agents(self) -> None:
        self.edit(self.random.choice(NAMES).format(owner="agent"))

    def edit_users(self) -> None:
        self.edit(self.random.choice(NAMES).format(owner="user"))

    def edit_rules(self) -> None:
        (self.root / ".gitignore").write_text(self.random.choice(RULES))

    def nest(self) -> None:
        folder = self.root / "inner"
        folder.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)

    def unnest(self) -> None:
        shutil.rmtree(self.root / "inner" / ".git", ignore_errors=True)

    def edit(self, name: str) -> None:
        """Write, resize, delete, or change the mode of a file."""
        path = self.root / name
        match self.random.randrange(6):
            case 0:
                path.unlink(missing_ok=True)
            case 1 if path.exists():
                path.chmod(self.random.choice(MODES))
            case 2:
                self.write(name, HUGE_BYTES + 1)
            case _:
                self.write(name)

    def write(self, name: str, size: int = 0) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        path.write_text(f"{self.random.random()}\n")
        if size:
            with path.open("r+b") as file:
                file.truncate(size)
        path.chmod(self.random.choice(MODES))

    def owned_by(self, owner: str) -> Files:
        """Return mode and content (of large files the beginning) of every file with this owner's name."""
        found: Files = {}
        for path in self.root.rglob(f"*{owner}*"):
            if path.is_file() and ".git" not in path.parts:
                with path.open() as file:
                    found[str(path.relative_to(self.root))] = (path.stat().st_mode & 0o777, file.read(100).rstrip("\0"))
        return found

    def not_the_agents(self) -> Files:
        return self.owned_by("user") | self.owned_by("other")


def is_users(path: str) -> bool:
    return "user" in path or "other" in path


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_file_that_was_never_the_agents_is_changed_or_gone_after_a_rewind(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "work"
    root.mkdir()
    asyncio.run(Played(root, tmp_path / "checkpoints", seed).play())
