"""Run tools for the engine: plan a tool use, then run the approved plan. Errors in a tool's code are caught."""

import logging
import time
from dataclasses import dataclass, replace

from roo_tui.domain.blocks import ToolUse
from roo_tui.prompt_files import render
from roo_tui.tools.base import CallFailure, CallPlan, Outcome, Tool, ToolContext
from roo_tui.tools.registry import all_tools

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned call that can run once it is approved."""

    call: ToolUse
    tool: Tool
    plan: CallPlan


async def plan_call(call: ToolUse, context: ToolContext) -> Prepared | CallFailure:
    """Return what a call would do, or a failure that tells the model why it cannot. Changes nothing."""
    from pydantic import ValidationError

    from roo_tui.tools.arguments import described, problems, validate

    tools = all_tools()
    tool = tools.get(call.name)
    if tool is None:
        reply = render("replies/unknown_tool", tool=call.name, tools=", ".join(tools))
        return CallFailure(reply, title=call.name)
    try:
        arguments = validate(tool.Arguments, call.input)
    except ValidationError as error:
        reply = render(
            "replies/invalid_arguments",
            tool=call.name,
            problems=problems(error),
            arguments=described(tool),
        )
        return CallFailure(reply, title=call.name)
    try:
        plan = await tool.plan(arguments, context)
    except Exception as error:
        log.exception("planning %s (%s) failed", call.name, call.id)
        return CallFailure(_crashed(call, error), title=call.name)
    return plan if isinstance(plan, CallFailure) else Prepared(call, tool, plan)


async def run_call(prepared: Prepared, context: ToolContext) -> Outcome:
    """Run a planned call. Raises nothing but `CancelledError`: a defect is logged and becomes an error outcome."""
    started = time.monotonic()
    try:
        outcome = await prepared.tool.run(prepared.plan, context)
    except Exception as error:
        log.exception("running %s (%s) failed", prepared.call.name, prepared.call.id)
        outcome = Outcome(_crashed(prepared.call, error), view=prepared.plan.view, is_error=True, detail="failed")
    duration_s = time.monotonic() - started
    log.info("%s (%s) took %.2f s", prepared.call.name, prepared.call.id, duration_s)
    return replace(outcome, duration_s=duration_s)


def _crashed(call: ToolUse, error: Exception) -> str:
    return render("replies/tool_failed", tool=call.name, error=f"{type(error).__name__}: {error}")
