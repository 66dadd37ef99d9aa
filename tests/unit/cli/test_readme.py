"""The README's tables say what the program says; `python -m tests.unit.cli.test_readme` writes them anew."""

import json
import re
from pathlib import Path

import pytest

from roo_tui import settings
from roo_tui.commands import COMMANDS, Command
from roo_tui.headless.exit_codes import MEANING
from roo_tui.tui.bindings import key_name

README = Path(__file__).parents[3] / "README.md"


def keys_table(context: str) -> str:
    rows = [row(command) for command in COMMANDS if command.context == context]
    return "\n".join(["| key | slash | what it does |", "|---|---|---|", *rows])


def row(command: Command) -> str:
    keys = " ".join(f"`{key_name(key)}`" for key in command.keys)
    slash = f"`/{' '.join(filter(None, (command.slash, command.arguments)))}`" if command.slash else ""
    return f"| {keys} | {slash} | {command.help} |"


def settings_table() -> str:
    lines = ["| setting | default | valid | meaning |", "|---|---|---|---|"]
    for field in settings.fields():
        key = field.key.replace("*", "NAME")
        lines.append(f"| `{key}` | `{written(field.default)}` | {field.valid} | {field.sentence} |")
    return "\n".join(lines)


def written(value: object) -> str:
    if value is None:
        return "unset"
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)


TABLES = {
    "keys": keys_table("app"),
    "transcript keys": keys_table("transcript"),
    "exit codes": "\n".join(f"| {code.value} | {meaning} |" for code, meaning in MEANING.items()),
    "settings": settings_table(),
}


def replaced(text: str, name: str) -> str:
    return re.sub(
        rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda found: found[1] + TABLES[name] + "\n" + found[2], text,
        flags=re.DOTALL,
    )  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_the_readmes_table_is_what_the_program_says(name: str) -> None:
    text = README.read_text(encoding="utf-8")
    assert f"<!-- {name} -->" in text
    assert replaced(text, name) == text


if __name__ == "__main__":
    new = README.read_text(encoding="utf-8")
    for table in TABLES:
        new = replaced(new, table)
    README.write_text(new, encoding="utf-8")
