"""Access of tools to files: resolve paths, collect concerns for the user, and word refusals for the model."""

import asyncio

from roo_tui.domain.errors import PathRefused
from roo_tui.prompt_files import placeholders, render
from roo_tui.tools.base import CallFailure, Outcome, ToolContext
from roo_tui.workspace.files import Location


async def locate(context: ToolContext, path: str) -> Location | CallFailure:
    """Return where a path leads, or a failure if it is not a valid path or `.rooignore` hides it."""

    def resolve() -> Location:
        location = context.workspace.resolve(path)
        if context.workspace.is_ignored(location):
            raise PathRefused("ignored", location.shown)
        return location

    try:
        return await asyncio.to_thread(resolve)
    except PathRefused as error:
        return refusal(error)


def refusal(error: PathRefused) -> CallFailure:
    """Return the refusal of a path, worded for the model (`prompts/refusals.md` has a section per reason)."""
    name = f"refusals/{error.reason}"
    values = {"path": error.path, "detail": error.detail}
    return CallFailure(render(name, **{key: values[key] for key in placeholders(name)}), title=error.path)


def refused_outcome(error: PathRefused) -> Outcome:
    """Return the refusal of a path as the outcome of a run."""
    return Outcome(refusal(error).for_model, is_error=True, detail=error.reason.replace("_", " "))


def outside_concerns(location: Location) -> tuple[str, ...]:
    """Return a concern if a path leads outside the workspace, otherwise nothing."""
    return () if location.inside else (f"outside the workspace: {location.path}",)


def edit_concerns(context: ToolContext, location: Location) -> tuple[str, ...]:
    """Return the reasons why a change of the file always needs approval."""
    concerns = outside_concerns(location)
    if context.workspace.is_protected(location):
        concerns += (f"protected file: {location.shown}",)
    return concerns
