"""Decide whether a tool call may run, needs an approval or is denied. Nothing else decides this."""

import re
from typing import Literal

from roo_tui.settings import ApprovalOptions
from roo_tui.tools.base import CallPlan, Effect

Verdict = Literal["allow", "ask", "deny"]

# A command that contains any of these may do more than its beginning shows.
_CHAINED = re.compile(r"[;&|<>`$\n\\(){}]")

# Effects that change nothing outside the task itself.
_HARMLESS = {Effect.TODO, Effect.ASK, Effect.FINISH}


def approval_key(plan: CallPlan) -> str:
    """Return what “always” covers for the rest of the task: every call of this effect; of commands, only this one."""
    return f"command:{plan.title}" if plan.effect is Effect.COMMAND else plan.effect.value


def verdict(plan: CallPlan, policy: ApprovalOptions, always: set[str], *, auto_approve: bool) -> Verdict:
    """Return whether a planned call is allowed, needs an approval or is denied.

    A call with concerns (a path outside the workspace, a protected file) always needs an approval, unless its effect is
    denied. A call with an effect on the task alone is always allowed.
    """
    if plan.effect in _HARMLESS:
        return "allow"
    setting = _setting(plan, policy)
    if setting == "deny":
        return "deny"
    if plan.concerns:
        return "ask"
    if auto_approve or approval_key(plan) in always:
        return "allow"
    return setting


def _setting(plan: CallPlan, policy: ApprovalOptions) -> Verdict:
    match plan.effect:
        case Effect.READ:
            return policy.read
        case Effect.EDIT:
            return policy.edit
        case _:
            if policy.command == "ask" and _is_allowed_command(plan.title, policy.allowed_commands):
                return "allow"
            return policy.command


def _is_allowed_command(command: str, allowed: tuple[str, ...]) -> bool:
    if _CHAINED.search(command):
        return False
    return any(command == prefix or command.startswith(prefix + " ") for prefix in allowed)
