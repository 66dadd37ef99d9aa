"""Plan a change to one file, and carry it out; shared by both edit tools."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.errors import PathRefused
from roo_tui.domain.views import DiffView
from roo_tui.prompt_files import render
from roo_tui.tools.access import edit_concerns, refused_outcome
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext
from roo_tui.tools.file_diff import diff_view
from roo_tui.workspace.files import Location
from roo_tui.workspace.text_files import TextFile


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The new text of a file; `original` is None for a new file. `report` tells the model what was done."""

    location: Location
    original: TextFile | None
    text: str
    view: DiffView
    kind: Literal["write", "edit"]
    report: str


def plan_change(
    context: ToolContext,
    location: Location,
    original: TextFile | None,
    text: str,
    kind: Literal["write", "edit"],
    report: str,
) -> CallPlan | CallFailure:
    """Return a plan to give a file this text, or a failure if it already has it. Call this in a thread."""
    old = original.text if original else ""
    if original is not None and original.fit(text) == original.fit(old):
        return CallFailure(render("replies/no_change", path=location.shown), title=location.shown)
    view = diff_view(location.shown, old, text, created=original is None)
    return CallPlan(
        location.shown,
        Effect.EDIT,
        view,
        edit_concerns(context, location),
        state=FileEdit(location, original, text, view, kind, report),
    )


async def carry_out(plan: CallPlan, context: ToolContext) -> Outcome:
    """Write the planned text, unless the file has changed since it was planned."""
    change: FileEdit = plan.state
    try:
        return await asyncio.to_thread(_write, context, change)
    except PathRefused as error:
        return refused_outcome(error)


def _write(context: ToolContext, change: FileEdit) -> Outcome:
    workspace, location = context.workspace, change.location
    now = workspace.read_for_edit(location)
    if (now.digest if now else "") != (change.original.digest if change.original else ""):
        reply = render("replies/file_changed", path=location.shown)
        return Outcome(reply, change.view, is_error=True, detail="file changed meanwhile")
    written = workspace.write_text(location, change.text, like=change.original)
    workspace.recent.note(location.path, location.shown, written)
    return Outcome(
        change.report,
        change.view,
        CallFacts(
            change.kind,
            location.shown,
            full_content=change.kind == "write",
            changed=(location.shown,),
            digest=written,
        ),
        detail=f"+{change.view.added} −{change.view.removed}",
    )
