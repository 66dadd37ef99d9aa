"""The table of commands: from it come bindings, palette, slash completion, footer, help screen and the README's keys.

Data only. Each front end maps an id to what it does. Keys are written as Textual writes them. They survive
terminals: ctrl+i is tab, ctrl+m is enter, ctrl+h is often backspace, ctrl+s may stop the output, so none is used.
"""

from dataclasses import dataclass
from typing import Literal

Context = Literal["app", "transcript"]


@dataclass(frozen=True, slots=True)
class Command:
    """Something a person can ask for.

    `keys` work in `context`: everywhere in the app, or only while the transcript has the focus. `while_typing` says
    that they work while the prompt has the focus too. `slash` is the word typed after `/`, `arguments` what may follow.
    `footer` is the word shown in the footer, empty for commands that are not shown there.
    """

    id: str
    title: str
    help: str
    keys: tuple[str, ...] = ()
    slash: str = ""
    arguments: str = ""
    footer: str = ""
    while_typing: bool = True
    context: Context = "app"


COMMANDS: tuple[Command, ...] = (
    Command(
        "condense",
        "Condense context",
        "Summarise the conversation and hide what the summary stands for; nothing is deleted",
        keys=("ctrl+t",),
        slash="condense",
        arguments="[instructions]",
        footer="Condense",
    ),
    Command(
        "forecast",
        "Forecast a condense",
        "Show what a condense would free, cost and save before it is made",
        slash="condense?",
    ),
    Command(
        "context",
        "Context",
        "Show what fills the context window, by kind and by entry",
        keys=("f5",),
        slash="context",
    ),
    Command(
        "find",
        "Find",
        "Search the whole task, also what is hidden or on another branch",
        keys=("ctrl+f",),
        slash="find",
        arguments="[words]",
    ),
    Command("undo", "Undo", "Take back the newest condense, truncation or rewind", keys=("f8",), slash="undo"),
    Command("redo", "Redo", "Do again what was taken back", keys=("f9",), slash="redo"),
    Command(
        "rewind",
        "Rewind",
        "Go back to an earlier point: the conversation, the files or both",
        keys=("ctrl+r",),
        slash="rewind",
        footer="Rewind",
    ),
    Command("truncate", "Truncate context", "Hide the oldest messages without a summary", slash="truncate"),
    Command("interrupt", "Interrupt", "Stop what runs; close, cancel or go back", keys=("escape",)),
    Command("new_task", "New task", "Start an empty task", keys=("ctrl+n",), slash="new"),
    Command("tasks", "Tasks", "Choose an earlier task to go on with", keys=("f3",), slash="tasks", footer="Tasks"),
    Command(
        "profile",
        "Choose profile",
        "Choose the model the next request goes to",
        keys=("f4",),
        slash="profile",
        arguments="[name]",
    ),
    Command("settings", "Settings", "Change settings", keys=("f2",), slash="settings", footer="Settings"),
    Command("help", "Help", "Show keys and commands", keys=("f1",), slash="help", footer="Help"),
    Command("expand_all", "Expand all", "Open every row of the transcript", keys=("ctrl+o",)),
    Command("fold_all", "Fold all", "Close every row of the transcript", keys=("ctrl+g",)),
    Command("copy", "Copy", "Copy what is selected; twice without a selection quits", keys=("ctrl+c",)),
    Command("theme", "Theme", "Choose the colours", slash="theme"),
    Command("notices", "Notices", "Show what was said above the prompt, newest first", slash="notices"),
    Command("suspend", "Suspend", "Go to the shell for a while; fg comes back", keys=("ctrl+z",)),
    Command("quit", "Quit", "Leave; everything is saved already", keys=("ctrl+q",), slash="quit", footer="Quit"),
    Command(
        "toggle_row",
        "Expand or fold row",
        "Open or close the row under the cursor",
        keys=("enter", "space"),
        while_typing=False,
        context="transcript",
    ),
    Command(
        "undo_row",
        "Undo or redo row",
        "Switch the condense or truncation under the cursor off or on",
        keys=("u", "r"),
        while_typing=False,
        context="transcript",
    ),
    Command(
        "copy_row",
        "Copy row",
        "Copy the text of the row under the cursor",
        keys=("c",),
        while_typing=False,
        context="transcript",
    ),
)


def command(command_id: str) -> Command:
    """Return the command with this id.

    Raises:
        KeyError: there is none.
    """
    return _BY_ID[command_id]


def by_slash(word: str) -> Command | None:
    """Return the command that `/word` names, None if there is none."""
    return next((entry for entry in COMMANDS if entry.slash == word), None) if word else None


_BY_ID = {entry.id: entry for entry in COMMANDS}
