"""Tool: change parts of a file with SEARCH/REPLACE blocks. All blocks are applied, or none."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from pydantic import BaseModel

from roo_tui.domain.errors import PathRefused
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.access import locate, refusal
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Outcome, ToolContext
from roo_tui.tools.diff_match import MatchedLines, NoMatch, find_match
from roo_tui.tools.editing import carry_out, plan_change
from roo_tui.tools.file_diff import lines_of
from roo_tui.workspace.files import Location
from roo_tui.workspace.text_files import line_ends_of


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """The lines to find and their replacement, without line ends; `start_line` is 1-based, 0 if not given."""

    search: tuple[str, ...]
    replace: tuple[str, ...]
    start_line: int = 0


class MalformedDiff(Exception):
    """The diff cannot be parsed: `line` (1-based) has `found` instead of `expected`."""

    def __init__(self, line: int, found: str, expected: str) -> None:
        super().__init__(f"line {line}: {found} instead of {expected}")
        self.line = line
        self.found = found
        self.expected = expected


_SHOWN_LINES = 60


class ApplyDiffArguments(ToolArguments):
    """The arguments of `apply_diff`."""

    path: str
    diff: str


class ApplyDiff:
    """Finds all blocks in the unchanged file, to which their start lines refer, before it changes anything."""

    name: ClassVar[str] = "apply_diff"
    Arguments: ClassVar[type[BaseModel]] = ApplyDiffArguments

    async def plan(self, arguments: ApplyDiffArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Find the blocks in the file and plan the change."""
        location = await locate(context, arguments.path)
        if isinstance(location, CallFailure):
            return location
        return await asyncio.to_thread(_plan, context, location, well_formed(arguments.diff))

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Write the planned change."""
        return await carry_out(plan, context)


def _plan(context: ToolContext, location: Location, diff: str) -> CallPlan | CallFailure:
    try:
        original = context.workspace.read_for_edit(location)
        if original is None:
            raise PathRefused("missing", location.shown)
        blocks = parse_blocks(diff)
    except PathRefused as error:
        return refusal(error)
    except MalformedDiff as error:
        reply = render("tools/apply_diff/malformed", line=error.line, found=error.found, expected=error.expected)
        return CallFailure(reply, title=location.shown)
    places, problems = find_places(original.text, blocks)
    if problems:
        reply = render("tools/apply_diff/refused", path=location.shown, problems="\n\n".join(problems))
        return CallFailure(reply, title=location.shown)
    text = replace_places(original.text, places)
    report = render("tools/apply_diff/applied", path=location.shown, places=_report(places))
    return plan_change(context, location, original, text, "edit", report)


def find_places(text: str, blocks: Sequence[DiffBlock]) -> tuple[list[MatchedLines], list[str]]:
    """Return the matched lines of the blocks in file order, and the problems of blocks that match no lines."""
    lines = lines_of(text)
    places: list[MatchedLines] = []
    problems: list[str] = []
    for number, block in enumerate(blocks, 1):
        if not any(block.search):
            if lines:
                problems.append(render("tools/apply_diff/search_empty", number=number))
            else:
                places.append(MatchedLines(0, 0, block.replace))
            continue
        found = find_match(lines, block.search, block.replace, block.start_line)
        if isinstance(found, MatchedLines):
            places.append(found)
        else:
            problems.append(_problem(number, found, lines))
    places.sort(key=lambda place: place.start)
    for before, after in pairwise(places):
        if after.start < before.end or after.start == before.start:
            problems.append(render("tools/apply_diff/overlap", first=after.start + 1, last=min(before.end, after.end)))
    return places, problems


def replace_places(text: str, places: Sequence[MatchedLines]) -> str:
    """Return the text with the places (in order, not overlapping) replaced; the rest is unchanged byte for byte.

    New lines get the line ends of the lines they replace, otherwise those of most lines in the file.
    """
    pieces = text.split("\n")
    ends = ["\r\n" if piece.endswith("\r") else "\n" for piece in pieces[:-1]]
    lines = [piece.removesuffix("\r") for piece in pieces[:-1]]
    if pieces[-1]:
        lines.append(pieces[-1])
        ends.append("")
    usual = "\r\n" if line_ends_of(text) != "\n" and ends.count("\r\n") * 2 >= len(ends) else "\n"
    for place in reversed(places):
        old_ends = ends[place.start : place.end]
        inner = old_ends[0] if old_ends and old_ends[0] else usual
        new_ends = [end or inner for end in old_ends[: len(place.replace)]]
        new_ends += [inner] * (len(place.replace) - len(new_ends))
        if new_ends and old_ends and not old_ends[-1]:
            new_ends[-1] = ""
        lines[place.start : place.end] = place.replace
        ends[place.start : place.end] = new_ends
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


def _problem(number: int, found: NoMatch, lines: Sequence[str]) -> str:
    if found.places:
        starts = ", ".join(str(start + 1) for start in found.places[:10])
        return render("tools/apply_diff/ambiguous", number=number, lines=starts)
    if found.closest is None:
        return render("tools/apply_diff/nothing_similar", number=number)
    place = found.closest
    end = min(place.end, len(lines))
    shown = [f"{at + 1} | {lines[at]}" for at in range(place.start, min(end, place.start + _SHOWN_LINES))]
    return render(
        "tools/apply_diff/not_found",
        number=number,
        first=place.start + 1,
        last=end,
        similarity=round(100 * place.similarity),
        text="\n".join(shown),
    )


def _report(places: Sequence[MatchedLines]) -> str:
    """Return one line per place: its line numbers before and after, and how it was found if not exactly."""
    rows: list[str] = []
    shift = 0
    for place in places:
        first = place.start + 1
        new_first, new_last = first + shift, first + shift + len(place.replace) - 1
        shift += len(place.replace) - (place.end - place.start)
        values = {"old": _span(first, place.end), "new": _span(new_first, new_last)}
        if place.how == "exact":
            rows.append(render("tools/apply_diff/place", **values))
        else:
            similarity = round(100 * place.similarity)
            rows.append(render("tools/apply_diff/place_inexact", **values, how=place.how, similarity=similarity))
    return "\n".join(rows)


def _span(first: int, last: int) -> str:
    if last < first:
        return "none"
    return str(first) if first == last else f"{first}–{last}"


_SEARCH = re.compile(r"<{7} ?SEARCH>?\s*\Z")
_DIVIDE = re.compile(r"={7}\s*\Z")
_REPLACE = re.compile(r">{7} ?REPLACE\s*\Z")
_HEADER = re.compile(r":(start|end)_line:\s*(\d+)\s*\Z")
_RULE = re.compile(r"-{7}\s*\Z")
_MARKS = (_SEARCH, _DIVIDE, _REPLACE, _HEADER, _RULE)


def parse_blocks(diff: str) -> list[DiffBlock]:
    """Return the blocks of a diff, at least one. Blank lines and code fences around blocks are ignored.

    Raises:
        MalformedDiff: there is other text around the blocks, or a block is incomplete.
    """
    lines = diff.replace("\r\n", "\n").split("\n")
    blocks: list[DiffBlock] = []
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
    """Return a line of content, escaped if a block would read it as a mark."""
    return "\\" + line if _is_mark(line.lstrip("\\")) else line


def _block(lines: list[str], at: int) -> tuple[DiffBlock, int]:
    start_line = 0
    while at < len(lines) and (header := _HEADER.match(lines[at])):
        if header[1] == "start":
            start_line = int(header[2])
        at += 1
    if at < len(lines) and _RULE.match(lines[at]):
        at += 1
    search, at = _content(lines, at, _DIVIDE, "=======")
    replace, at = _content(lines, at, _REPLACE, ">>>>>>> REPLACE")
    return DiffBlock(search, replace, start_line), at


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
