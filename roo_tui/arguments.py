"""The command line's commands, arguments and help texts.

A first word that names a command runs that command. To open a folder of that name, write `./tasks` or `-- tasks`.
"""

import argparse
from pathlib import Path

COMMANDS = {
    "tasks": "List the tasks, newest first",
    "import": "Create a task from a conversation in a file; the last word printed is its id",
    "export": "Print a task: everything (transcript), or what the model gets next (effective)",
    "condense": "Condense a task's context",
    "rewind": "Rewind a task to an earlier entry",
    "undo": "Undo the newest condense, truncation or rewind of a task",
    "context": "Show what fills the context window of a task, by kind and by entry",
    "stats": "Show what all condenses and truncations freed and cost",
    "bench": "Compare what the strategies would do to conversations: bench condense PATH…",
    "doctor": "Check the installation and say how to fix what is missing",
}
"""Each command with what it does, as a line of the help text."""

_VALUED = ("--profile", "--model", "--base-url", "--resume", "-p", "--prompt", "--output")


def split_command(words: list[str]) -> tuple[str, list[str]]:
    """Return the command, "" if there is none, and the other words."""
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word == "--":
            break
        elif word in _VALUED:
            skip = True
        elif not word.startswith("-"):
            if word in COMMANDS:
                return word, words[:index] + words[index + 1 :]
            break
    return "", words


def _entry(text: str) -> int:
    from roo_tui.domain.ids import parse_entry_ref

    try:
        return parse_entry_ref(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


class _Help(argparse.Action):
    """Prints the help, which ends with the exit codes; they are imported only here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from roo_tui.headless.exit_codes import table

        commands = "".join(f"  {name:<10}{help_text}\n" for name, help_text in COMMANDS.items())
        listed = f"commands:\n{commands}\n" if parser.prog == "roo-tui" else ""
        parser.epilog = f"{listed}exit codes:\n{table()}"
        parser.print_help()
        parser.exit()


def _parser(prog: str, description: str, usage: str | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=usage,
        description=description,
        add_help=False,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help and exit")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("--profile", metavar="P", help="use this profile of the settings")
    parser.add_argument("--model", metavar="M", help="use this model instead of the profile's")
    parser.add_argument("--base-url", metavar="U", help="use this address of the provider instead of the profile's")
    return parser


def main_parser() -> argparse.ArgumentParser:
    """Return the parser of a call without a command."""
    parser = _parser(
        "roo-tui",
        "A coding agent for the terminal that can stay in one conversation for days.",
        "roo-tui [WORKSPACE] [options]\n       roo-tui COMMAND [options]",
    )
    parser.add_argument(
        "workspace", metavar="WORKSPACE", nargs="?", help="the folder to work in (default: the current one)"
    )
    parser.add_argument("--demo", action="store_true", help="open a sample project with a scripted model, offline")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--continue", dest="latest", action="store_true", help="continue the newest task of the workspace"
    )
    which.add_argument("--resume", metavar="ID", help="continue this task (a unique beginning of its id is enough)")
    parser.add_argument("--auto-approve", action="store_true", help="approve calls without asking")
    parser.add_argument("-p", "--prompt", metavar="PROMPT", help="do this without a screen, then exit")
    parser.add_argument(
        "--output", choices=("text", "json", "stream-json"), default="text", help="what -p prints (default: text)"
    )
    return parser


def command_parser(command: str) -> argparse.ArgumentParser:
    """Return the parser of a command of `COMMANDS`."""
    parser = _parser(f"roo-tui {command}", COMMANDS[command] + ".")
    match command:
        case "tasks":
            parser.add_argument("--json", action="store_true", help="print a JSON list")
        case "import":
            parser.add_argument(
                "path",
                metavar="PATH",
                type=Path,
                help="a JSON list of messages, or a Roo Code task folder; .gz files are unpacked",
            )
            parser.add_argument(
                "--format", choices=("auto", "messages", "roo"), default="auto", help="what PATH is (default: auto)"
            )
        case "export":
            parser.add_argument("id", metavar="ID")
            parser.add_argument(
                "--view",
                choices=("effective", "transcript"),
                default="transcript",
                help="what to print (default: transcript)",
            )
            parser.add_argument(
                "--format", choices=("json", "jsonl", "markdown"), default="markdown", help="(default: markdown)"
            )
        case "doctor":
            parser.add_argument(
                "--forget-limits",
                action="store_true",
                help="forget the windows and answer limits that providers stated",
            )
        case "bench":
            parser.add_argument("what", choices=("condense",), help="what to compare")
            parser.add_argument("paths", metavar="PATH", nargs="+", help="a file of messages, or the id of a task")
            parser.add_argument(
                "--ask",
                action="store_true",
                help="let the model write summaries, at its price; by default they are outlines",
            )
            parser.add_argument("--json", action="store_true", help="print JSON")
        case "stats":
            parser.add_argument("--json", action="store_true", help="print a JSON list with one object per reduction")
        case "context":
            parser.add_argument("id", metavar="ID")
            parser.add_argument("--json", action="store_true", help="print JSON")
        case "condense":
            parser.add_argument("id", metavar="ID")
            parser.add_argument(
                "--strategy",
                metavar="S",
                default="",
                help="native, smart, lossless, truncation, or the name of an installed one",
            )
            presets = ("conservative", "balanced", "aggressive", "custom")
            parser.add_argument("--preset", choices=presets, default="", help="how much the smart strategy removes")
            parser.add_argument("--instructions", metavar="T", default="", help="instructions for the summary")
            parser.add_argument(
                "--dry-run", action="store_true", help="only show what would be done, without asking a model"
            )
            parser.add_argument("--json", action="store_true", help="print the result as JSON")
        case "rewind":
            parser.add_argument("id", metavar="ID")
            parser.add_argument("point", metavar="POINT", type=_entry, help="a rewind point, for example e12")
            parser.add_argument(
                "--files", action="store_true", help="restore the files from the checkpoint of that entry, too"
            )
        case "undo":
            parser.add_argument("id", metavar="ID")
    return parser
