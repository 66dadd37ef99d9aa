"""Find the definitions in a source file. This is CPU work that holds the interpreter lock: see `outliner`."""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from roo_tui.outline.languages import language_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query
    from tree_sitter_language_pack import SupportedLanguage

LARGEST_CHARACTERS = 1_000_000
_FEWEST_LINES = 4
_LONGEST_LINE = 200


def outline(path: str, text: str) -> str:
    """Return what a file defines: `# name`, then `start--end | line` for each definition, a newline after every line.

    Line numbers are 1-based and inclusive; the line shown is the one with the definition's name, below any annotations.
    Only definitions of at least 4 lines are listed, by their start, each range once. The outline is empty if there is
    no grammar for the file, it has no such definitions, or it is longer than `LARGEST_CHARACTERS`.

    Source: Roo Code's folded file context.
    """
    language = language_of(path)
    if not language or len(text) > LARGEST_CHARACTERS:
        return ""
    lines = text.replace("\r\n", "\n").split("\n")
    parser, query = _grammar(language)
    found: dict[tuple[int, int], int] = {}
    for first, last, shown in _definitions(parser, query, lines):
        if last - first + 1 >= _FEWEST_LINES:
            found.setdefault((first, last), shown)
    rows = [f"{first + 1}--{last + 1} | {_shown(lines[row])}\n" for (first, last), row in sorted(found.items())]
    return f"# {PurePosixPath(path.replace(chr(92), '/')).name}\n{''.join(rows)}" if rows else ""


@cache
def _grammar(language: "SupportedLanguage") -> "tuple[Parser, Query]":
    from tree_sitter import Query
    from tree_sitter_language_pack import get_language, get_parser

    query = resources.files("roo_tui.outline").joinpath("queries", f"{language}.scm").read_text("utf-8")
    return get_parser(language), Query(get_language(language), query)


def _definitions(parser: "Parser", query: "Query", lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the first, last and shown row (0-based) of each definition, and of each heading up to the next."""
    from tree_sitter import QueryCursor

    source = "\n".join(lines).encode(errors="replace")
    headings = []
    for _, captures in QueryCursor(query).matches(parser.parse(source).root_node):
        for node in captures.get("definition", ()):
            yield node.start_point[0], _last_row(node), _name_row(node)
        headings += [node.start_point[0] for node in captures.get("heading", ())]
    headings.sort()
    after_last = len("\n".join(lines).rstrip("\n").split("\n"))
    for first, following in zip(headings, [*headings[1:], after_last], strict=False):
        yield first, following - 1, first


def _last_row(node: "Node") -> int:
    """Return the last row of a node; one that ends at the start of a row does not include that row."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _name_row(node: "Node") -> int:
    # A C typedef has its name after its body.
    fields = () if node.type == "type_definition" else ("name", "declarator")
    named = (node.child_by_field_name(field) for field in fields)
    return next((child.start_point[0] for child in named if child is not None), node.start_point[0])


def _shown(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…"
