"""Reads the files the agent has read, as outlines, for the summary message of a condense."""

import asyncio
from pathlib import Path

from roo_tui.context.condense.folded_files import outlines_of
from roo_tui.context.reduction_input import Fold
from roo_tui.domain.entries import Entry, UserMessage
from roo_tui.domain.errors import WorkspaceError
from roo_tui.outline import Outliner
from roo_tui.workspace.files import Workspace


def read_files(path: tuple[Entry, ...]) -> tuple[str, ...]:
    """Return the files the agent has read, newest first, each once; paths relative to the workspace."""
    found: dict[str, None] = {}
    for entry in reversed(path):
        if isinstance(entry.body, UserMessage):
            for record in reversed(entry.body.calls):
                if record.facts.kind == "read" and record.facts.path:
                    found.setdefault(record.facts.path)
    return tuple(found)


def fold_files(workspace: Workspace, outliner: Outliner) -> Fold:
    """Return the function a condense calls with paths, newest first; unreadable and ignored files are left out."""

    async def read(path: str) -> str:
        return (await asyncio.to_thread(workspace.read_text, Path(path))).text

    return outlines_of(read, outliner.outline, WorkspaceError)
