"""Outlines of files: every definition the recorded outline has is in ours; within a limit, whole lines only."""

import asyncio
import re
from typing import Any

from roo_tui.context.condense.file_outlines import FileOutlines, fold
from roo_tui.outline.signatures import outline
from tests.conformance import words
from tests.conformance.folding import grammar_of, may_be_outlined, must_be_outlined, parses, text_of_file
from tests.conformance.histories import Json
from tests.conformance.rule import fold_of
from tests.conformance.verdict import Findings

_DEFAULT_LIMIT = 50_000
_LEAST_LIMIT = 200
_ROW = re.compile(r"^(\d+)--(\d+) \| (.*)$", re.MULTILINE)
_MODIFIERS = r"(?:(?:export|default|public|private|protected|static|abstract|final|async|pub|sealed|open|local) +)*"
_KEYWORDS = "class|def|func|fn|function|struct|enum|interface|trait|impl|module|namespace|object|contract|defmodule|fun"
_DEFINITION = re.compile(rf"^\s*{_MODIFIERS}(?:{_KEYWORDS})\s+[\w(]")


def parse(given: Json, recorded: Any, found: Findings) -> None:
    """Each definition of the recorded outline has a row of ours; an unsupported type gives none, not an error."""
    path, text = given["path"], given["content"]
    ours = outline(path, text)
    if "raises" in recorded:
        found.better("outlines-by-our-grammars")
        found.check(bool(grammar_of(path)) or not ours, "an outline without a grammar")
        return
    theirs = recorded["definitions"] or ""
    _same_definitions(path, text, theirs, ours, found)
    _rows_are_true(text, ours, found)


def folded(given: Json, recorded: Any, found: Findings) -> None:
    """The same files are outlined in the same order, within the limit, cut between lines."""
    limit = given.get("maxCharacters", _DEFAULT_LIMIT)
    paths = list(dict.fromkeys(given["filePaths"]))
    files = {path: text for path in paths if (text := text_of_file(given, path)) is not None}
    ours = asyncio.run(fold(given["filePaths"], limit, fold_of(given)))
    _within_limit(ours, limit, found)
    named = [next((path for path in files if words.is_section_of(section, path)), "") for section in ours.sections]
    possible = [path for path in files if may_be_outlined(path, files[path])]
    found.check(named == [path for path in possible if path in named], f"sections of {named}, possible are {possible}")
    texts = {path: outline(path, text) for path, text in files.items()}
    for section, path in zip(ours.sections, named, strict=True):
        _is_whole_or_cut_between_lines(section, path, texts[path], section is ours.sections[-1], found)
    left_out = [path for path in files if must_be_outlined(path, files[path]) and path not in named]
    if left_out:
        left = limit - sum(map(len, ours.sections))
        found.check(left < _LEAST_LIMIT or _cut_would_be_empty(left, left_out[0], texts), f"{left} were left")
        last = max((possible.index(path) for path in named), default=-1)
        found.check(possible.index(left_out[0]) > last, f"{left_out[0]} is passed over")
    else:
        found.expect("files that could not be read", len(paths) - len(files), ours.unreadable)
    theirs = [path for section in recorded["sections"] for path in given["filePaths"] if f": {path}\n" in section]
    if theirs == named and all(_rows(texts[path]) <= _rows(recorded["content"]) for path in named):
        found.better("own-words") if named else None
    elif theirs == named:
        found.better("outlines-by-our-grammars")
    else:
        found.better("outlines-keep-their-limit" if set(theirs) <= set(possible) else "outlines-by-our-grammars")


def _within_limit(ours: FileOutlines, limit: int, found: Findings) -> None:
    found.check(sum(map(len, ours.sections)) <= limit, "the limit is exceeded")
    for section in ours.sections:
        found.check(not any("\ud800" <= one <= "\udfff" for one in section), "half of a character")


def _is_whole_or_cut_between_lines(section: str, path: str, text: str, last: bool, found: Findings) -> None:
    whole = words.section(path, text.rstrip())
    if section == whole:
        return
    found.check(last, f"{path} is cut and not the last")
    lines = section.split("\n")
    at = lines.index(words.cut_line()) if words.cut_line() in lines else -1
    if found.check(at > 0, f"{path} is cut without saying so"):
        found.expect("lines before the cut", whole.split("\n")[:at], lines[:at])


def _cut_would_be_empty(left: int, path: str, texts: dict[str, str]) -> bool:
    head = "\n".join([*texts[path].split("\n")[:2], words.cut_line()])
    return len(words.section(path, head)) > left


def _same_definitions(path: str, text: str, theirs: str, ours: str, found: Findings) -> None:
    if _rows(theirs) == _rows(ours):
        return
    found.better("outlines-by-our-grammars")
    if not grammar_of(path) or not parses(path, text):
        return
    starts = {first for first, _, _ in _rows(ours)}
    shown = {line for _, _, line in _rows(ours)}
    lines = text.split("\n")
    for first, last, line in _rows(theirs):
        true = lines[int(first) - 1].rstrip() == line.rstrip() and _DEFINITION.match(line)
        if true and int(last) - int(first) >= 3:
            found.check(first in starts or line.rstrip() in shown, f"no row for {first}--{last} | {line}")


def _rows_are_true(text: str, ours: str, found: Findings) -> None:
    """Each row of ours shows a line of its own range, and ranges have at least four lines of the file."""
    lines = text.replace("\r\n", "\n").split("\n")
    for first, last, line in _rows(ours):
        inside = [one.rstrip() for one in lines[int(first) - 1 : int(last)]]
        cut = line.removesuffix("…")
        found.check(len(inside) >= 4 and any(one.startswith(cut) for one in inside), f"{first}--{last} | {line}")


def _rows(text: str) -> set[tuple[str, str, str]]:
    return set(_ROW.findall(text))
