"""Tool: read the text of a file with line numbers, or an image."""

import asyncio
from typing import ClassVar

from pydantic import BaseModel, Field

from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import CallFacts
from roo_tui.domain.errors import PathRefused
from roo_tui.domain.views import FileView, TextView
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.access import locate, outside_concerns, refusal, refused_outcome
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext
from roo_tui.tools.images import FittedImage, ImageRefused, fitted_image
from roo_tui.workspace import text_files
from roo_tui.workspace.files import Location
from roo_tui.workspace.text_files import TextFile

MAX_LINES = 2_000
MAX_CHARACTERS = 80_000
MAX_LINE = 2_000


class ReadFileArguments(ToolArguments):
    """The arguments of `read_file`; line numbers are 1-based, the last line inclusive."""

    path: str
    first_line: int = Field(default=1, ge=1)
    last_line: int | None = Field(default=None, ge=1)


class ReadFile:
    """Reads a range of lines, at most 2,000 lines or 80,000 characters per call."""

    name: ClassVar[str] = "read_file"
    Arguments: ClassVar[type[BaseModel]] = ReadFileArguments

    async def plan(self, arguments: ReadFileArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Plan to read the file."""
        location = await locate(context, arguments.path)
        if isinstance(location, CallFailure):
            return location
        if not await asyncio.to_thread(location.path.exists):
            return refusal(PathRefused("missing", location.shown))
        title = location.shown
        if arguments.last_line is not None:
            title += f":{arguments.first_line}-{arguments.last_line}"
        elif arguments.first_line > 1:
            title += f":{arguments.first_line}-"
        return CallPlan(title, Effect.READ, concerns=outside_concerns(location), state=(location, arguments))

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Read the file."""
        location, arguments = plan.state
        try:
            return await asyncio.to_thread(_read, context, location, arguments)
        except PathRefused as error:
            return refused_outcome(error)


def _read(context: ToolContext, location: Location, arguments: ReadFileArguments) -> Outcome:
    data, mode = context.workspace.read_bytes(location)
    try:
        fitted = fitted_image(data)
    except ImageRefused as error:
        raise PathRefused("bad_image", location.shown, str(error)) from error
    if fitted is not None:
        return _image(location, fitted)
    if text_files.is_binary(data):
        raise PathRefused("binary", location.shown, f"{len(data):,} bytes")
    file = text_files.decode(data, mode)
    context.workspace.recent.note(location.path, location.shown, file.digest)
    return _lines(location, file, arguments)


def _image(location: Location, fitted: FittedImage) -> Outcome:
    reply = render("tools/read_file/image", path=location.shown, type=fitted.media_type)
    image = fitted.image
    detail = before = f"{fitted.width}×{fitted.height}"
    remarks = []
    if fitted.frames > 1:
        detail += f", first of {fitted.frames} frames"
        remarks.append(render("tools/read_file/image_first_frame", count=fitted.frames))
    if fitted.is_scaled:
        after = f"{image.width}×{image.height}"
        detail += f", scaled to {after}"
        remarks.append(render("tools/read_file/image_scaled", before=before, after=after))
    elif fitted.is_converted and fitted.frames == 1:
        detail += ", converted"
        remarks.append(render("tools/read_file/image_converted", type=image.media_type))
    reply = "\n".join((reply, *remarks))
    facts = CallFacts("read", location.shown, full_content=not remarks)
    return Outcome((Text(reply), image), TextView(reply), facts, detail=detail)


def _lines(location: Location, file: TextFile, arguments: ReadFileArguments) -> Outcome:
    lines = file.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    count, first = len(lines), arguments.first_line
    remarks = [] if file.editable else [render("tools/read_file/not_utf8", encoding=file.encoding)]
    if not lines:
        reply = render("tools/read_file/empty", path=location.shown)
        facts = CallFacts("read", location.shown, full_content=True, digest=file.digest)
        return Outcome(reply, FileView(location.shown, "", 1, 0), facts, detail="empty")
    if first > count:
        reply = render("tools/read_file/past_the_end", path=location.shown, count=count)
        return Outcome(reply, is_error=True, detail=_counted(count))
    wanted = lines[first - 1 : arguments.last_line]
    if not wanted:
        reply = render("tools/read_file/lines_reversed", first=first, last=arguments.last_line)
        return Outcome(reply, is_error=True)
    shown, numbered, has_cut_line = _fitting(wanted, first)
    last = first + len(shown) - 1
    if len(shown) < len(wanted):
        remarks.append(render("tools/read_file/rest", first=first, last=last, count=count, next=last + 1))
    if has_cut_line:
        remarks.append(render("tools/read_file/lines_cut", limit=MAX_LINE))
    is_whole = first == 1 and last == count
    return Outcome(
        "\n".join([*numbered, *remarks]),
        FileView(location.shown, "\n".join(shown), first, count),
        CallFacts(
            "read",
            location.shown,
            None if is_whole else (first, last),
            full_content=not has_cut_line,
            digest=file.digest,
        ),
        detail=_counted(count) if is_whole else f"{len(shown):,} of {_counted(count)}",
    )


def _counted(lines: int) -> str:
    return f"{lines:,} {'line' if lines == 1 else 'lines'}"


def _fitting(wanted: list[str], first: int) -> tuple[list[str], list[str], bool]:
    """Return the lines that fit one answer, the same lines numbered, and whether one had to be cut."""
    shown: list[str] = []
    numbered: list[str] = []
    characters, has_cut_line = 0, False
    for number, line in enumerate(wanted[:MAX_LINES], first):
        line = well_formed(line.removesuffix("\r"))
        if len(line) > MAX_LINE:
            line, has_cut_line = line[:MAX_LINE] + "…", True
        characters += len(line) + 1
        if shown and characters > MAX_CHARACTERS:
            break
        shown.append(line)
        numbered.append(f"{number} | {line}")
    return shown, numbered, has_cut_line
