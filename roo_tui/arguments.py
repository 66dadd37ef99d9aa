"""The arguments of the command line: what can be asked for, and how it is written.

A first word that names a command is that command; a folder of the same name is reached as `./tasks` or after `--`.
"""

import argparse
from pathlib import Path
from typing import Any

COMMANDS = {
    "tasks": "List the tasks, newest first",
    "import": "Make a task of a conversation in a file; its id is the last word printed",
    "export": "Print a task: what the model gets next (effective) or everything (transcript)",
    "condense": "Condense a task's context",
    "rewind": "Take a task back to an earlier entry",
    "undo": "Take back a task's newest condense, truncation or rewind",
    "context": "Say what fills a task's context window, by kind and by entry",
    "stats": "Say what every condense, truncation and mask came to",
    "bench": "Compare the strategies on conversations: bench condense PATH…",
    "doctor": "Say what is found, what is missing, and what to do",
}
"""Each command with what it does, in a few words."""

_VALUED = ("--profile", "--model", "--base-url", "--resume", "-p", "--prompt", "--output")


def split_command(words: list[str]) -> tuple[str, list[str]]:
    """Return the command, "" for none, and the words without it."""
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word == "--":
            break
        elif word in _VALUED:
            skip = True
        elif not word.startswith("-"):
            if word in COMMANDS:
                return word, words[:place] + words[place + 1 :]
            break
    return "", words


def _entry(text: str) -> int:
    from roo_tui.domain.ids import parse_entry_ref

    try:
        return parse_entry_ref(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


class _Help(argparse.Action):
    """`--help` ends with the exit codes, which are imported only for it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
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
    parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show this and leave")
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    parser.add_argument("--profile", metavar="P", help="the profile of the settings file to use")
    parser.add_argument("--model", metavar="M", help="the model to use in place of the profile's")
    parser.add_argument("--base-url", metavar="U", help="where the provider is reached, in place of the profile's")
    return parser


def main_parser() -> argparse.ArgumentParser:
    """Return the parser of a call that names no command."""
    parser = _parser(
        "roo-tui",
        "A coding agent for the terminal that can stay in one conversation for days.",
        "roo-tui [WORKSPACE] [options]\n       roo-tui COMMAND [options]",
    )
    parser.add_argument("workspace", metavar="WORKSPACE", nargs="?", help="the folder to work in (default: this one)")
    parser.add_argument("--demo", action="store_true", help="a scripted session on a sample project, offline")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--continue", dest="latest", action="store_true", help="go on with the workspace's latest task")
    which.add_argument("--resume", metavar="ID", help="go on with this task (a unique beginning of its id is enough)")
    parser.add_argument("--auto-approve", action="store_true", help="allow every call without asking")
    parser.add_argument("-p", "--prompt", metavar="PROMPT", help="do this without a screen, then leave")
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
            parser.add_argument("path", metavar="PATH", type=Path, help="a JSON list of messages; .gz is unpacked")
            parser.add_argument("--format", choices=("auto", "messages", "roo"), default="auto", help="(default: auto)")
        case "export":
            parser.add_argument("id", metavar="ID")
            parser.add_argument("--view", choices=("effective", "transcript"), default="transcript")
            parser.add_argument("--format", choices=("json", "jsonl", "markdown"), default="markdown")
        case "bench":
            parser.add_argument("what", choices=("condense",), help="what to compare")
            parser.add_argument("paths", metavar="PATH", nargs="+", help="a file of messages, or a task's id")
            parser.add_argument("--ask", action="store_true", help="ask the model (it costs); else the log's outline")
            parser.add_argument("--json", action="store_true", help="print it as JSON")
        case "stats":
            parser.add_argument("--json", action="store_true", help="print a JSON list, one object a reduction")
        case "context":
            parser.add_argument("id", metavar="ID")
            parser.add_argument("--json", action="store_true", help="print it as JSON")
        case "condense":
            parser.add_argument("id", metavar="ID")
            parser.add_argument("--strategy", metavar="S", default="", help="native, smart, lossless, truncation, …")
            presets = ("conservative", "balanced", "aggressive", "custom")
            parser.add_argument("--preset", choices=presets, default="", help="how much smart takes")
            parser.add_argument("--instructions", metavar="T", default="", help="what to mind, for this run")
            parser.add_argument("--dry-run", action="store_true", help="only say what would be done; no model is asked")
            parser.add_argument("--json", action="store_true", help="print what came of it as JSON")
        case "rewind":
            parser.add_argument("id", metavar="ID")
            parser.add_argument("point", metavar="POINT", type=_entry, help="an entry, for example e12")
            parser.add_argument("--files", action="store_true", help="restore the files of that moment too")
        case "undo":
            parser.add_argument("id", metavar="ID")
    return parser
