"""The shadow git repository of checkpoints: outside the workspace, and independent of the user's configuration of git.

Only the user's ignore rules count.

It uses the plumbing commands of the installed git. Each session works on a copy of the index, so that a killed process
leaves nothing behind that could block the next one.
"""

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from filelock import FileLock, Timeout

from roo_tui.domain.errors import CheckpointError
from roo_tui.store.ignore_sources import IgnoreSources, find_ignore_sources

ABSENT = "000000"
LINK = "120000"
EXECUTABLE = "100755"
PLAIN = "100644"
# The file of a tree that holds the permissions of its files, of which git keeps only the executable bit.
MODES = ".roo-tui-modes"

_BRANCH = "refs/heads/checkpoints"
_LOCK_WAIT_S = 60.0
_LOCK_POLL_S = 0.02

_OPTIONS = [
    option
    for setting in (
        "core.bare=false",
        "core.hooksPath=/dev/null",
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
    """One path that differs between two trees. A mode is `ABSENT` if the path does not exist in that tree.

    Permissions are None if the tree does not say, as those of earlier versions.
    """

    path: str
    old_mode: str
    new_mode: str
    added: int = 0
    removed: int = 0
    old_permissions: int | None = None
    new_permissions: int | None = None

    def reversed(self) -> "TreeChange":
        """Return the change that undoes this one."""
        return TreeChange(
            self.path,
            self.new_mode,
            self.old_mode,
            self.removed,
            self.added,
            self.new_permissions,
            self.old_permissions,
        )


class ShadowGit:
    """Runs git on the shadow repository in `folder`, with the workspace as its working tree.

    If the workspace is part of a larger repository, git starts at the top of that one, so that its ignore rules count;
    trees hold the workspace alone.
    """

    def __init__(self, workspace: Path, folder: Path, program: str) -> None:
        self.workspace = workspace
        self.folder = folder
        self.scratch = folder / "scratch"
        self.program = program
        self._turn = asyncio.Lock()
        self._sources = IgnoreSources(workspace)

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
                        index.replace(self._kept_index())
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
        root = self._sources.root if index == "index" else self.workspace
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | {
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": str(root),
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
                "-c",
                f"core.excludesFile={self._sources.excludes_file}",
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
        modes: dict[str, tuple[str, str]] = {}
        lines: dict[str, tuple[int, int]] = {}
        for item in fields:
            if item.startswith(b":"):
                old_mode, new_mode = item[1:].split(b" ")[:2]
                modes[os.fsdecode(next(fields))] = (old_mode.decode(), new_mode.decode())
            else:
                added, removed, name = item.split(b"\t", 2)
                lines[os.fsdecode(name)] = (0, 0) if added == b"-" else (int(added), int(removed))
        old, new = await self._modes(from_tree), await self._modes(to_tree)
        modes.pop(MODES, None)
        if old is not None and new is not None:
            for path in {path for path, _ in old.items() ^ new.items()} - modes.keys():
                executable = int((old | new)[path], 8) & 0o100
                modes[path] = (EXECUTABLE, EXECUTABLE) if executable else (PLAIN, PLAIN)
        return tuple(
            TreeChange(
                path,
                old_mode,
                new_mode,
                *lines.get(path, (0, 0)),
                self._permissions(old, path, old_mode),
                self._permissions(new, path, new_mode),
            )
            for path, (old_mode, new_mode) in sorted(modes.items())
        )

    def usual_modes(self) -> tuple[int, int]:
        """Return the permissions that a new file has here, and those of a new executable file."""
        executable = self.scratch.stat().st_mode & 0o777
        return executable & 0o666, executable

    async def write_tree(self, modes: bytes) -> str:
        """Store what the index holds of the workspace as a tree, with these modes, and return it."""
        place = self.workspace.relative_to(self._sources.root).as_posix()
        prefix = "" if place == "." else f"{place}/"
        entry = f"100644 {await self.put_blob(modes)} 0\t{prefix}{MODES}\0"
        await self.run("update-index", "-z", "--index-info", stdin=os.fsencode(entry))
        return (await self.run("write-tree", f"--prefix={prefix}")).decode().strip()

    async def put_blob(self, content: bytes) -> str:
        """Store bytes and return their id."""
        return (await self.run("hash-object", "-w", "--stdin", stdin=content)).decode().strip()

    async def blobs(self, names: Iterable[str]) -> list[bytes | None]:
        """Return the bytes of each object, None for one that does not exist."""
        output = await self.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names).encode())
        found: list[bytes | None] = []
        at = 0
        while at < len(output):
            end = output.index(b"\n", at)
            header, at = output[at:end], end + 1
            if header.endswith(b" missing"):
                found.append(None)
                continue
            size = int(header.rsplit(b" ", 1)[1])
            found.append(output[at : at + size])
            at += size + 1
        return found

    async def log(self, most: int = 0) -> list[tuple[str, str, str]]:
        """Return commit, tree and message of the checkpoints, newest first, at most `most` if that is not 0."""
        if not await self.run("for-each-ref", _BRANCH):
            return []
        limit = [f"--max-count={most}"] if most else []
        output = await self.run("log", "-z", "--format=%H %T %s", *limit, _BRANCH)
        lines = (line.split(" ", 2) for line in output.decode().split("\0") if line)
        return [(commit, tree, message) for commit, tree, message in lines]

    async def commit(self, tree: str, parent: str, message: str) -> str:
        """Store a tree as the newest checkpoint and return its commit."""
        parents = ("-p", parent) if parent else ()
        commit = (await self.run("commit-tree", tree, *parents, "-m", message)).decode().strip()
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

    async def _modes(self, tree: str) -> dict[str, str] | None:
        """Return the unusual permissions of a tree's files; None if it does not say."""
        (content,) = await self.blobs([f"{tree}:{MODES}"])
        return None if content is None else json.loads(content)

    def _permissions(self, modes: dict[str, str] | None, path: str, mode: str) -> int | None:
        if modes is None or mode not in (PLAIN, EXECUTABLE):
            return None
        plain, executable = self.usual_modes()
        return int(modes[path], 8) if path in modes else executable if mode == EXECUTABLE else plain

    async def _prepare(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        for stale in (self.folder / "HEAD.lock", self.folder / "config.lock", self.folder / f"{_BRANCH}.lock"):
            stale.unlink(missing_ok=True)
        self._sources = await find_ignore_sources(self.program, self.workspace)
        ready = self.folder / "ready"
        if not ready.exists():
            await self.run("init", "--quiet", "--template=", "--initial-branch=checkpoints")
            (self.folder / "info").mkdir(exist_ok=True)
            (self.folder / "info" / "attributes").write_text(_ATTRIBUTES)
            ready.write_bytes(os.fsencode(self.workspace))
        own_folder = _own_folder_rule(self._sources.root, self.folder)
        (self.folder / "info" / "exclude").write_bytes(self._sources.own_rules + b"\n" + own_folder)
        index = self._kept_index()
        if index.exists():
            # With its times, from which git tells which files may have changed unnoticed.
            shutil.copy2(index, self.scratch / "index")

    def _kept_index(self) -> Path:
        """Return where the index is kept between sessions: one for each top, since its paths start there."""
        if self._sources.root == self.workspace:
            return self.folder / "index"
        return self.folder / f"index-{hashlib.sha256(os.fsencode(self._sources.root)).hexdigest()[:16]}"


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


def _own_folder_rule(root: Path, folder: Path) -> bytes:
    if not folder.is_relative_to(root):
        return b""
    escaped = "".join(f"\\{letter}" if letter in "\\*?[ " else letter for letter in str(folder.relative_to(root)))
    return os.fsencode(f"/{escaped}/\n")
