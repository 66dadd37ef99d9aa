"""Every text a user reads stands in the table of strings, and the table holds no text that nobody shows."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import roo_tui.tui
from roo_tui.commands import COMMANDS
from roo_tui.tui import strings

FOLDER = Path(roo_tui.tui.__file__).parent
MODULES = [path for path in sorted(FOLDER.rglob("*.py")) if path.name != "strings.py"]
# Two words, or one with a capital letter: what is neither is a name, an action, a style or a key.
READ_BY_USERS = re.compile(r"[A-Za-z’']{2,},? +[A-Za-z]{2,}|^[A-Z][a-z]+[….!?]?$")
STYLES = {"bold", "dim", "italic", "underline", "strike", "reverse", "none", "on"}
# Literals that the pattern takes for sentences and nobody reads.
NOT_SHOWN = {
    "engine calls": "a group of workers",
    "warm up": "a group of workers",
    "terminal watch": "the name of a thread",
    "Select": "a widget",
    **dict.fromkeys(("Comment", "Keyword", "Operator", "Punctuation", "Token."), "kinds of tokens in code"),
}


# What goes to the log or selects a widget is not read by users either.
NOT_READ_CALLS = re.compile(r"^log\.|^TypeVar$|\bquery(_one)?$|\.split$")


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the literals of a module, but for docstrings, stylesheets, annotations and what goes to the log."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id.endswith("CSS") for target in node.targets
        ):
            left_out.update(map(id, ast.walk(node.value)))
        elif isinstance(node, ast.Call) and NOT_READ_CALLS.search(ast.unparse(node.func)):
            left_out.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            left_out.update(map(id, ast.walk(node.annotation)))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            left_out.update(map(id, ast.walk(node.returns)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.lineno, node.value


def is_read(text: str) -> bool:
    words = set(re.sub(r"\$[\w-]+|\d+%", "", text).split())
    return bool(READ_BY_USERS.search(text)) and not words <= STYLES and text not in NOT_SHOWN


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_text_stands_outside_the_table(path: Path) -> None:
    assert [(line, text) for line, text in literals(path) if is_read(text)] == []


def test_what_looks_like_a_text_is_found() -> None:
    assert is_read("Nothing was changed.") and is_read("Quit") and is_read("press again")
    assert not is_read("bold $text-primary") and not is_read("roo-dark") and not is_read("run_command")


NAMES = [name for name in vars(strings) if name.isupper()]
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)


@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_shown_somewhere(name: str) -> None:
    assert re.search(rf"strings\.{name}\b", SOURCES)


def test_every_notice_of_a_command_is_shown_and_every_one_that_is_shown_says_something() -> None:
    shown = set(re.findall(r'notice_of\("(\w+)"\)', SOURCES))
    assert shown == {command.id for command in COMMANDS if command.notice}


def texts() -> Iterator[str]:
    for name in NAMES:
        value = getattr(strings, name)
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        for part in parts:
            yield from part if isinstance(part, tuple) else (part,)
    yield from (command.notice for command in COMMANDS)


def test_keys_are_written_alike() -> None:
    for text in texts():
        assert not re.search(r"\b(esc|enter|tab|ctrl|shift|escape|return)\b|\^[a-z]\b|⏎|⇧", text), text


def test_the_table_speaks_of_you_and_uses_the_words_of_the_project() -> None:
    for text in texts():
        assert not re.search(r"\b(person|somebody|whoever|snapshot|compress|compact|truncation)\b", text), text
