r"""Reading SEARCH/REPLACE blocks, in Roo Code's form:

    <<<<<<< SEARCH
    :start_line:10        (optional; the line the search text starts at)
    -------               (optional without a start line)
    text to find
    =======
    text to put there
    >>>>>>> REPLACE

A line of content that looks like one of these marks has a backslash before it (`\=======`).
"""

import re
from dataclasses import dataclass

_SEARCH = re.compile(r"<{7} ?SEARCH>?\s*\Z")
_DIVIDE = re.compile(r"={7}\s*\Z")
_REPLACE = re.compile(r">{7} ?REPLACE\s*\Z")
_HEADER = re.compile(r":(start|end)_line:\s*(\d+)\s*\Z")
_RULE = re.compile(r"-{7}\s*\Z")
_MARKS = (_SEARCH, _DIVIDE, _REPLACE, _HEADER, _RULE)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines to find and lines to put there, without their ends; `start_line` is 1-based, 0 where not given."""

    search: tuple[str, ...]
    replace: tuple[str, ...]
    start_line: int = 0


class MalformedDiff(Exception):
    """The diff cannot be read at `line` (1-based): `found` stands there instead of `expected`."""

    def __init__(self, line: int, found: str, expected: str) -> None:
        super().__init__(f"line {line}: {found} instead of {expected}")
        self.line = line
        self.found = found
        self.expected = expected


def parse_blocks(diff: str) -> list[Block]:
    """Return the blocks of a diff, at least one. Blank lines and code fences around blocks are passed over.

    Raises:
        MalformedDiff: something else stands around the blocks, or a block is not complete.
    """
    lines = diff.replace("\r\n", "\n").split("\n")
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if _SEARCH.match(line):
            block, at = _block(lines, at + 1)
            blocks.append(block)
        elif not line.strip() or line.startswith("```"):
            at += 1
        else:
            raise _unexpected(lines, at, "<<<<<<< SEARCH")
    if not blocks:
        raise _unexpected(lines, len(lines), "<<<<<<< SEARCH")
    return blocks


def escape(line: str) -> str:
    """Return a line of content as it must be written in a block."""
    return "\\" + line if _is_mark(line.lstrip("\\")) else line


def _block(lines: list[str], at: int) -> tuple[Block, int]:
    start_line = 0
    while at < len(lines) and (header := _HEADER.match(lines[at])):
        if header[1] == "start":
            start_line = int(header[2])
        at += 1
    if at < len(lines) and _RULE.match(lines[at]):
        at += 1
    search, at = _content(lines, at, _DIVIDE, "=======")
    replace, at = _content(lines, at, _REPLACE, ">>>>>>> REPLACE")
    return Block(search, replace, start_line), at


def _content(lines: list[str], at: int, end: re.Pattern[str], expected: str) -> tuple[tuple[str, ...], int]:
    content: list[str] = []
    while at < len(lines):
        line = lines[at]
        if end.match(line):
            return tuple(content), at + 1
        if any(mark.match(line) for mark in (_SEARCH, _DIVIDE, _REPLACE)):
            break
        content.append(line[1:] if line.startswith("\\") and _is_mark(line.lstrip("\\")) else line)
        at += 1
    raise _unexpected(lines, at, expected)


def _is_mark(line: str) -> bool:
    return any(mark.match(line) for mark in _MARKS)


def _unexpected(lines: list[str], at: int, expected: str) -> MalformedDiff:
    found = f"“{lines[at][:80]}”" if at < len(lines) else "the end"
    return MalformedDiff(min(at, len(lines) - 1) + 1, found, expected)
