"""Tool: create a file, or replace its whole content."""

import asyncio
from typing import ClassVar

from pydantic import BaseModel

from roo_tui.domain.errors import PathRefused
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.access import locate, refusal
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Outcome, ToolContext
from roo_tui.tools.editing import carry_out, plan_change
from roo_tui.tools.file_diff import lines_of
from roo_tui.workspace.files import Location


class WriteToFileArguments(ToolArguments):
    """The arguments of `write_to_file`."""

    path: str
    content: str


class WriteToFile:
    """Writes whole files; an existing file keeps its line ends, byte order mark and permissions."""

    name: ClassVar[str] = "write_to_file"
    Arguments: ClassVar[type[BaseModel]] = WriteToFileArguments

    async def plan(self, arguments: WriteToFileArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Plan to write the file."""
        location = await locate(context, arguments.path)
        if isinstance(location, CallFailure):
            return location
        return await asyncio.to_thread(_plan, context, location, well_formed(arguments.content))

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Write the file."""
        return await carry_out(plan, context)


def _plan(context: ToolContext, location: Location, content: str) -> CallPlan | CallFailure:
    try:
        original = context.workspace.read_for_edit(location)
    except PathRefused as error:
        return refusal(error)
    reply = "tools/write_to_file/created" if original is None else "tools/write_to_file/written"
    report = render(reply, path=location.shown, lines=len(lines_of(content)))
    return plan_change(context, location, original, content, "write", report)
