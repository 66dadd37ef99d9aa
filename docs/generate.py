"""Write the tables of settings, keys, commands, exit codes and prompts into their pages, from the program itself.

A page keeps its prose; a table stands between `<!-- NAME -->` and `<!-- /NAME -->` and is replaced as a whole.
"""

import argparse
import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from roo_tui import arguments, prompt_files, settings
from roo_tui.commands import COMMANDS, Command
from roo_tui.headless.exit_codes import MEANING

ROOT = Path(__file__).parent.parent
PAGES = ("docs/settings.md", "docs/keys.md", "docs/cli.md", "prompts/README.md")
SECTION_TITLES = {
    "profile": "Choosing a profile",
    "context": "Context",
    "approvals": "Approvals",
    "checkpoints": "Checkpoints",
    "hooks": "Hooks",
    "appearance": "Appearance",
    "profiles": "Profiles",
    "models": "Models",
}
PROMPTS = {
    "condense": "asks for the summary of a conversation; tool calls written out as text",
    "condense_staged": "asks for notes on the parts of a history too long for one request, and merges them",
    "environment_details": "what is attached to each user message: time, changed files, running commands, todo list",
    "headless": "answers to approvals and questions when there is no screen",
    "history": "placeholders for hidden messages and missing results",
    "ledger": "the lines of the facts attached to a summary: files, last test command, todo list",
    "outline_summary": "the summary made from the log without a model",
    "receipt": "the lines of what the log knows and the summary does not mention",
    "refusals": "why a path cannot be used, a section for each reason",
    "replies": "results that belong to no single tool: denied, interrupted, invalid, cut",
    "strategies": "placeholders for hidden content, and requests for the summary of one piece",
    "summary_message": "the summary message: its heading, and the blocks attached to it",
    "system": "the system prompt: role, rules, environment, the project's rules",
    "user_message": "what goes with the user's words: commands and mentioned files",
}
"""What the prompts of a file say."""

OF_A_TOOL = "describes the tool and its arguments; its results"

_WIDTH = 100
_SPECIAL_KEYS = {"escape": "Esc"}


def main() -> None:
    """Bring every page up to date."""
    for name in PAGES:
        page = ROOT / name
        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")


def updated(page: str) -> str:
    """Return a page with each of its tables as the program has it now.

    Raises:
        KeyError: the page names a table that does not exist.
    """
    return re.sub(
        r"(<!-- (?P<name>[a-z ]+) -->\n).*?(<!-- /(?P=name) -->)",
        lambda found: f"{found[1]}{TABLES[found['name']]()}\n{found[3]}",
        page,
        flags=re.DOTALL,
    )


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; a `|` in a cell does not end the cell."""
    titles = list(titles)
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def settings_tables() -> str:
    """Return one headed table for each section of the settings file."""
    sections: dict[str, list[settings.Field]] = {}
    for field in settings.fields():
        sections.setdefault(field.key.partition(".")[0], []).append(field)
    titles = ("setting", "default", "valid values", "meaning")
    return "\n\n".join(
        f"## {SECTION_TITLES[section]}\n\n{table(titles, map(_setting_row, fields))}"
        for section, fields in sections.items()
    )


def _setting_row(field: settings.Field) -> list[str]:
    key = field.key.replace("*", "NAME")
    return [f"`{key}`", f"`{_written(field.default)}`", field.valid, field.sentence]


def _written(value: object) -> str:
    """Return a value as the settings file has it."""
    return "not set" if value is None else json.dumps(value)


def keys_table(context: str) -> str:
    """Return the keys and slash commands that work in a context of the command table."""
    rows = ([_keys(command), _slash(command), command.help] for command in COMMANDS if command.context == context)
    return table(("key", "slash command", "what it does"), rows)


def _keys(command: Command) -> str:
    return " ".join(f"`{'+'.join(map(_key_name, key.split('+')))}`" for key in command.keys)


def _key_name(part: str) -> str:
    return _SPECIAL_KEYS.get(part, part.capitalize())


def _slash(command: Command) -> str:
    return f"`/{' '.join(filter(None, (command.slash, command.arguments)))}`" if command.slash else ""


def main_options() -> str:
    """Return the usage and options of a call without a command."""
    return _described(arguments.main_parser(), skip=())


def command_sections() -> str:
    """Return a section for each command: what it does, its usage, and its own options."""
    common = [flag for action in arguments.main_parser()._actions for flag in action.option_strings]
    return "\n\n".join(
        f"### {name}\n\n{_sentence(text)}\n\n{_described(arguments.command_parser(name), skip=common)}"
        for name, text in arguments.COMMANDS.items()
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def _described(parser: argparse.ArgumentParser, *, skip: Iterable[str]) -> str:
    # argparse has no public list of arguments, and its help text differs between Python versions.
    actions = [action for action in parser._actions if not set(action.option_strings) & set(skip)]
    actions.sort(key=lambda action: bool(action.option_strings))
    usage = _wrapped([parser.prog, *map(_in_usage, actions)])
    rows = [[f"`{_flags(action)}`", action.help or ""] for action in actions if action.help]
    parts = [f"```\n{usage}\n```", *([table(("argument", "meaning"), rows)] if rows else [])]
    return "\n\n".join(parts)


def _wrapped(parts: list[str]) -> str:
    """Return the parts of a usage on lines of at most `_WIDTH` characters, no part broken."""
    lines = [parts[0]]
    indent = " " * (len(parts[0]) + 1)
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) > _WIDTH:
            lines.append(indent + part)
        else:
            lines[-1] += f" {part}"
    return "\n".join(lines)


def _in_usage(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"[{action.metavar}]" if action.nargs == "?" else _value(action)
    return f"[{' '.join(filter(None, (action.option_strings[0], _value(action))))}]"


def _flags(action: argparse.Action) -> str:
    return " ".join(filter(None, (", ".join(action.option_strings), _value(action))))


def _value(action: argparse.Action) -> str:
    """Return how an action's value is written, "" for one that takes none."""
    if action.nargs == 0:
        return ""
    name = str(action.metavar or "|".join(action.choices or ()))
    return f"{name}..." if action.nargs == "+" else name


def exit_codes() -> str:
    """Return what each exit code means."""
    return table(("code", "meaning"), ([str(code.value), meaning] for code, meaning in MEANING.items()))


def prompts_table() -> str:
    """Return what each file of prompts says, which modules name one of its prompts, and its placeholders."""
    files: dict[str, set[str]] = {}
    for name in prompt_files.names():
        file = name if (prompt_files.folder() / f"{name}.md").is_file() else name.rpartition("/")[0]
        files.setdefault(file, set()).add(name)
    package = ROOT / "roo_tui"
    modules = {path: list(_prompts_named(path)) for path in sorted(package.rglob("*.py"))}
    rows = []
    for file, prompts in sorted(files.items()):
        named = [
            f"`{path.relative_to(package).as_posix()}`"
            for path, patterns in modules.items()
            if any(re.fullmatch(pattern, prompt) for pattern in patterns for prompt in prompts)
        ]
        values = sorted({value for prompt in prompts for value in prompt_files.placeholders(prompt)})
        says = OF_A_TOOL if file.startswith("tools/") else PROMPTS[file]
        rows.append([f"`{file}.md`", says, ", ".join(named), ", ".join(values) or "–"])
    return table(("File", "What it says", "Rendered by", "Placeholders"), rows)


def _prompts_named(module: Path) -> Iterator[str]:
    """Yield patterns for the strings of a module that may name a prompt; a `{…}` stands for any part of a name."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"\w+(/\w+)+", node.value):
            yield re.escape(node.value)
        elif isinstance(node, ast.JoinedStr) and re.match(r"f.\w+/", ast.unparse(node)):
            parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[^/]+" for part in node.values)
            yield "".join(parts)


TABLES: Mapping[str, Callable[[], str]] = {
    "settings": settings_tables,
    "keys": lambda: keys_table("app"),
    "transcript keys": lambda: keys_table("transcript"),
    "options": main_options,
    "commands": command_sections,
    "exit codes": exit_codes,
    "prompts": prompts_table,
}


if __name__ == "__main__":
    main()
