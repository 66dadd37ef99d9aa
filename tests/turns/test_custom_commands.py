"""Slash commands of the project and of the user: which are read, and how a message names them."""

from pathlib import Path

import pytest

from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import UserMessage
from tests.support.engines import bodies, engine_on
from tests.support.scripted_model import ScriptedModel


def write_command(folder: Path, name: str, text: str) -> None:
    path = folder / ".roo" / "commands" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def workspace(tmp_path: Path, home: str) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    write_command(folder, "review", "Review the changes.")
    write_command(Path(home), "review", "Review as at home.")
    write_command(Path(home), "tidy", "---\ndescription: Tidy up\n---\nRemove dead code.")
    return folder


async def sent(workspace: Path, message: str) -> list[str]:
    """Return the texts of the message as it is sent, without the environment details."""
    async with engine_on(workspace, ScriptedModel(["Done."])) as (engine, recorder):
        await recorder.turn(message)
        blocks = bodies(engine, UserMessage)[0].blocks
    return [block.text for block in blocks if isinstance(block, Text)][:-1]


@pytest.mark.parametrize("message", ["please /review this", "look at it,\n/review", "first (as said) /review."])
async def test_a_slash_command_inside_a_sentence_is_sent_with_its_text(workspace: Path, message: str) -> None:
    assert await sent(workspace, message) == [message, '<command name="review">\nReview the changes.\n</command>']


@pytest.mark.parametrize("message", ["see src/review", "https://example.com/review", "a /reviewer", "3 /review/x"])
async def test_what_only_looks_like_a_slash_command_is_sent_as_it_is(workspace: Path, message: str) -> None:
    assert await sent(workspace, message) == [message]


async def test_several_commands_are_sent_once_each(workspace: Path) -> None:
    first, *commands = await sent(workspace, "/review this, then /tidy and /review again")
    assert "Run the command review" in first and "then /tidy" in first
    assert [text.split("\n")[0] for text in commands] == ['<command name="review">', '<command name="tidy">']


async def test_commands_of_the_home_folder_are_read_after_the_projects(workspace: Path) -> None:
    async with engine_on(workspace, ScriptedModel([])) as (engine, _):
        assert engine.read.custom_commands() == [("review", "Review the changes."), ("tidy", "Tidy up")]
    assert (await sent(workspace, "/tidy"))[-1] == '<command name="tidy">\nRemove dead code.\n</command>'
