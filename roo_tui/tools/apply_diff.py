"""Tool: change parts of a file with SEARCH/REPLACE blocks. All blocks are applied, or none."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from pydantic import BaseModel

from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.access import locate, refusal
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import Failure, Outcome, Plan, ToolContext
from roo_tui.tools.diff_blocks import Block, MalformedDiff, parse_blocks
from roo_tui.tools.diff_match import NoPlace, Place, find_place
from roo_tui.tools.editing import carry_out, plan_change
from roo_tui.tools.file_diff import lines_of
from roo_tui.workspace.files import Location, Refused
from roo_tui.workspace.text_files import line_ends_of

_SHOWN_LINES = 60


class ApplyDiffArguments(ToolArguments):
    path: str
    diff: str


class ApplyDiff:
    """Finds every block in the file as it is (start lines count there) before anything is changed."""

    name: ClassVar[str] = "apply_diff"
    Arguments: ClassVar[type[BaseModel]] = ApplyDiffArguments

    async def plan(self, arguments: ApplyDiffArguments, context: ToolContext) -> Plan | Failure:
        location = await locate(context, arguments.path)
        if isinstance(location, Failure):
            return location
        return await asyncio.to_thread(_plan, context, location, well_formed(arguments.diff))

    async def run(self, plan: Plan, context: ToolContext) -> Outcome:
        return await carry_out(plan, context)


def _plan(context: ToolContext, location: Location, diff: str) -> Plan | Failure:
    try:
        original = context.workspace.read_for_edit(location)
        if original is None:
            raise Refused("missing", location.shown)
        blocks = parse_blocks(diff)
    except Refused as error:
        return refusal(error)
    except MalformedDiff as error:
        words = render("tools/apply_diff/malformed", line=error.line, found=error.found, expected=error.expected)
        return Failure(words, title=location.shown)
    places, problems = find_places(original.text, blocks)
    if problems:
        words = render("tools/apply_diff/refused", path=location.shown, problems="\n\n".join(problems))
        return Failure(words, title=location.shown)
    text = replace_places(original.text, places)
    report = render("tools/apply_diff/applied", path=location.shown, places=_report(places))
    return plan_change(context, location, original, text, "edit", report)


def find_places(text: str, blocks: Sequence[Block]) -> tuple[list[Place], list[str]]:
    """Return the place of each block in file order, and what is wrong with the blocks that have none."""
    lines = lines_of(text)
    places: list[Place] = []
    problems: list[str] = []
    for number, block in enumerate(blocks, 1):
        if not any(block.search):
            if lines:
                problems.append(render("tools/apply_diff/search_empty", number=number))
            else:
                places.append(Place(0, 0, block.replace))
            continue
        found = find_place(lines, block.search, block.replace, block.start_line)
        if isinstance(found, Place):
            places.append(found)
        else:
            problems.append(_problem(number, found, lines))
    places.sort(key=lambda place: place.start)
    for before, after in pairwise(places):
        if after.start < before.end or after.start == before.start:
            problems.append(render("tools/apply_diff/overlap", first=after.start + 1, last=min(before.end, after.end)))
    return places, problems


def replace_places(text: str, places: Sequence[Place]) -> str:
    """Return the text with the places (in order, not overlapping) replaced; everything else stays byte for byte.

    New lines end as the lines they replace, or as most of the file.
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


def _problem(number: int, found: NoPlace, lines: Sequence[str]) -> str:
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


def _report(places: Sequence[Place]) -> str:
    """Return a line for each place: its lines before and after, and how it was found if not exactly."""
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
