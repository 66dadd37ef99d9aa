"""The shadow git repository of checkpoints: outside the workspace, and independent of the user's git configuration.

It uses the plumbing commands of the installed git. Each session works on a copy of the index, so that a killed process
leaves nothing behind that could block the next one.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from filelock import FileLock, Timeout

from roo_tui.domain.errors import CheckpointError

ABSENT = "000000"
LINK = "120000"
EXECUTABLE = "100755"

_BRANCH = "refs/heads/checkpoints"
_LOCK_WAIT_S = 60.0
_LOCK_POLL_S = 0.02

_OPTIONS = [
    option
    for setting in (
        "core.bare=false",
        "core.hooksPath=/dev/null",
        "core.excludesFile=/dev/null",
        "core.attributesFile=/dev/null",
        "core.autocrlf=false",
        "core.safecrlf=false",
        "core.fsmonitor=false",
        "core.untrackedCache=false",
        "core.splitIndex=false",
        "core.fileMode=true",
        "core.symlinks=true",
        "commit.gpgSign=false",
        "gc.auto=0",
    )
    for option in ("-c", setting)
]

# The workspace's own .gitattributes must not change the stored bytes.
_ATTRIBUTES = "* -text !eol -ident -filter !working-tree-encoding !diff\n"


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One path that differs between two trees. A mode is `ABSENT` if the path does not exist in that tree."""

    path: str
    old_mode: str
    new_mode: str
    added: int = 0
    removed: int = 0

    def reversed(self) -> "TreeChange":
        """Return the change that undoes this one."""
        return TreeChange(self.path, self.new_mode, self.old_mode, self.removed, self.added)


class ShadowGit:
    """Runs git on the shadow repository in `folder`, with the workspace as its working tree."""

    def __init__(self, workspace: Path, folder: Path, program: str) -> None:
        self.workspace = workspace
        self.folder = folder
        self.scratch = folder / "scratch"
        self.program = program
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Lock the repository for one operation; its index is kept only if the operation succeeds.

        Raises:
            CheckpointError: another process holds the lock for too long, or the folder cannot be written.
        """
        async with self._turn:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock = FileLock(self.folder / "roo-tui.lock", thread_local=False)
                await _acquire(lock)
                try:
                    await self._prepare()
                    yield
                    index = self.scratch / "index"
                    if index.exists():
                        index.replace(self.folder / "index")
                finally:
                    shutil.rmtree(self.scratch, ignore_errors=True)
                    lock.release()
            except OSError as error:
                raise CheckpointError(
                    f"The checkpoint folder {self.folder} cannot be used ({error.strerror or error}). Make it writable "
                    "and free some space, set ROO_TUI_HOME, or switch checkpoints off in the settings."
                ) from error

    async def run(self, *arguments: str, stdin: bytes = b"", index: str = "index") -> bytes:
        """Return the output of a git command. Cancelling ends the command.

        Raises:
            CheckpointError: the command failed; the message ends with git's own.
        """
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": str(self.workspace),
            "GIT_INDEX_FILE": str(self.scratch / index),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "roo-tui",
            "GIT_AUTHOR_EMAIL": "roo-tui",
            "GIT_COMMITTER_NAME": "roo-tui",
            "GIT_COMMITTER_EMAIL": "roo-tui",
            "LC_ALL": "C",
        }
        try:
            process = await asyncio.create_subprocess_exec(
                self.program,
                *_OPTIONS,
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.workspace,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise CheckpointError(
                f"git could not be started for a checkpoint ({error.strerror or error}). Check the git installation."
            ) from error
        try:
            output, errors = await process.communicate(stdin)
        except asyncio.CancelledError:
            if process.returncode is None:
                process.kill()
            await process.communicate()
            raise
        if process.returncode:
            message = errors.decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
            raise CheckpointError(f"The checkpoint failed; no file was changed. git {arguments[0]}: {message}")
        return output

    async def names(self, *arguments: str, index: str = "index") -> list[bytes]:
        """Return the NUL-separated names that a git command prints."""
        return [name for name in (await self.run(*arguments, index=index)).split(b"\0") if name]

    async def changes(self, from_tree: str, to_tree: str) -> tuple[TreeChange, ...]:
        """Return the differences between two trees, by path, with added and removed lines (0 for binary files)."""
        if from_tree == to_tree:
            return ()
        fields = iter(
            await self.names("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", from_tree, to_tree)
        )
        modes: dict[bytes, tuple[str, str]] = {}
        lines: dict[bytes, tuple[int, int]] = {}
        for item in fields:
            if item.startswith(b":"):
                old_mode, new_mode = item[1:].split(b" ")[:2]
                modes[next(fields)] = (old_mode.decode(), new_mode.decode())
            else:
                added, removed, path = item.split(b"\t", 2)
                lines[path] = (0, 0) if added == b"-" else (int(added), int(removed))
        return tuple(TreeChange(os.fsdecode(path), *modes[path], *lines.get(path, (0, 0))) for path in sorted(modes))

    async def latest(self) -> tuple[str, str]:
        """Return the commit and tree of the newest checkpoint, both empty if there is none."""
        line = (await self.run("for-each-ref", "--format=%(objectname) %(tree)", _BRANCH)).decode().split()
        return (line[0], line[1]) if line else ("", "")

    async def commit(self, tree: str, parent: str) -> str:
        """Store a tree as the newest checkpoint and return its commit."""
        parents = ("-p", parent) if parent else ()
        commit = (await self.run("commit-tree", tree, *parents, "-m", "checkpoint")).decode().strip()
        await self.run("update-ref", _BRANCH, commit)
        return commit

    async def stage(self, tree: str, changes: Iterable[TreeChange], name: str) -> Path:
        """Write the files that the changes result in to a scratch folder, and return the folder."""
        folder = self.scratch / name
        folder.mkdir()
        paths = b"".join(os.fsencode(change.path) + b"\0" for change in changes if change.new_mode != ABSENT)
        if paths:
            await self.run("read-tree", tree, index=f"{name}.index")
            await self.run("checkout-index", "-z", "--stdin", f"--prefix={folder}/", stdin=paths, index=f"{name}.index")
        return folder

    async def _prepare(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        for stale in (self.folder / "HEAD.lock", self.folder / "config.lock", self.folder / f"{_BRANCH}.lock"):
            stale.unlink(missing_ok=True)
        ready = self.folder / "ready"
        if not ready.exists():
            await self.run("init", "--quiet", "--template=", "--initial-branch=checkpoints")
            (self.folder / "info").mkdir(exist_ok=True)
            (self.folder / "info" / "attributes").write_text(_ATTRIBUTES)
            (self.folder / "info" / "exclude").write_bytes(_own_folder_rule(self.workspace, self.folder))
            ready.write_bytes(os.fsencode(self.workspace))
        index = self.folder / "index"
        if index.exists():
            # With its times, from which git tells which files may have changed unnoticed.
            shutil.copy2(index, self.scratch / "index")


async def _acquire(lock: FileLock) -> None:
    give_up = monotonic() + _LOCK_WAIT_S
    while True:
        try:
            lock.acquire(timeout=0)
            return
        except Timeout:
            if monotonic() > give_up:
                raise CheckpointError(
                    "Another roo-tui has been using this workspace's checkpoints for a minute. Try again later."
                ) from None
        await asyncio.sleep(_LOCK_POLL_S)


def _own_folder_rule(workspace: Path, folder: Path) -> bytes:
    if not folder.is_relative_to(workspace):
        return b""
    escaped = "".join(f"\\{letter}" if letter in "\\*?[ " else letter for letter in str(folder.relative_to(workspace)))
    return os.fsencode(f"/{escaped}/\n")
