"""The registry of all tools."""

from functools import cache

from roo_tui.domain.requests import ToolSpec
from roo_tui.prompt_files import render
from roo_tui.tools.base import Tool


@cache
def all_tools() -> dict[str, Tool]:
    """Return all tools by name. The imports are here because pydantic is slow to load."""
    from roo_tui.tools.apply_diff import ApplyDiff
    from roo_tui.tools.ask_followup_question import AskFollowupQuestion
    from roo_tui.tools.attempt_completion import AttemptCompletion
    from roo_tui.tools.execute_command import ExecuteCommand
    from roo_tui.tools.list_files import ListFiles
    from roo_tui.tools.read_file import ReadFile
    from roo_tui.tools.recall_history import RecallHistory
    from roo_tui.tools.search_files import SearchFiles
    from roo_tui.tools.update_todo_list import UpdateTodoList
    from roo_tui.tools.write_to_file import WriteToFile

    tools: tuple[Tool, ...] = (
        ListFiles(),
        ReadFile(),
        SearchFiles(),
        WriteToFile(),
        ApplyDiff(),
        ExecuteCommand(),
        RecallHistory(),
        UpdateTodoList(),
        AskFollowupQuestion(),
        AttemptCompletion(),
    )
    return {tool.name: tool for tool in tools}


def specs() -> tuple[ToolSpec, ...]:
    """Return all tools as the model sees them, in the order of the registry."""
    return tuple(_spec(name) for name in all_tools())


@cache
def _spec(name: str) -> ToolSpec:
    """Return one tool as the model sees it, cached: a schema takes milliseconds, and every request needs it."""
    from roo_tui.tools.arguments import schema

    return ToolSpec(name, render(f"tools/{name}"), schema(all_tools()[name]))
