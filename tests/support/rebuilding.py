"""Write masked content out again from what the model sees alone: the effective history and the words in it.

It shares no code with the strategies; it knows their placeholders by their words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roo_tui.context.history.effective import Visible
from roo_tui.domain.blocks import Text, ToolResult, ToolUse, result_text
from roo_tui.prompt_files import render

Key = tuple[int, int, str]
"""Entry, block, and the field of an input (empty for texts and results)."""

_PLACE = r"(?P<place>e[0-9]+[^ ]*?)"
_NUMBER = re.compile(r"[ \t]*[0-9]+(?: \| ?|→|\t|:)")


def _pattern(name: str, **values: str) -> str:
    marks = {key: f"\0{at}\0" for at, key in enumerate(values)}
    text = re.escape(render(f"strategies/{name}", **marks))
    for key, mark in marks.items():
        text = text.replace(re.escape(mark), values[key])
    return text


_COUNT, _FIRST = r"(?P<count>[0-9]+)", r"(?P<first>[0-9]+)"
_SAME = re.compile(_pattern("same_content", place=_PLACE))
_LINES = re.compile(_pattern("same_lines", count=_COUNT, place=_PLACE, first=_FIRST))
_BARE = re.compile(_pattern("same_lines_bare", count=_COUNT, place=_PLACE, first=_FIRST))
_NUMBERED = re.compile(
    _pattern("same_lines_numbered", count=_COUNT, place=_PLACE, first=_FIRST, number="(?P<number>[^”]*)"), re.DOTALL
)
_ANY = re.compile("|".join(re.sub(r"\?P<\w+>", "?:", pattern.pattern) for pattern in (_SAME, _NUMBERED, _BARE, _LINES)))


def points(placeholder: str) -> bool:
    """Say whether a placeholder points to its content."""
    return bool(_ANY.fullmatch(placeholder))


class Rebuilt:
    """The strings of an effective history with every placeholder that can be written out again written out."""

    def __init__(self, visible: Sequence[Visible]) -> None:
        self._strings: dict[Key, str] = {}
        for message in visible:
            if message.source == "entry":
                for index, block in enumerate(message.blocks):
                    for field, text in _strings(block):
                        self._strings[message.entry_id, index, field] = text
        self._known: dict[Key, str] = {}

    def placeholders(self, key: Key) -> list[str]:
        """Return the placeholders of a string that point to their content, in order."""
        return [found[0] for found in _ANY.finditer(self._strings[key])]

    def contents(self, key: Key) -> list[str]:
        """Return what those placeholders stand for, in the same order.

        Raises:
            LookupError: one names something that is not there.
        """
        self.text(key)
        return [self._content(key, placeholder) for placeholder in self.placeholders(key)]

    def text(self, key: Key) -> str:
        """Return a string as it was.

        Raises:
            LookupError: a placeholder names something that is not there.
        """
        if key not in self._known:
            self._write(key)
        return self._known[key]

    def _write(self, key: Key) -> None:
        text, at, written = self._strings[key], 0, ""
        for found in _ANY.finditer(text):
            written += text[at : found.start()]
            # A text may point to its own beginning, which is written already.
            self._known[key] = written
            written += self._content(key, found[0])
            at = found.end()
        self._known[key] = written + text[at:]

    def _content(self, key: Key, placeholder: str) -> str:
        if found := _SAME.fullmatch(placeholder):
            return self.text(self._named(key, found["place"]))
        for pattern in (_NUMBERED, _BARE, _LINES):
            if found := pattern.fullmatch(placeholder):
                there = self._named(key, found["place"])
                lines = (self._known[key] if there == key else self.text(there)).split("\n")
                first, count = int(found["first"]) - 1, int(found["count"])
                taken = lines[first : first + count]
                if len(taken) < count:
                    raise LookupError(f"{placeholder}: {there} has only {len(lines)} lines")
                if pattern is not _LINES:
                    taken = [_NUMBER.sub("", line, count=1) if _NUMBER.match(line) else line for line in taken]
                if pattern is _NUMBERED:
                    taken = list(_numbered(taken, found["number"]))
                return "\n".join(taken)
        raise LookupError(placeholder)

    def _named(self, at: Key, name: str) -> Key:
        found = re.fullmatch(r"e([0-9]+)(?:\.([0-9]+)(?:\.(.+)|(/.+))?)?", name)
        if found is None:
            raise LookupError(name)
        entry, block, field = int(found[1]), found[2], found[3] or found[4] or ""
        if block is not None:
            return self._there((entry, int(block), field), name)
        keys = [key for key in self._strings if key[0] == entry]
        if len(keys) != 1:
            raise LookupError(f"{name} names {len(keys)} strings")
        return keys[0]

    def _there(self, key: Key, name: str) -> Key:
        if key not in self._strings:
            raise LookupError(f"nothing is at {name}")
        return key


def _numbered(lines: Sequence[str], first: str) -> Iterator[str]:
    found = re.fullmatch(r"( *)([0-9]+)(.*)", first, re.DOTALL)
    if found is None:
        raise LookupError(f"“{first}” is no line number")
    width = len(found[1] + found[2])
    for number, line in enumerate(lines, int(found[2])):
        yield str(number).rjust(width) + found[3] + line


def _strings(block: Any) -> Iterator[tuple[str, str]]:
    match block:
        case Text():
            if block.text:
                yield "", block.text
        case ToolResult():
            if text := result_text(block):
                yield "", text
        case ToolUse():
            for name, value in block.input.items():
                if isinstance(value, str):
                    if value:
                        yield name, value
                else:
                    yield from _deeper(value, "/" + name.replace("~", "~0").replace("/", "~1"))


def _deeper(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if value:
            yield at, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _deeper(item, f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _deeper(item, f"{at}/{index}")
