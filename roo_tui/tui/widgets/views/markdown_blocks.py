"""Split Markdown into blocks, line by line.

The split never looks back, so a streamed text is split exactly like a whole one, and the drawing of a finished block
is final. In a list, each item is a block.
"""

import re
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal

BLOCK_LIMIT = 12_000
"""Characters after which a long block is drawn in parts."""
_FENCE = re.compile(r"^( {0,3})(`{3,}(?=[^`]*$)|~{3,})\s*(\S*)")
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_FIRST_ITEM = re.compile(r"^ {0,3}(?:[-*+]|1[.)])\s+\S")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ ]*){3,}|(?:-[ ]*){3,}|(?:_[ ]*){3,})$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:\s|$)")


@dataclass(slots=True)
class MarkdownBlock:
    """Lines of one block. `gap` says that a blank line goes before it."""

    kind: Literal["flow", "item", "fence"]
    lines: list[str]
    gap: bool
    language: str = ""

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


class Splitter:
    """Splits Markdown into blocks, line by line. `open` is the block that may still grow."""

    def __init__(self) -> None:
        self.open: MarkdownBlock | None = None
        self._blanks = 0
        self._size = 0
        self._mark = ""
        self._indent = 0
        self._inner_fence = ""
        self._first = True

    def feed(self, line: str) -> list[MarkdownBlock]:
        """Take one whole line; return the blocks it ends, oldest first."""
        block = self.open
        if block is not None and block.kind == "fence":
            stripped = line.strip()
            indented = len(line) - len(line.lstrip(" "))
            if indented < 4 and stripped.startswith(self._mark) and not stripped.strip(self._mark[0]):
                return self._close()
            cut = min(self._indent, indented)
            block.lines.append(line[cut:])
            return []
        if not line.strip():
            if block is None or (block.kind == "item" and not self._inner_fence):
                self._blanks += 1
                return []
            if self._inner_fence:
                block.lines.append("")
                return []
            ended = self._close()
            self._blanks = 1
            return ended
        if block is not None and self._goes_on(block, line):
            block.lines += [""] * self._blanks
            self._blanks = 0
            block.lines.append(line)
            self._size += len(line) + 1
            if block.kind == "item":
                self._follow_inner_fence(line)
            return self._close() if self._size > BLOCK_LIMIT and not self._inner_fence else []
        ended = self._close()
        self._begin(line, ended[-1] if ended else None)
        return ended + (self._close() if self._size > BLOCK_LIMIT or self._is_single(line) else [])

    def finish(self) -> list[MarkdownBlock]:
        """Return what is still open as its last block."""
        return self._close()

    def blocks_with(self, line: str) -> list[MarkdownBlock]:
        """Return what is open as it would end after this line, which may be unfinished; nothing is changed."""
        other = copy(self)
        if self.open is not None:
            other.open = replace(self.open, lines=list(self.open.lines))
        return [*(other.feed(line) if line.strip() else ()), *other.finish()]

    def _goes_on(self, block: MarkdownBlock, line: str) -> bool:
        if block.kind == "item":
            if self._inner_fence:
                return True
            indented = len(line) - len(line.lstrip(" ")) >= 2
            if self._blanks:
                return indented
            return indented or not any(begins.match(line) for begins in (_ITEM, _FENCE, _HEADING, _RULE))
        quote = line.lstrip().startswith(">")
        if block.lines[0].lstrip().startswith(">"):
            return quote or not (_FENCE.match(line) or _HEADING.match(line) or _FIRST_ITEM.match(line))
        return not (quote or _FENCE.match(line) or _HEADING.match(line) or _FIRST_ITEM.match(line))

    @staticmethod
    def _is_single(line: str) -> bool:
        return bool(_HEADING.match(line))

    def _begin(self, line: str, before: MarkdownBlock | None) -> None:
        fence = _FENCE.match(line)
        item = None if fence or _RULE.match(line) else _ITEM.match(line)
        after_fence = before is not None and before.kind == "fence"
        gap = not self._first and (self._blanks > 0 or after_fence or bool(fence or _HEADING.match(line)))
        self._first = False
        self._blanks = 0
        self._size = len(line)
        if fence:
            self._indent, self._mark = len(fence[1]), fence[2]
            self.open = MarkdownBlock("fence", [], gap, fence[3].strip("{}.").split(",")[0])
        else:
            self.open = MarkdownBlock("item" if item else "flow", [line], gap)
            if item:
                self._follow_inner_fence(line[item.end() :])

    def _follow_inner_fence(self, line: str) -> None:
        stripped = line.strip()
        if self._inner_fence:
            if stripped.startswith(self._inner_fence) and not stripped.strip(self._inner_fence[0]):
                self._inner_fence = ""
        elif fence := _FENCE.match(stripped):
            self._inner_fence = fence[2]

    def _close(self) -> list[MarkdownBlock]:
        if self.open is None:
            return []
        block, self.open = self.open, None
        self._inner_fence = ""
        self._size = 0
        if block.kind == "fence":
            self._blanks = 1
        return [block]


def split(text: str) -> list[MarkdownBlock]:
    """Return the blocks of a whole text."""
    splitter = Splitter()
    blocks = [block for line in text.split("\n") for block in splitter.feed(line)]
    return blocks + splitter.finish()
