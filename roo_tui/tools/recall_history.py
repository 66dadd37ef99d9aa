"""Tool: find hidden entries of the task by text or by id."""

import re
from datetime import datetime
from typing import ClassVar

from pydantic import BaseModel, Field

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.ids import EntryId
from roo_tui.domain.recall import Recall, RecallKind
from roo_tui.domain.views import TextView
from roo_tui.prompt_files import render
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext

# Placeholders name parts of an entry (`e12.1.content`), but recall returns the whole entry.
_ID = re.compile(r"e(\d+)(?:\.\d+(?:\.[\w./~-]+)?)?(?::(\d+))?", re.IGNORECASE)
_IDS = re.compile(rf"\s*(?:{_ID.pattern}[\s,;]*)+", re.IGNORECASE)


class RecallHistoryArguments(ToolArguments):
    """The arguments of `recall_history`; an id takes precedence over queries."""

    queries: list[str] = Field(default=[], max_length=5)
    query: str = ""
    id: str = ""
    kind: RecallKind | None = None
    before: str = ""
    after: str = ""


class RecallHistory:
    """Searches what reductions hide from the model; changes nothing."""

    name: ClassVar[str] = "recall_history"
    Arguments: ClassVar[type[BaseModel]] = RecallHistoryArguments

    async def plan(self, arguments: RecallHistoryArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Plan the search; an id may lack its `e`, as in `12`, and a query may be an id."""
        if context.recall is None:
            return CallFailure(render("tools/recall_history/unavailable"), title=self.name)
        queries = [text.strip() for text in (arguments.query, *arguments.queries) if text.strip()]
        ids = _with_letter(arguments.id) or " ".join(queries)
        if _IDS.fullmatch(ids):
            entries = tuple((int(number), int(start or 0)) for number, start in _ID.findall(ids))
            return CallPlan(ids, Effect.READ, state=Recall(entries=entries))
        if arguments.id.strip():
            return CallFailure(render("tools/recall_history/bad_id", given=arguments.id.strip()), title=self.name)
        moments = {}
        for name, given in (("before", arguments.before), ("after", arguments.after)):
            try:
                moments[name] = _moment(given)
            except ValueError:
                return CallFailure(render("tools/recall_history/bad_moment", name=name, given=given), title=self.name)
        wanted = Recall(tuple(queries), kind=arguments.kind, before=moments["before"], after=moments["after"])
        if wanted == Recall():
            return CallFailure(render("tools/recall_history/no_arguments"), title=self.name)
        filters = " ".join(filter(None, (arguments.kind, arguments.after, arguments.before)))
        return CallPlan(" | ".join(queries) or filters, Effect.READ, state=wanted)

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Return the entries found."""
        assert context.recall is not None
        found = await context.recall(plan.state)
        return Outcome(found, TextView(found), CallFacts("other", query=plan.title))


def _with_letter(ids: str) -> str:
    parts = ids.replace(",", " ").split()
    return " ".join(part if part[:1] in "eE" else f"e{part}" for part in parts)


def _moment(given: str) -> EntryId | datetime | None:
    """Return the entry or the local time that an argument names, None if it is empty.

    Raises:
        ValueError: it names neither.
    """
    given = given.strip()
    if entry := re.fullmatch(r"e?(\d{1,7})", given, re.IGNORECASE):
        return int(entry[1])
    return datetime.fromisoformat(given) if given else None
