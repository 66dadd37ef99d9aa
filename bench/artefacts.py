"""What of a recorded conversation must not be forgotten, taken from its raw messages.

This module shares no code with the program that is measured: it reads the JSON itself and has its own idea of what a
tool call did, from the published tool schemas of Roo Code, Claude Code, Codex and SWE-agent.

path      a file that was changed
change    the longest line that the last change of a file put in
command   a command that was run
failure   the last command that failed and did not succeed later, with the line of its output that names the error
todo      an item of the todo list that is still open
request   the last message the user typed
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KINDS = ("path", "change", "command", "failure", "todo", "request")

_COMMAND_TOOLS = frozenset({"Bash", "bash", "exec_command", "shell", "execute_command"})
_CHANGING_TOOLS = frozenset(
    {"Edit", "MultiEdit", "Write", "NotebookEdit", "write_to_file", "apply_diff", "insert_content"}
    | {"search_and_replace", "create", "edit", "insert"}
)
_PATCH_TOOL = "apply_patch"
_FILE_FIELDS = ("file_path", "notebook_path", "path", "filename")
_TEXT_FIELDS = ("new_string", "content", "new_source", "replace", "text")

_STATUS = re.compile(r"^(?:Process exited with code|Exit code:?|.*\. Exit code:) (-?\d+)\s*$", re.MULTILINE)
_STATUS_WITHIN = 600
_OPEN_FILE = re.compile(r"^\(Open file: (/.+)\)\s*$", re.MULTILINE)
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)
_REPLACEMENT = re.compile(r"^=======\n(.*?)^>>>>>>> REPLACE", re.MULTILINE | re.DOTALL)
_NAMES_ERROR = re.compile(r"\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|denied|not found)\b|^E ", re.IGNORECASE)
_NEW_TASK = re.compile(r"Task #(\w+) created")
_TODO_LINE = re.compile(r"(?:[-*]\s+|\d+[.)]\s+)?\[([^\]]?)\]\s*(.+)")
_NOT_TYPED = re.compile(
    r"\s*(?:<(?:environment|system-reminder|local-command|command-|turn_aborted|permissions|skills_|apps?[-_]"
    r"|plugins_|collaboration_mode|user_instructions|subagent_|task-notification)|\[Request interrupted|\[ERROR\])"
)
_SHORTEST_LINE, _LONGEST_LINE = 12, 200
_NEAR = 400


@dataclass(frozen=True, slots=True)
class Artefact:
    """The texts that must all be found again; `near` is what the agent said around it, `subject` what it is about."""

    kind: str
    texts: tuple[str, ...]
    near: str = ""
    subject: str = ""


@dataclass(slots=True)
class _Found:
    paths: dict[str, str] = field(default_factory=dict)
    changes: dict[str, tuple[str, str]] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)
    failures: dict[str, tuple[str, str]] = field(default_factory=dict)
    todos: dict[str, str] = field(default_factory=dict)
    request: tuple[str, str] | None = None


def read(path: Path) -> list[dict[str, Any]]:
    """Return the messages of a `.json` or `.json.gz` file."""
    data = path.read_bytes()
    messages: list[dict[str, Any]] = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    return messages


def conversations(folder: Path) -> list[Path]:
    """Return the files of a folder that hold conversations, sorted by name."""
    return sorted(path for path in folder.glob("*.json*") if path.name != "index.json")


def artefacts(messages: Sequence[Mapping[str, Any]]) -> list[Artefact]:
    """Return what must not be forgotten of a conversation in Messages-API form."""
    found = _Found()
    calls: dict[str, Mapping[str, Any]] = {}
    near = ""
    for message in messages:
        for block in _blocks(message):
            if block["type"] == "text" and message["role"] == "assistant":
                near = block["text"][:_NEAR]
            elif block["type"] == "text" and block["text"].strip() and not _NOT_TYPED.match(block["text"]):
                found.request = (block["text"], near)
            elif block["type"] == "tool_use":
                calls[block["id"]] = block
            elif block["type"] == "tool_result" and block["tool_use_id"] in calls:
                _note(found, calls[block["tool_use_id"]], text_of(block), bool(block.get("is_error")), near)
    return list(_listed(found))


def text_of(block: Mapping[str, Any]) -> str:
    """Return the text a model reads in a block: what was said, the values of a call's input, or a result."""
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "tool_use":
        return "\n".join(str(value) for value in block["input"].values())
    content = block.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def whole_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of all messages, in order."""
    return "\n".join(text_of(block) for message in messages for block in _blocks(message))


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block for block in blocks if block["type"] in ("text", "tool_use", "tool_result")]


def _listed(found: _Found) -> Iterator[Artefact]:
    yield from (Artefact("path", (path,), near) for path, near in found.paths.items())
    yield from (Artefact("change", (line,), near, path) for path, (line, near) in found.changes.items())
    yield from (Artefact("command", (command,), near) for command, near in found.commands.items())
    if found.failures:
        command, (error, near) = list(found.failures.items())[-1]
        yield Artefact("failure", (command, error) if error else (command,), near)
    yield from (Artefact("todo", (text,)) for text in found.todos.values())
    if found.request:
        yield Artefact("request", (found.request[0],), found.request[1])


def _note(found: _Found, call: Mapping[str, Any], output: str, is_error: bool, near: str) -> None:
    """Add what one finished call did."""
    name, given = call["name"], call["input"]
    if name in _COMMAND_TOOLS:
        _note_command(found, _command(given), output, is_error, near)
    elif not is_error:
        for path, lines in _changes(name, given, output).items():
            found.paths[path] = near
            if line := max(
                (line for line in lines if _SHORTEST_LINE <= len(line) <= _LONGEST_LINE), key=len, default=""
            ):
                found.changes[path] = (line, near)
        _note_todos(found.todos, name, given, output)


def _note_command(found: _Found, command: str, output: str, is_error: bool, near: str) -> None:
    if not command:
        return
    found.commands.setdefault(command, near)
    status = _STATUS.search(output[:_STATUS_WITHIN])
    found.failures.pop(command, None)
    if int(status[1]) != 0 if status else is_error:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        error = next((line for line in reversed(lines) if _NAMES_ERROR.search(line)), lines[-1] if lines else "")
        found.failures[command] = (error, near)


def _command(given: Mapping[str, Any]) -> str:
    command = given.get("command") or given.get("cmd") or ""
    return (" ".join(map(str, command)) if isinstance(command, list) else str(command)).strip()


def _changes(name: str, given: Mapping[str, Any], output: str) -> dict[str, list[str]]:
    """Return the lines that a call put into each file it changed."""
    if name == _PATCH_TOOL:
        return _patched(str(given.get("input") or given.get("patch") or ""))
    if name not in _CHANGING_TOOLS:
        return {}
    opened = _OPEN_FILE.search(output)
    path = next((given[one] for one in _FILE_FIELDS if given.get(one)), "")
    # SWE-agent edits the file that is open, which only the result names.
    path = opened[1] if opened and not path.startswith("/") else path
    return {path: _new_lines(given)} if path else {}


def _new_lines(given: Mapping[str, Any]) -> list[str]:
    edits = given.get("edits") if isinstance(given.get("edits"), list) else [given]
    new: list[str] = []
    old: set[str] = set()
    for edit in edits or []:
        new += [str(edit[one]) for one in _TEXT_FIELDS if edit.get(one)]
        new += _REPLACEMENT.findall(str(edit.get("diff", "")))
        old.update(line.strip() for line in str(edit.get("old_string", "")).splitlines())
    return [line.strip() for text in new for line in text.splitlines() if line.strip() not in old]


def _patched(patch: str) -> dict[str, list[str]]:
    parts = _PATCHED.split(patch)
    return {
        path: [line[1:].strip() for line in text.splitlines() if line.startswith("+")]
        for path, text in zip(parts[2::3], parts[3::3], strict=True)
    }


def _note_todos(todos: dict[str, str], name: str, given: Mapping[str, Any], output: str) -> None:
    """Bring the open items up to date: whole lists replace them, Claude Code's tasks change one by one."""
    if name == "TaskCreate" and (number := _NEW_TASK.search(output)):
        todos[number[1]] = str(given["subject"])
    elif name == "TaskUpdate" and given.get("status") in ("completed", "deleted"):
        todos.pop(str(given["taskId"]), None)
    elif name in ("TodoWrite", "update_plan", "update_todo_list"):
        todos.clear()
        items = given.get("todos") or given.get("plan") or []
        texts = _open_lines(items) if isinstance(items, str) else _open_items(items)
        todos.update((f"list {at}", text) for at, text in enumerate(texts))


def _open_lines(checklist: str) -> list[str]:
    boxes = (_TODO_LINE.fullmatch(line.strip()) for line in checklist.splitlines())
    return [box[2] for box in boxes if box and box[1] not in ("x", "X")]


def _open_items(items: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(item.get("content") or item.get("step")) for item in items if item.get("status") != "completed"]
