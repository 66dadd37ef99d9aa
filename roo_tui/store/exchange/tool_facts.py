"""Work out what the tool calls of known agents did, from the tool's name and input, never from the text of results.

Sources: the tool schemas of Roo Code, Claude Code, Codex and SWE-agent.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from roo_tui.domain.blocks import ToolResult, ToolUse, result_text
from roo_tui.domain.entries import CallFacts

Input = Mapping[str, object]

# Claude Code's Read returns at most this many lines if the call sets no limit.
_CLAUDE_READ_LINES = 2000

_PATCHED_PATH = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$", re.MULTILINE)
# The first lines of a command's result in Codex, Claude Code and Roo Code; the output follows.
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:?) (-?\d+)$", re.MULTILINE)
_HEADER_END = "\nOutput:"
_HEADER_CHARACTERS = 600
_LINE_RANGE = re.compile(r"(\d+)\s*-\s*(\d+)")


def call_facts(call: ToolUse, result: ToolResult) -> CallFacts:
    """Return what a call did; the kind is `other` for an unknown tool. A failed call read and changed nothing."""
    describe = _KNOWN.get(call.name)
    if describe is None:
        return CallFacts()
    facts = describe(call.input, result)
    if result.is_error:
        return replace(facts, full_content=False, changed=())
    return facts


def _text(values: Input, *names: str) -> str:
    """Return the first of these fields that is a non-empty text, otherwise an empty one."""
    return next((value for name in names if isinstance(value := values.get(name), str) and value), "")


def _number(values: Input, name: str) -> int | None:
    value = values.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_roo(values: Input, _: ToolResult) -> CallFacts:
    path = _text(values, "path")
    if not path:
        # Several files in one call, so there is no single path.
        return CallFacts("read")
    found = _LINE_RANGE.fullmatch(_text(values, "line_range").strip())
    first, last = _number(values, "start_line"), _number(values, "end_line")
    if found:
        first, last = int(found[1]), int(found[2])
    lines = (first, last) if first is not None and last is not None else None
    whole = lines is not None or not (_text(values, "line_range") or first or last)
    return CallFacts("read", path, lines, full_content=whole)


def _read_claude(values: Input, result: ToolResult) -> CallFacts:
    path = _text(values, "file_path")
    first, limit = _number(values, "offset"), _number(values, "limit")
    if limit is not None:
        first = max(1, first or 1)
        return CallFacts("read", path, (first, first + limit - 1), full_content=True)
    # Without a limit, the content is whole only from the first line and below the tool's own limit.
    whole = first in (None, 0, 1) and result_text(result).count("\n") < _CLAUDE_READ_LINES
    return CallFacts("read", path, full_content=whole)


def _read_window(values: Input, _: ToolResult) -> CallFacts:
    return CallFacts("read", _text(values, "path"))


def _write(values: Input, _: ToolResult) -> CallFacts:
    path = _text(values, "path", "file_path", "filename")
    return CallFacts("write", path, full_content=True, changed=(path,) if path else ())


def _edit(values: Input, _: ToolResult) -> CallFacts:
    path = _text(values, "path", "file_path")
    return CallFacts("edit", path, changed=(path,) if path else ())


def _patch(values: Input, _: ToolResult) -> CallFacts:
    paths = tuple(
        dict.fromkeys(update or moved for update, moved in _PATCHED_PATH.findall(_text(values, "input", "patch")))
    )
    return CallFacts("edit", paths[0] if len(paths) == 1 else "", changed=paths)


def _search(values: Input, _: ToolResult) -> CallFacts:
    return CallFacts(
        "search",
        _text(values, "path", "dir", "file"),
        query=_text(values, "regex", "pattern", "query", "search_term", "file_name"),
    )


def _list(values: Input, _: ToolResult) -> CallFacts:
    return CallFacts("list", _text(values, "path"), query=_text(values, "pattern"))


def _exit_code(result: ToolResult) -> int | None:
    header = result_text(result)[:_HEADER_CHARACTERS].partition(_HEADER_END)[0]
    found = _EXIT_CODE.search(header)
    return int(found[1]) if found else None


def _command(values: Input, result: ToolResult) -> CallFacts:
    command = values.get("command", values.get("cmd", ""))
    if isinstance(command, list):
        command = " ".join(str(word) for word in command)
    return CallFacts("command", query=command if isinstance(command, str) else "", exit_code=_exit_code(result))


def _typing(values: Input, result: ToolResult) -> CallFacts:
    return CallFacts("command", query=_text(values, "chars"), exit_code=_exit_code(result))


def _todo(_values: Input, _: ToolResult) -> CallFacts:
    return CallFacts("todo")


def _question(values: Input, _: ToolResult) -> CallFacts:
    return CallFacts("question", query=_text(values, "question"))


def _finish(_values: Input, _: ToolResult) -> CallFacts:
    return CallFacts("finish")


_KNOWN: dict[str, Callable[[Input, ToolResult], CallFacts]] = {
    # Roo Code
    "read_file": _read_roo,
    "write_to_file": _write,
    "apply_diff": _edit,
    "insert_content": _edit,
    "search_and_replace": _edit,
    "search_files": _search,
    "codebase_search": _search,
    "list_files": _list,
    "list_code_definition_names": _list,
    "execute_command": _command,
    "update_todo_list": _todo,
    "ask_followup_question": _question,
    "attempt_completion": _finish,
    # Claude Code
    "Read": _read_claude,
    "Write": _write,
    "Edit": _edit,
    "MultiEdit": _edit,
    "Bash": _command,
    "Grep": _search,
    "Glob": _list,
    "LS": _list,
    "TodoWrite": _todo,
    "AskUserQuestion": _question,
    # Codex
    "exec_command": _command,
    "shell": _command,
    "write_stdin": _typing,
    "apply_patch": _patch,
    "update_plan": _todo,
    # SWE-agent
    "bash": _command,
    "open": _read_window,
    "create": _write,
    "edit": _edit,
    "insert": _edit,
    "find_file": _search,
    "search_dir": _search,
    "search_file": _search,
    "submit": _finish,
}
