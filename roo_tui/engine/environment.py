"""The environment details attached to each user message: rendered once and stored with it."""

from datetime import datetime

from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.prompt_files import render

DETAILS_LIMIT = 6_000


def environment_details(runtime: Runtime, task: OpenTask, now: datetime) -> str:
    """Return the time, the workspace, and at most `DETAILS_LIMIT` characters of details.

    The details are files changed since the agent last read them, running commands and the todo list. Reads files: call
    it off the event loop.
    """
    sections = [
        _section("environment_details/changed_files", _changed_files(runtime)),
        _section("environment_details/commands", _running(runtime)),
        _section("environment_details/todos", [f"[{_BOXES[state]}] {text}" for text, state in task.todos()]),
    ]
    details = "\n".join(section for section in sections if section)[:DETAILS_LIMIT]
    return render(
        "environment_details/block",
        time=now.astimezone().isoformat(timespec="minutes"),
        workspace=str(runtime.root),
        details=details,
    ).strip()


_BOXES = {"pending": " ", "in_progress": "-", "done": "x"}


def _section(prompt: str, lines: list[str]) -> str:
    return render(prompt, lines="\n".join(f"  {line}" for line in lines)) if lines else ""


def _changed_files(runtime: Runtime) -> list[str]:
    changed = runtime.workspace.recent.changed()
    return [
        render("environment_details/deleted_file", path=file.path) if file.deleted else file.path for file in changed
    ]


def _running(runtime: Runtime) -> list[str]:
    lines = []
    for command in runtime.workspace.commands.running(mark_read=True):
        values = {"command": command.command, "pid": command.pid}
        if command.running:
            lines.append(render("environment_details/command_running", **values))
        else:
            lines.append(render("environment_details/command_ended", **values, exit_code=command.exit_code))
        lines += [f"  {line}" for line in command.unread[-1_500:].splitlines()[-20:]]
    return lines
