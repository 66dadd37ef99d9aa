"""From what a person typed to the blocks that are sent: their words, command texts, mentioned files, environment.

Each goes in as a block of its own, so that commands can be kept through any number of condenses and the person's
words can come back to the prompt after a rewind.
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
    """A message ready for the log, and the mentioned paths that could not be read."""

    message: UserMessage
    unread: tuple[str, ...] = ()


def compose(words: str, environment: str, commands: dict[str, CustomCommand], workspace: Workspace) -> Composed:
    """Return the user message for what was typed; reads mentioned files, so call it off the event loop."""
    words = well_formed(words)
    command = _COMMAND.match(words.strip())
    blocks: list[Block] = []
    if command and command[1] in commands:
        chosen = commands[command[1]]
        asked = render("user_message/command_arguments", name=chosen.name, arguments=(command[2] or "").strip())
        blocks += [Text(asked.strip()), Text(chosen.block().strip())]
    else:
        blocks.append(Text(words))
    texts, unread = _mentioned(words, workspace)
    blocks += [Text(text) for text in texts]
    if environment:
        blocks.append(Text(environment))
    return Composed(UserMessage(tuple(blocks), words=words), unread)


def _mentioned(words: str, workspace: Workspace) -> tuple[list[str], tuple[str, ...]]:
    """Return the text of each `@path` that names a file, and the paths that do but cannot be read."""
    texts, unread = [], []
    for name in dict.fromkeys(match[1].replace("\\ ", " ").rstrip(".,;:!?)") for match in _MENTION.finditer(words)):
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
