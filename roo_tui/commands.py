"""The table of commands: bindings, palette, slash completion, footer, help screen and docs/keys.md come from it.

Data only. Each front end maps an id to a function. Keys are written as Textual writes them, and work in every terminal:
ctrl+i (tab), ctrl+m (enter), ctrl+h (often backspace) and ctrl+s (may stop the output) are not used.
"""

from dataclasses import dataclass
from typing import Literal

Context = Literal["app", "transcript"]


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user can ask for.

    `keys` work in `context`: everywhere in the app, or only while the transcript has the focus. `slash` is the word
    typed after `/`, `arguments` what may follow. `footer` is the word shown in the footer, `notice` what a notice says
    once it is done; blank for none.
    """

    id: str
    title: str
    help: str
    keys: tuple[str, ...] = ()
    slash: str = ""
    arguments: str = ""
    footer: str = ""
    notice: str = ""
    context: Context = "app"


COMMANDS: tuple[Command, ...] = (
    Command(
        "condense",
        "Condense context",
        "Replace older messages with a summary; nothing is deleted",
        keys=("ctrl+t",),
        slash="condense",
        arguments="[instructions]",
        footer="Condense",
    ),
    Command(
        "preview",
        "Preview a condense",
        "Show what a condense would free, cost and save, without running it",
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
        "Search the whole task, including hidden entries and other branches",
        keys=("ctrl+f",),
        slash="find",
        arguments="[words]",
    ),
    Command("undo", "Undo", "Undo the newest condense, truncation or rewind", keys=("f8",), slash="undo"),
    Command("redo", "Redo", "Redo what was undone last", keys=("f9",), slash="redo"),
    Command(
        "rewind",
        "Rewind",
        "Go back to an earlier point: conversation, files or both",
        keys=("ctrl+r",),
        slash="rewind",
        footer="Rewind",
        notice="Rewound. F8 undoes it.",
    ),
    Command("truncate", "Truncate context", "Hide the oldest messages without a summary", slash="truncate"),
    Command("interrupt", "Interrupt", "Close, cancel or interrupt", keys=("escape",)),
    Command(
        "new_task",
        "New task",
        "Start an empty task",
        keys=("ctrl+n",),
        slash="new",
        notice="New task. The previous one is in the list of tasks (F3).",
    ),
    Command("tasks", "Tasks", "Resume an earlier task", keys=("f3",), slash="tasks", footer="Tasks"),
    Command(
        "profile",
        "Choose profile",
        "Choose the profile for the next request",
        keys=("f4",),
        slash="profile",
        arguments="[name]",
    ),
    Command(
        "settings",
        "Settings",
        "Change settings",
        keys=("f2",),
        slash="settings",
        footer="Settings",
        notice="Settings saved; used from the next request on.",
    ),
    Command("help", "Help", "Show keys and commands", keys=("f1",), slash="help", footer="Help"),
    Command("expand_all", "Expand all", "Expand every row of the transcript", keys=("ctrl+o",)),
    Command("fold_all", "Fold all", "Fold every row of the transcript", keys=("ctrl+g",)),
    Command("copy", "Copy", "Copy the selection; without one, press twice to quit", keys=("ctrl+c",)),
    Command("theme", "Theme", "Choose the colour theme", slash="theme"),
    Command("notices", "Notices", "Show recent notices, newest first", slash="notices"),
    Command("suspend", "Suspend", "Suspend to the shell; fg resumes", keys=("ctrl+z",)),
    Command("quit", "Quit", "Quit; everything is saved", keys=("ctrl+q",), slash="quit", footer="Quit"),
    Command(
        "toggle_row",
        "Expand or fold row",
        "Expand or fold the row under the cursor",
        keys=("enter", "space"),
        context="transcript",
    ),
    Command(
        "undo_row",
        "Undo or redo row",
        "Undo or redo the reduction under the cursor",
        keys=("u", "r"),
        context="transcript",
    ),
    Command(
        "copy_row",
        "Copy row",
        "Copy the text of the row under the cursor",
        keys=("c",),
        context="transcript",
    ),
)


def by_slash(word: str) -> Command | None:
    """Return the command that `/word` names, None if there is none."""
    return next((entry for entry in COMMANDS if entry.slash == word), None) if word else None


def notice_of(command_id: str) -> str:
    """Return what a notice says once a command is done."""
    return next(entry.notice for entry in COMMANDS if entry.id == command_id)
