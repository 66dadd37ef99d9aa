"""Which files can be outlined, told from their names and lines: by our own list of languages, not the product's."""

import re
from collections.abc import Iterator, Sequence
from posixpath import normpath
from typing import Any

from tests.conformance.histories import Json

GRAMMARS = {
    "py": "python", "pyi": "python", "pyw": "python",
    "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
    "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "go": "go", "rs": "rust", "java": "java", "c": "c",
    "cpp": "cpp", "cc": "cpp", "cxx": "cpp", "h": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp",
    "cs": "csharp", "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "php": "php",
    "kt": "kotlin", "kts": "kotlin", "swift": "swift", "scala": "scala", "sc": "scala",
    "lua": "lua", "sh": "bash", "bash": "bash", "html": "html", "htm": "html", "css": "css",
    "md": "markdown", "markdown": "markdown", "toml": "toml", "ex": "elixir", "exs": "elixir",
    "zig": "zig", "sol": "solidity", "ml": "ocaml",
}  # fmt: skip
_FEWEST_LINES = 4
_MARKUP = {
    "markdown": re.compile(r"#{1,6} \S"),
    "toml": re.compile(r"\[+[\w.\"-]+\]+\s*$"),
    "css": re.compile(r"[.#\w][^{}]*\{\s*$"),
    "html": re.compile(r"<[a-z]\w*[^/]*>\s*$"),
}
_BEGINS = re.compile(
    r"(?:(?:static|export|default|declare|pub|public|async|abstract|final|sealed|open|data|local) )*"
    r"(?:(?:class|def|func|fun|fn|function|struct|enum|union|interface|trait|impl|contract|defmodule|object|namespace|module)\b"
    r"|type \w+ |int \w+\()"
)


def grammar_of(path: str) -> str:
    """Return the grammar of a file by the end of its name, empty where none of ours reads it."""
    name = path.rpartition("/")[2]
    return GRAMMARS.get(name.rpartition(".")[2].lower(), "") if "." in name.removeprefix(".") else ""


def text_of_file(given: Json, path: str) -> str | None:
    """Return the text of a case's file, None where it is missing."""
    text = (given.get("files") or {}).get(normpath(path))
    return None if text is None else str(text)


def may_be_outlined(path: str, text: str) -> bool:
    """Say whether a file's language is read at all, and the file has room for a definition that is worth a row."""
    return bool(grammar_of(path)) and len(text.strip().split("\n")) >= _FEWEST_LINES


def must_be_outlined(path: str, text: str) -> bool:
    """Say whether a file has a definition of four lines at its left margin, in a language that is read."""
    if not may_be_outlined(path, text) or not parses(path, text):
        return False
    lines = text.replace("\r\n", "\n").split("\n")
    return any(last - first + 1 >= _FEWEST_LINES for first, last in definitions(path, lines))


def parses(path: str, text: str) -> bool:
    """Say whether a file is without errors for its grammar; what is defined in one with errors, nobody can say."""
    from tree_sitter_language_pack import get_parser

    grammar: Any = grammar_of(path)
    if grammar == "php" and "<?" not in text:
        return False
    return not get_parser(grammar).parse(text.encode(errors="replace")).root_node.has_error


def definitions(path: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield first and last line (from 0) of what begins at the left margin: functions, types, headings, rules."""
    markup = _MARKUP.get(grammar_of(path))
    for at, line in enumerate(lines):
        if markup is not None and markup.match(line):
            yield at, _end_of_section(lines, at, grammar_of(path))
        elif markup is None and _BEGINS.match(line):
            yield at, _end_of_block(lines, at)


def _end_of_section(lines: Sequence[str], first: int, grammar: str) -> int:
    if grammar == "css":
        return next((at for at in range(first, len(lines)) if lines[at].startswith("}")), first)
    if grammar == "html":
        tag = re.split(r"[\s>]", lines[first][1:])[0]
        return next((at for at in range(first, len(lines)) if lines[at].startswith(f"</{tag}>")), first)
    following = (at for at in range(first + 1, len(lines)) if _MARKUP[grammar].match(lines[at]))
    return _last_line(lines, next(following, len(lines)))


def _end_of_block(lines: Sequence[str], first: int) -> int:
    body = first + 1
    while body < len(lines) and lines[body].startswith("{"):
        body += 1
    for at in range(body, len(lines)):
        if lines[at].startswith(("}", "end")):
            return at
        if lines[at].strip() and not lines[at][0].isspace():
            return _last_line(lines, at)
    return _last_line(lines, len(lines))


def _last_line(lines: Sequence[str], end: int) -> int:
    """Return the last line before `end` that is not blank."""
    return max((number for number in range(end) if lines[number].strip()), default=0)
