"""Tool: list the files and folders in a folder."""

import asyncio
from typing import ClassVar

from pydantic import BaseModel

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.errors import PathRefused
from roo_tui.domain.views import ListView
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.access import locate, outside_concerns, refused_outcome
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext
from roo_tui.workspace.files import Location
from roo_tui.workspace.listing import list_folder

LIMIT = 500


class ListFilesArguments(ToolArguments):
    """The arguments of `list_files`."""

    path: str = "."
    recursive: bool = False


class ListFiles:
    """Lists up to 500 names of files and folders."""

    name: ClassVar[str] = "list_files"
    Arguments: ClassVar[type[BaseModel]] = ListFilesArguments

    async def plan(self, arguments: ListFilesArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Plan to list a folder."""
        location = await locate(context, arguments.path or ".")
        if isinstance(location, CallFailure):
            return location
        concerns = outside_concerns(location)
        return CallPlan(location.shown, Effect.READ, concerns=concerns, state=(location, arguments.recursive))

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """List the folder."""
        location: Location
        location, recursive = plan.state
        try:
            names, more = await asyncio.to_thread(
                list_folder, context.workspace, location, recursive=recursive, limit=LIMIT
            )
        except PathRefused as error:
            return refused_outcome(error)
        prefix = "" if not location.inside or location.shown == "." else location.shown + "/"
        items = tuple(well_formed(str(name))[len(prefix) :] for name in names)
        reply = "\n".join(items) or render("tools/list_files/empty", path=location.shown)
        if more:
            reply += "\n" + render("tools/list_files/cut", limit=LIMIT)
        count = f"{len(items)}{'+' if more else ''} {'name' if len(items) == 1 else 'names'}"
        return Outcome(
            reply,
            ListView(location.shown, items, len(items) + more),
            CallFacts("list", location.shown, full_content=not more, query="recursive" if recursive else ""),
            detail=count,
        )
