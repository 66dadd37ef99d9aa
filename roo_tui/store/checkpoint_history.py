"""The checkpoints of a workspace in their order: whose changes each one holds, and what it left out.

A rewind asks it what a task's steps brought in since a checkpoint. Everything else is the user's.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass

from roo_tui.store.shadow_git import ShadowGit


@dataclass(frozen=True, slots=True)
class CheckpointRecord:
    """One checkpoint. `files` changed since the one before it: in a step of the task `step_of`, by the user, or by
    either if nobody can tell (both are set). `left_out` names what was there but is not in it; folders end in a slash.
    """

    tree: str
    commit: str
    step_of: str = ""
    by_user: bool = True
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    detailed: bool = True


@dataclass(frozen=True, slots=True)
class Since:
    """What happened since a checkpoint. `left_out` is what that checkpoint or a later one left out."""

    by_agent: frozenset[str]
    by_user: frozenset[str]
    left_out: frozenset[str]

    def was_left_out(self, path: str) -> bool:
        """Return whether some checkpoint left out this file or a folder with it."""
        parts = path.split("/")
        folders = ("/".join(parts[:depth]) + "/" for depth in range(1, len(parts)))
        return path in self.left_out or any(folder in self.left_out for folder in folders)


class CheckpointHistory:
    """Reads and extends the checkpoints of one shadow repository, inside its session."""

    def __init__(self, git: ShadowGit) -> None:
        self._git = git

    async def latest(self) -> CheckpointRecord | None:
        """Return the newest checkpoint."""
        records = await self._read(1)
        return records[0] if records else None

    async def add(
        self, tree: str, left_out: Collection[str], *, step_of: str = "", by_user: bool = True
    ) -> CheckpointRecord:
        """Store a checkpoint and return it; an equal one is not stored again."""
        latest = await self.latest()
        names = tuple(sorted(left_out))
        if latest is not None and (latest.tree, latest.left_out) == (tree, names):
            return CheckpointRecord(tree, latest.commit, latest.step_of, latest.by_user, (), names)
        changes = await self._git.changes(latest.tree, tree) if latest is not None else ()
        files = tuple(change.path for change in changes)
        details = {"step_of": step_of, "by_user": by_user, "files": files, "left_out": names}
        blob = await self._git.put_blob(json.dumps(details).encode())
        commit = await self._git.commit(tree, latest.commit if latest is not None else "", f"checkpoint {blob}")
        return CheckpointRecord(tree, commit, step_of, by_user, files, names)

    async def since(self, tree: str, task: str) -> Since:
        """Return what happened since the newest checkpoint with this tree: by the task's steps, and otherwise."""
        records = await self._read()
        end = next((index for index, record in enumerate(records) if record.tree == tree), len(records) - 1)
        by_agent: set[str] = set()
        by_user: set[str] = set()
        for record in records[:end]:
            if record.step_of == task and task:
                by_agent.update(record.files)
            if record.by_user or record.step_of != task:
                by_user.update(record.files)
        undetailed = next((record for record in records[:end] if not record.detailed), None)
        if undetailed is not None:
            by_agent.update(change.path for change in await self._git.changes(tree, undetailed.tree))
        return Since(
            frozenset(by_agent),
            frozenset(by_user),
            frozenset(name for record in records[: end + 1] for name in record.left_out),
        )

    async def _read(self, most: int = 0) -> list[CheckpointRecord]:
        """Return the checkpoints, newest first, at most `most` if that is not 0."""
        lines = await self._git.log(most)
        blobs = await self._git.blobs([message.split()[1] for *_, message in lines if " " in message])
        details = iter(blobs)
        return [_record(commit, tree, next(details) if " " in message else None) for commit, tree, message in lines]


def _record(commit: str, tree: str, details: bytes | None) -> CheckpointRecord:
    if details is None:
        # Checkpoints of earlier versions hold nothing but files.
        return CheckpointRecord(tree, commit, detailed=False, by_user=False)
    fields = json.loads(details)
    return CheckpointRecord(
        tree, commit, fields["step_of"], fields["by_user"], tuple(fields["files"]), tuple(fields["left_out"])
    )
