"""Keys, slash completion, footer and palette, all made from the one table of commands."""

from collections.abc import Iterable, Sequence

from textual.binding import Binding, BindingType

from roo_tui.commands import COMMANDS, Command, Context
from roo_tui.tui.widgets.completion import Suggestion
from roo_tui.tui.widgets.footer import KeyHint

ACTION = "run_command"
"""The action every binding calls, with the command's id."""

_KEY_NAMES = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn"}


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
    """Return how a key is written on screen: `^t`, `f1`, `esc`."""
    return f"^{key.removeprefix('ctrl+')}" if key.startswith("ctrl+") else _KEY_NAMES.get(key, key)


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
