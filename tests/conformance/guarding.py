"""Guards against condensing in circles: what a case's history is held back for when condenses fail one after another.

The data has no such series, so one is played on the history of each case in which a condense is tried.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from roo_tui.context.guards import Guards
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import AssistantMessage, Entry
from tests.conformance import managing
from tests.conformance.due import WITHIN_S, GuardRule, bounds_of, end_due
from tests.conformance.histories import Json
from tests.conformance.managing import guard_due, guards_hold, inputs_of, is_due, reduced
from tests.conformance.tagged import log_of
from tests.conformance.verdict import Findings

_FAILING: Json = {"raises": {"message": "busy"}}
# When each reduction is due, and whether something was said since the one before.
_SERIES = ((0.0, True), (1.0, False), (2.0, True), (3.0, True), (4.0, True), (WITHIN_S - 0.5, True), (WITHIN_S, True))
_HELD_BACK = ("", "nothing new", "", "", "attempts", "attempts", "")


def manage(given: Json, recorded: Any, found: Findings) -> None:
    """What is done about a case's context is right, and guards hold on its history."""
    managing.manage(given, recorded, found)
    if given["messages"]:
        guards_by_rule(given, given["totalTokens"], found)


def guards_by_rule(given: Json, tokens: int, found: Findings) -> None:
    """Play failing condenses and a system prompt that fills the window, and check what is held back."""
    failing = {**given, "handler": _FAILING, "autoCondenseContext": True}
    if not is_due(tokens, bounds_of(failing), failing) or end_due(failing, None).kind == "refused":
        return
    path = log_of(given["messages"]).path()
    _play(failing, path, tokens, _HELD_BACK, found)
    full = {**failing, "systemPrompt": "x" * 4 * bounds_of(failing).window}
    _play(full, path, tokens, ["overhead"] * len(_SERIES), found)


def _play(given: Json, path: tuple[Entry, ...], tokens: int, expected: Sequence[str], found: Findings) -> None:
    """Reduce the history again and again; a condense that is not held back fails."""
    now_s = 0.0
    guards, rule = Guards(lambda: now_s), GuardRule()
    held: list[str] = []
    for now_s, is_new in _SERIES:
        if is_new:
            path = (*path, Entry(path[-1].id + 1, path[-1].id, path[-1].at_ms, AssistantMessage((Text("More."),))))
        inputs, model = inputs_of(given, path, tokens, ratio=1.0)
        bodies = asyncio.run(reduced(inputs, model, given, guards))
        guard = guard_due(given, inputs, bounds_of(given), rule, len(path), now_s)
        held.append(guard)
        if guards_hold(given, guard, bodies, model, found):
            rule.note("failed", len(path), now_s, enough=False)
            found.check(bool(model.requests), f"no condense was tried at {now_s} s")
    found.expect("what holds the series back", list(expected), held)
