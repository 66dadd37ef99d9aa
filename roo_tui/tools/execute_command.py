"""Tool: run a shell command in the workspace."""

import asyncio
from typing import ClassVar

from pydantic import BaseModel, Field

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.errors import PathRefused
from roo_tui.domain.views import CommandView
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render
from roo_tui.tools.access import locate, outside_concerns, refusal
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext
from roo_tui.tools.output_limit import limit_output
from roo_tui.workspace.files import Location
from roo_tui.workspace.processes import CommandRun
from roo_tui.workspace.shell_words import ignored_paths

SHOWN = 20_000
TIMEOUT_S = 120
BACKGROUND_S = 5


class ExecuteCommandArguments(ToolArguments):
    """The arguments of `execute_command`."""

    command: str = Field(min_length=1)
    cwd: str = "."
    timeout_s: float = Field(default=TIMEOUT_S, gt=0, le=3600)
    background: bool = False


class ExecuteCommand:
    """Streams the output, stores it whole, and gives the model at most 20,000 characters of it."""

    name: ClassVar[str] = "execute_command"
    Arguments: ClassVar[type[BaseModel]] = ExecuteCommandArguments

    async def plan(self, arguments: ExecuteCommandArguments, context: ToolContext) -> CallPlan | CallFailure:
        """Plan the command in its folder; files hidden by `.rooignore` that it names are concerns."""
        location = await locate(context, arguments.cwd or ".")
        if isinstance(location, CallFailure):
            return location
        if not await asyncio.to_thread(location.path.is_dir):
            return refusal(PathRefused("not_a_folder" if location.path.exists() else "missing", location.shown))
        command = well_formed(arguments.command)
        hidden = await asyncio.to_thread(ignored_paths, context.workspace, command, location.path)
        concerns = outside_concerns(location) + tuple(f"names a file hidden by .rooignore: {path}" for path in hidden)
        state = (command, location, arguments)
        return CallPlan(command, Effect.COMMAND, CommandView(command), concerns, state=state)

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Run the command and report its output and exit code."""
        command: str
        location: Location
        command, location, arguments = plan.state
        timeout_s = arguments.timeout_s
        if arguments.background and "timeout_s" not in arguments.model_fields_set:
            timeout_s = BACKGROUND_S
        try:
            run = await context.workspace.commands.run(
                command, cwd=location.path, timeout_s=timeout_s, background=arguments.background, emit=context.emit
            )
        except (OSError, ValueError) as error:
            reply = render("tools/execute_command/not_started", reason=str(error))
            return Outcome(reply, plan.view, CallFacts("command", query=command), is_error=True, detail="not started")
        return await asyncio.to_thread(_outcome, command, run, timeout_s)


def _outcome(command: str, run: CommandRun, timeout_s: float) -> Outcome:
    output = run.output.text()
    if run.pid is None:
        run.output.close()
    limited = limit_output(output, SHOWN, render("tools/execute_command/rest"))
    shown = limited.text if output.strip() else render("tools/execute_command/no_output")
    if run.pid is not None:
        reply = render("tools/execute_command/left_running", pid=run.pid, seconds=f"{run.duration_s:.1f}", output=shown)
        detail = f"running, pid {run.pid}"
    elif run.timed_out:
        reply = render("tools/execute_command/timed_out", seconds=f"{timeout_s:g}", output=shown)
        detail = f"ended after {timeout_s:g} s"
    else:
        reply = render(
            "tools/execute_command/ended", exit_code=run.exit_code, seconds=f"{run.duration_s:.1f}", output=shown
        )
        detail = f"exit {run.exit_code}"
    if run.ended_leftovers:
        reply += "\n\n" + render("tools/execute_command/leftovers")
    return Outcome(
        reply,
        CommandView(command, limited.text, run.exit_code, run.timed_out),
        CallFacts("command", query=command, full_content=not limited.cut, exit_code=run.exit_code),
        is_error=run.timed_out,
        full_output=output if limited.cut else "",
        detail=detail,
    )
