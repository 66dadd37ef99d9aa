"""Runs tools as the engine does, in a workspace of its own, with a user whose answers are known beforehand."""

from pathlib import Path
from typing import Any

from roo_tui.domain.blocks import ToolUse
from roo_tui.tools.base import CallFailure, CallPlan, Outcome, ToolContext
from roo_tui.tools.runner import Prepared, plan_call, run_call
from roo_tui.workspace.files import Workspace


class Bench:
    """`asked` are the questions put to the user, `emitted` what was shown while calls ran."""

    def __init__(self, root: Path, answer: str = "") -> None:
        self.root = root
        self.workspace = Workspace(root)
        self.answer = answer
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.emitted: list[str] = []
        self.context = ToolContext(self.workspace, self.emitted.append, self._ask)

    async def prepare(self, tool: str, **arguments: Any) -> Prepared | CallFailure:
        return await plan_call(ToolUse("call_1", tool, arguments), self.context)

    async def plan(self, tool: str, **arguments: Any) -> CallPlan:
        prepared = await self.prepare(tool, **arguments)
        assert isinstance(prepared, Prepared), prepared
        return prepared.plan

    async def failure(self, tool: str, **arguments: Any) -> str:
        failure = await self.prepare(tool, **arguments)
        assert isinstance(failure, CallFailure), failure
        return failure.for_model

    async def run(self, tool: str, **arguments: Any) -> Outcome:
        prepared = await self.prepare(tool, **arguments)
        assert isinstance(prepared, Prepared), prepared
        return await run_call(prepared, self.context)

    async def result(self, tool: str, **arguments: Any) -> str:
        outcome = await self.run(tool, **arguments)
        assert isinstance(outcome.for_model, str)
        return outcome.for_model

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    async def _ask(self, question: str, suggestions: tuple[str, ...]) -> str:
        self.asked.append((question, suggestions))
        return self.answer
