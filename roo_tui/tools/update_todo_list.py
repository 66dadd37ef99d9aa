"""Tool: replace the todo list of the task."""

import re
from typing import ClassVar, Literal

from pydantic import BaseModel

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import TodoView
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext

TodoState = Literal["pending", "in_progress", "done"]
Todos = tuple[tuple[str, TodoState], ...]

_ITEM = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?\[([ xX~-]?)\]\s*(\S.*)")
_STATES: dict[str, TodoState] = {"x": "done", "X": "done", "-": "in_progress", "~": "in_progress"}


class UpdateTodoListArguments(ToolArguments):
    """The arguments of `update_todo_list`; `todos` is a Markdown checklist."""

    todos: str


class UpdateTodoList:
    """Makes a Markdown checklist the todo list of the task."""

    name: ClassVar[str] = "update_todo_list"
    Arguments: ClassVar[type[BaseModel]] = UpdateTodoListArguments

    async def plan(self, arguments: UpdateTodoListArguments, context: ToolContext) -> CallPlan | CallFailure:  # noqa: ARG002
        """Parse the checklist."""
        todos = parse_todos(arguments.todos)
        if isinstance(todos, str):
            return CallFailure(render("tools/update_todo_list/malformed", line=todos))
        done = sum(state == "done" for _, state in todos)
        return CallPlan(f"{done} of {len(todos)} done", Effect.TODO, TodoView(todos), state=todos)

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:  # noqa: ARG002
        """Return the new todo list."""
        return Outcome(
            render("tools/update_todo_list/updated"), plan.view, CallFacts("todo"), detail=plan.title, todos=plan.state
        )


def parse_todos(text: str) -> Todos | str:
    """Return the items of a checklist, or the first line that is not one. An empty text gives an empty list."""
    items: list[tuple[str, TodoState]] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _ITEM.fullmatch(line)
        if not match:
            return one_line(line, 120)
        items.append((one_line(match[2], 500), _STATES.get(match[1], "pending")))
    return tuple(items)
