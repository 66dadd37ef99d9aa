"""The environment details that go with each message of a person: stored once, never rendered again."""

from datetime import datetime

from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.prompt_files import render

DETAILS_LIMIT = 6_000


def environment_details(runtime: Runtime, task: OpenTask, now: datetime) -> str:
    """Return time, folder, files changed since the agent looked, running commands and todos, bounded.

    Looks at files: call it off the event loop.
    """
    sections = [
        _section("Files changed outside the conversation since you last read or wrote them", _changed_files(runtime)),
        _section("Commands left running", _running(runtime)),
        _section("Todo list", [f"[{_BOXES[state]}] {text}" for text, state in task.todos()]),
    ]
    details = "\n".join(section for section in sections if section)[:DETAILS_LIMIT]
    return render(
        "environment_details/block",
        time=now.astimezone().isoformat(timespec="minutes"),
        workspace=str(runtime.root),
        details=details,
    ).strip()


_BOXES = {"pending": " ", "in_progress": "-", "done": "x"}


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"{title}:", *(f"  {line}" for line in lines)]) if lines else ""


def _changed_files(runtime: Runtime) -> list[str]:
    return [f"{file.path} (deleted)" if file.deleted else file.path for file in runtime.workspace.recent.changed()]


def _running(runtime: Runtime) -> list[str]:
    lines = []
    for command in runtime.workspace.commands.running(mark_read=True):
        state = "running" if command.running else f"ended with exit code {command.exit_code}"
        lines.append(f"{command.command} (pid {command.pid}, {state}); output not shown to you yet:")
        lines += [f"  {line}" for line in command.unread[-1_500:].splitlines()[-20:]]
    return lines
