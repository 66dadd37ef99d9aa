"""Where git finds the ignore rules for a workspace: around it, in the user's configuration, and in their repository.

Nothing but these rules is read from the user's repository.
"""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class IgnoreSources:
    """The sources of ignore rules beside the workspace's own .gitignore files.

    `root` is the top of the repository that the workspace belongs to, or the workspace: .gitignore files count from
    there on. `excludes_file` holds the user's rules for all repositories (it may be missing), `own_rules` those of this
    repository's `info/exclude`.
    """

    root: Path
    excludes_file: str = ""
    own_rules: bytes = b""


async def find_ignore_sources(program: str, workspace: Path) -> IgnoreSources:
    """Ask git for the sources; without an answer, only the workspace's own .gitignore files count."""
    configured = await _answer(program, workspace, "config", "--type=path", "--get", "core.excludesFile")
    excludes_file = configured or str(_default_excludes_file())
    if not any((folder / ".git").exists() for folder in (workspace, *workspace.parents)):
        return IgnoreSources(workspace, excludes_file)
    found = await _answer(program, workspace, "rev-parse", "--show-toplevel", "--git-path", "info/exclude")
    top, _, exclude = found.partition("\n")
    root = Path(top or workspace)
    if not workspace.is_relative_to(root):
        return IgnoreSources(workspace, excludes_file)
    if root != workspace and await _answer(program, workspace, "check-ignore", "--", str(workspace)):
        # The repository around it ignores the whole workspace, so it says nothing about the files in it.
        return IgnoreSources(workspace, excludes_file)
    return IgnoreSources(root, excludes_file, await asyncio.to_thread(_read, workspace / exclude))


async def _answer(program: str, workspace: Path, *arguments: str) -> str:
    """Return what git prints about the user's own repository or configuration, "" if it refuses."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    }
    process = await asyncio.create_subprocess_exec(
        program,
        "-c",
        "safe.directory=*",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=workspace,
        env=environment,
        start_new_session=True,
    )
    output, _ = await process.communicate()
    return os.fsdecode(output).removesuffix("\n") if not process.returncode else ""


def _default_excludes_file() -> Path:
    configured = os.environ.get("XDG_CONFIG_HOME")
    return (Path(configured) if configured else Path.home() / ".config") / "git" / "ignore"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
