"""Build a user message: the typed text, the texts of slash commands, mentioned files and environment details.

Each is a block of its own, so that a condense can keep the commands, and a rewind can put the typed text back into the
prompt.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from roo_tui.domain.blocks import Block, Text
from roo_tui.domain.entries import UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.engine.project_rules import CustomCommand
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.workspace.files import Workspace

MENTION_LIMIT = 100_000
_COMMAND = re.compile(r"/([\w.-]+)(?:\s+(.*))?\Z", re.DOTALL)
_MENTION = re.compile(r"(?<![\w@])@((?:[^\s@\\]|\\ )+)")


@dataclass(frozen=True, slots=True)
class Composed:
    """A user message for the log, and the mentioned paths that could not be read."""

    message: UserMessage
    unread: tuple[str, ...] = ()


def compose(message: str, environment: str, commands: dict[str, CustomCommand], workspace: Workspace) -> Composed:
    """Return the user message for what was typed. Reads mentioned files: call it off the event loop."""
    message = well_formed(message)
    command = _COMMAND.match(message.strip())
    blocks: list[Block] = []
    if command and command[1] in commands:
        chosen = commands[command[1]]
        instruction = render("user_message/command_arguments", name=chosen.name, arguments=(command[2] or "").strip())
        blocks += [Text(instruction.strip()), Text(chosen.block().strip())]
    else:
        blocks.append(Text(message))
    texts, unread = _mentioned(message, workspace)
    blocks += [Text(text) for text in texts]
    if environment:
        blocks.append(Text(environment))
    return Composed(UserMessage(tuple(blocks), words=message), unread)


def _mentioned(message: str, workspace: Workspace) -> tuple[list[str], tuple[str, ...]]:
    """Return the text of each `@path` that names a file, and the paths of files that cannot be read."""
    texts, unread = [], []
    for name in dict.fromkeys(match[1].replace("\\ ", " ").rstrip(".,;:!?)") for match in _MENTION.finditer(message)):
        path = workspace.root / name
        if not path.is_file():
            continue
        try:
            text = _read(workspace, Path(name))
        except RooError:
            unread.append(name)
            continue
        texts.append(render("user_message/mentioned_file", path=name, text=text[:MENTION_LIMIT]))
    return texts, tuple(unread)


def _read(workspace: Workspace, name: Path) -> str:
    return well_formed(workspace.read_text(str(name)).text)
