"""Tool: search files for lines that match a regular expression."""

import asyncio
from itertools import groupby
from typing import ClassVar

from pydantic import BaseModel, Field

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.errors import PathRefused
from roo_tui.domain.views import ListView
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.access import locate, outside_concerns, refusal
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext
from roo_tui.tools.text_search import BadPattern, Found, TextSearch
from roo_tui.workspace.files import Location

LIMIT = 300


class SearchFilesArguments(ToolArguments):
    """The arguments of `search_files`; an empty `file_pattern` matches every file."""

    regex: str = Field(min_length=1)
    path: str = "."
    file_pattern: str = ""


class SearchFiles:
    """Finds up to 300 matching lines, grouped by file."""

    name: ClassVar[str] = "search_files"
    Arguments: ClassVar[type[BaseModel]] = SearchFilesArguments

    async def plan(self, arguments: SearchFilesArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Plan the search; the pattern is checked when it runs."""
        location = await locate(context, arguments.path or ".")
        if isinstance(location, CallFailure):
            return location
        if not await asyncio.to_thread(location.path.exists):
            return refusal(PathRefused("missing", location.shown))
        regex = well_formed(arguments.regex)
        title = regex + ("" if location.shown == "." else f" in {location.shown}")
        concerns = outside_concerns(location)
        return CallPlan(title, Effect.READ, concerns=concerns, state=(location, regex, arguments.file_pattern))

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Search and return the matching lines."""
        location: Location
        location, regex, file_pattern = plan.state
        search = TextSearch(context.workspace, location, regex, file_pattern=file_pattern, limit=LIMIT)
        try:
            found = await asyncio.to_thread(search.run)
        except BadPattern as error:
            return Outcome(render("tools/search_files/bad_pattern", reason=well_formed(str(error))), is_error=True)
        except asyncio.CancelledError:
            search.stop()
            raise
        hits = found.hits
        items = tuple(well_formed(f"{hit.path}:{hit.line}: {hit.text}") for hit in hits)
        count = f"{len(hits)}{'+' if found.more else ''} {'hit' if len(hits) == 1 else 'hits'}"
        return Outcome(
            _reply(found),
            ListView(plan.title, items, len(hits) + found.more),
            CallFacts("search", location.shown, full_content=not found.more, query=regex),
            detail=count,
        )


def _reply(found: Found) -> str:
    lines: list[str] = []
    for path, hits in groupby(found.hits, key=lambda hit: hit.path):
        lines.append(well_formed(path))
        lines += [f"  {hit.line} | {well_formed(hit.text)}" for hit in hits]
    if not lines:
        lines.append(render("tools/search_files/nothing_found"))
    if found.more:
        lines.append(render("tools/search_files/cut", limit=LIMIT))
    if found.timed_out:
        lines.append(render("tools/search_files/timed_out"))
    if found.too_large:
        lines.append(render("tools/search_files/too_large", count=found.too_large))
    return "\n".join(lines)
