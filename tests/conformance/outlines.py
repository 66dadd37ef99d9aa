"""Outlines of files: every definition the recorded outline has is in ours; within a limit, whole lines only."""

import asyncio
import re
from posixpath import normpath
from typing import Any

from roo_tui.context.condense.attachments import FoldedFiles, fold
from roo_tui.outline.languages import language_of
from roo_tui.outline.signatures import outline
from roo_tui.prompt_files import render
from tests.conformance.rule import fold_of
from tests.conformance.tagged import Json
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
        found.check(bool(language_of(path)) or not ours, "an outline without a grammar")
        return
    theirs = recorded["definitions"] or ""
    _same_definitions(path, text, theirs, ours, found)
    _rows_are_true(text, ours, found)


def folded(given: Json, recorded: Any, found: Findings) -> None:
    """The same files are outlined in the same order, within the limit, cut between lines."""
    limit = given.get("maxCharacters", _DEFAULT_LIMIT)
    files = {path: given["files"][file] for path in given["filePaths"] if (file := normpath(path)) in given["files"]}
    ours = asyncio.run(fold(given["filePaths"], limit, fold_of(given)))
    _within_limit(ours, limit, found)
    texts = {path: outline(path, files[path]) for path in dict.fromkeys(given["filePaths"]) if path in files}
    wanted = [path for path in texts if texts[path]]
    named = [next((path for path in wanted if _is_of(section, path)), "") for section in ours.sections]
    found.check(named == wanted[: len(named)], f"sections of {named}, wanted are {wanted}")
    for section, path in zip(ours.sections, named, strict=True):
        _is_whole_or_cut_between_lines(section, path, texts[path], section is ours.sections[-1], found)
    if len(named) < len(wanted):
        left = limit - sum(map(len, ours.sections))
        found.check(left < _LEAST_LIMIT or _cut_would_be_empty(left, wanted[len(named)], texts), f"{left} were left")
    missing = [path for path in dict.fromkeys(given["filePaths"]) if path not in files]
    if len(named) == len(wanted):
        found.expect("files that could not be read", len(missing), ours.unreadable)
    theirs = [path for section in recorded["sections"] for path in given["filePaths"] if f": {path}\n" in section]
    if theirs == named and all(_rows(texts[path]) <= _rows(recorded["content"]) for path in named):
        found.better("own-words") if named else None
    elif theirs == named:
        found.better("outlines-by-our-grammars")
    else:
        found.better("outlines-keep-their-limit" if set(theirs) <= set(wanted) else "outlines-by-our-grammars")


def _within_limit(ours: FoldedFiles, limit: int, found: Findings) -> None:
    found.check(sum(map(len, ours.sections)) <= limit, "the limit is exceeded")
    for section in ours.sections:
        found.check(not any("\ud800" <= one <= "\udfff" for one in section), "half of a character")


def _is_whole_or_cut_between_lines(section: str, path: str, text: str, last: bool, found: Findings) -> None:
    whole = render("summary_message/file_outline", path=path, outline=text.rstrip())
    if section == whole:
        return
    found.check(last, f"{path} is cut and not the last")
    lines = section.split("\n")
    at = lines.index(render("summary_message/outline_cut")) if render("summary_message/outline_cut") in lines else -1
    if found.check(at > 0, f"{path} is cut without saying so"):
        found.expect("lines before the cut", whole.split("\n")[:at], lines[:at])


def _cut_would_be_empty(left: int, path: str, texts: dict[str, str]) -> bool:
    head = "\n".join([*texts[path].split("\n")[:2], render("summary_message/outline_cut")])
    return len(render("summary_message/file_outline", path=path, outline=head)) > left


def _same_definitions(path: str, text: str, theirs: str, ours: str, found: Findings) -> None:
    if _rows(theirs) == _rows(ours):
        return
    found.better("outlines-by-our-grammars")
    if not language_of(path) or not parses(path, text):
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


def parses(path: str, text: str) -> bool:
    """Say whether a file is without errors for its grammar; what is defined in one with errors, nobody can say."""
    from tree_sitter_language_pack import get_parser

    return not get_parser(language_of(path)).parse(text.encode(errors="replace")).root_node.has_error  # type: ignore[arg-type]


def _rows(text: str) -> set[tuple[str, str, str]]:
    return set(_ROW.findall(text))


def _is_of(section: str, path: str) -> bool:
    return any(line.endswith(f": {path}") for line in section.split("\n")[:2])
