"""The command palette: every command of the table that can be run without a row under the cursor."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from roo_tui.commands import COMMANDS, Command
from roo_tui.tui.bindings import keys_of


class CommandProvider(Provider):
    """Offers the table's commands; running one is the chat screen's business."""

    async def discover(self) -> Hits:
        for command in _offered():
            yield DiscoveryHit(_title(command), self._run(command), text=command.title, help=command.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in _offered():
            score = matcher.match(f"{command.title} {command.slash}")
            if score > 0:
                yield Hit(score, _title(command), self._run(command), text=command.title, help=command.help)

    def _run(self, command: Command) -> Callable[[], Coroutine[Any, Any, None]]:
        return partial(self.screen.run_action, f"run_command('{command.id}')")


def _offered() -> list[Command]:
    return [command for command in COMMANDS if command.context == "app" and command.id not in ("interrupt", "copy")]


def _title(command: Command) -> str:
    return f"{command.title}  ({keys_of(command)})" if command.keys else command.title
