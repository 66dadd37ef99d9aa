"""Run tool calls: plan, ask for approval, commit the start, run, commit the result, take a checkpoint.

The start of a call is on disk before it runs, and its result as soon as it ends, so that no call runs twice.
"""

import asyncio
import logging
from dataclasses import replace
from typing import Literal

from roo_tui.context.history import recall_hidden
from roo_tui.domain.blocks import ToolResult, ToolUse
from roo_tui.domain.entries import Answered, Body, CallRecord, CallStarted, TodosChanged, UserMessage
from roo_tui.domain.events import Approval, Choice, Option, ToolEnded, ToolOutput, ToolStarted
from roo_tui.domain.ids import EntryId
from roo_tui.engine.approvals import approval_key, verdict
from roo_tui.engine.checkpointing import Checkpointing
from roo_tui.engine.context_gauge import ContextGauge
from roo_tui.engine.questions import UserReply
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.prompt_files import render
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext
from roo_tui.tools.output_limit import limit_output
from roo_tui.tools.runner import Prepared, plan_call, run_call

log = logging.getLogger(__name__)

_APPROVAL_OPTIONS = (
    Option("allow", "Allow"),
    Option("always", "Always for this task"),
    Option("deny", "Deny"),
)
_MOST_HITS = 500
_SURELY_FITS = 2_000
_READ_ONLY = {Effect.READ, Effect.TODO, Effect.ASK, Effect.FINISH}

Decision = Literal["allowed", "auto", "denied", "none"]


class ToolCalls:
    """Runs the tool calls of the model's answers in one open task."""

    def __init__(self, runtime: Runtime, task: OpenTask, gauge: ContextGauge, checkpointing: Checkpointing) -> None:
        self._runtime = runtime
        self._task = task
        self._gauge = gauge
        self._checkpointing = checkpointing

    async def run_all(self, calls: list[ToolUse]) -> bool:
        """Run the calls in order; return whether one of them finished the task.

        If cancelled, every call without a result gets one that says so, before the cancel goes on.
        """
        finished = False
        for index, call in enumerate(calls):
            try:
                finished |= await self._run(call)
            except asyncio.CancelledError:
                await self._interrupted(calls[index:])
                raise
        return finished

    async def _run(self, call: ToolUse) -> bool:
        context = self._context(call)
        prepared = await plan_call(call, context)
        if isinstance(prepared, CallFailure):
            await self._finish(call, Outcome(prepared.for_model, view=prepared.view, is_error=True), "none")
            return False
        decision, denial = await self._decide(call, prepared.plan)
        if denial:
            await self._finish(call, Outcome(denial, view=prepared.plan.view, is_error=True), "denied")
            return False
        changes_files = prepared.plan.effect not in _READ_ONLY
        if changes_files:
            await self._checkpointing.before_change()
        await self._task.record(CallStarted(call.id))
        outcome = await self._execute(call, prepared, context)
        await self._finish(call, outcome, decision)
        if changes_files:
            await self._checkpointing.take()
        return prepared.plan.effect is Effect.FINISH and not outcome.is_error

    async def _execute(self, call: ToolUse, prepared: Prepared, context: ToolContext) -> Outcome:
        self._task.emit(ToolStarted(self._task.id, call.id))
        try:
            return await run_call(prepared, context)
        finally:
            self._task.emit(ToolEnded(self._task.id, call.id))

    async def _decide(self, call: ToolUse, plan: CallPlan) -> tuple[Decision, str]:
        """Return how the call was decided, and, if it was denied, the text that tells the model why."""
        runtime, task = self._runtime, self._task
        match verdict(plan, runtime.settings.approvals, task.always_allowed, auto_approve=runtime.auto_approve):
            case "allow":
                return "auto", ""
            case "deny":
                return "denied", render("replies/denied_by_policy", effect=plan.effect.value)
        approval = Approval(call.id, call.name, plan.title, plan.effect.value, plan.view, plan.concerns)
        reply = await runtime.questions.ask(task, approval, _APPROVAL_OPTIONS)
        await task.record(Answered(call.id, reply.decision, reply.text, call.id))
        if reply.decision == "always":
            task.always_allowed.add(approval_key(plan))
        if reply.decision in ("allow", "always"):
            return "allowed", ""
        return "denied", _denial(reply, by_policy=runtime.headless)

    def _context(self, call: ToolUse) -> ToolContext:
        task = self._task

        def emit(text: str) -> None:
            """Announce output of the running call."""
            task.emit(ToolOutput(task.id, call.id, text))

        async def ask(text: str, answers: tuple[str, ...]) -> str:
            """Ask the user, record the answer and return it."""
            options = tuple(Option(str(number), answer) for number, answer in enumerate(answers, 1))
            reply = await self._runtime.questions.ask(task, Choice(text, call_id=call.id), options)
            chosen = {option.id: option.label for option in options}.get(reply.decision, "")
            answer = reply.text or chosen
            await task.record(Answered(call.id, reply.decision, answer, call.id))
            return answer

        async def find(query: str) -> list[EntryId]:
            """Return the task's entries that match, best first."""
            hits = await self._runtime.store.search.find(query, task_id=task.id, limit=_MOST_HITS)
            return [hit.entry_id for hit in hits]

        async def bring_back(query: str) -> str:
            """Return hidden entries for a query or for ids."""
            return await recall_hidden(query, task.log.path(), find)

        return ToolContext(
            self._runtime.workspace, emit, ask, task.todos(), bring_back, user=not self._runtime.headless
        )

    async def _finish(self, call: ToolUse, outcome: Outcome, decision: Decision) -> None:
        outcome = await self._fitting(outcome)
        blob = await self._runtime.store.put_blob(outcome.full_output) if outcome.full_output else ""
        record = CallRecord(
            call.id, call.name, outcome.facts, outcome.view, blob, outcome.duration_s, decision, detail=outcome.detail
        )
        result = ToolResult(call.id, outcome.for_model, outcome.is_error)
        bodies: list[Body] = [UserMessage((result,), source="tools", calls=(record,))]
        if outcome.todos is not None:
            bodies.append(TodosChanged(outcome.todos))  # type: ignore[arg-type]
        await self._task.record(*bodies)
        await self._gauge.refresh()

    async def _fitting(self, outcome: Outcome) -> Outcome:
        """Return the outcome with its text cut to what the context has room for; the log keeps all of it."""
        text = outcome.for_model
        if not isinstance(text, str) or len(text) <= _SURELY_FITS:
            return outcome
        await self._gauge.refresh()
        rest = render("replies/result_rest").strip()
        shown = await asyncio.to_thread(self._gauge.fitting, text, lambda most: limit_output(text, most, rest).text)
        if shown == text:
            return outcome
        facts = replace(outcome.facts, full_content=False)
        return replace(outcome, for_model=shown, facts=facts, full_output=outcome.full_output or text)

    async def _interrupted(self, calls: list[ToolUse]) -> None:
        done = {
            record.call_id
            for entry in self._task.log.path()
            if isinstance(entry.body, UserMessage)
            for record in entry.body.calls
        }
        started = {entry.body.call_id for entry in self._task.log.path() if isinstance(entry.body, CallStarted)}
        for call in calls:
            if call.id not in done:
                reply = "replies/interrupted" if call.id in started else "replies/not_run"
                outcome = Outcome(render(reply).strip(), is_error=True, detail="interrupted")
                await self._finish(call, outcome, "none")


def _denial(reply: UserReply, *, by_policy: bool) -> str:
    """Return what the model is told of a denial; the text of a policy is not presented as the user's words."""
    reason = reply.text.strip()
    if not reason:
        return render("replies/denied").strip()
    return reason if by_policy else render("replies/denied_with_reason", reason=reason).strip()
