"""Key bindings, slash completion, footer and palette, made from the table of commands."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider

from roo_tui.commands import COMMANDS, Command, Context
from roo_tui.tui import strings
from roo_tui.tui.widgets.completion import Suggestion
from roo_tui.tui.widgets.status_bars import KeyHint

ACTION = "run_command"
"""The action every binding calls, with the command's id."""


def bindings_of(context: Context) -> list[BindingType]:
    """Return the bindings of the commands that work in this context; their ids are the commands'."""
    return [
        Binding(
            ",".join(command.keys),
            f"{ACTION}('{command.id}')",
            command.title,
            id=command.id,
            tooltip=command.help,
            show=False,
        )
        for command in COMMANDS
        if command.context == context and command.keys
    ]


def key_name(key: str) -> str:
    """Return how a key is written on screen: `Ctrl+T`, `F1`, `Esc`; a single letter as it is typed."""
    return key if len(key) == 1 else "+".join(strings.KEY_NAMES.get(part, part.title()) for part in key.split("+"))


def keys_of(command: Command) -> str:
    """Return all keys of a command as they are written on screen."""
    return ", ".join(key_name(key) for key in command.keys)


def footer_keys() -> tuple[KeyHint, ...]:
    """Return what the footer shows, the most important first."""
    return tuple(KeyHint(one.id, key_name(one.keys[0]), one.footer) for one in COMMANDS if one.footer and one.keys)


def slash_suggestions(custom: Iterable[tuple[str, str]]) -> Sequence[Suggestion]:
    """Return what `/` offers: the commands, then the project's own (name, description)."""
    offered = [
        Suggestion(f"/{one.slash} " if one.arguments else f"/{one.slash}", f"/{one.slash}", one.help)
        for one in COMMANDS
        if one.slash
    ]
    taken = {one.label for one in offered}
    offered += [Suggestion(f"/{name} ", f"/{name}", help) for name, help in custom if f"/{name}" not in taken]
    return offered


class CommandProvider(Provider):
    """Offers the commands of the table; the chat screen runs them."""

    async def discover(self) -> Hits:
        """Yield every command, for an empty search."""
        for command in _offered():
            yield DiscoveryHit(_title(command), self._run(command), text=command.title, help=command.help)

    async def search(self, query: str) -> Hits:
        """Yield the commands that match what was typed."""
        matcher = self.matcher(query)
        for command in _offered():
            score = matcher.match(f"{command.title} {command.slash}")
            if score > 0:
                yield Hit(score, _title(command), self._run(command), text=command.title, help=command.help)

    def _run(self, command: Command) -> Callable[[], Awaitable[None]]:
        return partial(self.screen.run_action, f"run_command('{command.id}')")


def _offered() -> list[Command]:
    return [command for command in COMMANDS if command.context == "app" and command.id not in ("interrupt", "copy")]


def _title(command: Command) -> str:
    return f"{command.title}  ({keys_of(command)})" if command.keys else command.title
