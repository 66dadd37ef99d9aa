"""Facts read from the log without a model: calls and results, files, commands, todo lists, typed messages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from roo_tui.domain.blocks import Block, Text, ToolUse, plain_text_of, result_text, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, CallRecord, Entry, TodosChanged, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render

_ERROR = re.compile(r"\b(error|exception|failed|failure|fatal|panic|traceback|not found|denied)\b|^E\s", re.IGNORECASE)
_LONGEST_OUTPUT = 200_000
_LONGEST_LINE = 400
_ADDED = ("<environment_details>", "<system-reminder>")
# Beginnings of messages in the user role that Claude Code and Codex write themselves.
_PROGRAMS = re.compile(
    r"\s*(?:<(?:local-command|command-(?:name|message)|turn_aborted|permissions instructions|environment_context"
    r"|user_instructions|app-context|task-notification|bash-)|\[Request interrupted|Caveat: )"
)
_CHECKBOX = re.compile(r"\s*(?:[-*+]|\d+[.)])?\s*\[([ xX~-]?)\]\s*(\S.*)")
_BOXES = {"x": "done", "X": "done", "-": "in_progress", "~": "in_progress"}
_STATES = {"completed": "done", "done": "done", "in_progress": "in_progress"}


@dataclass(frozen=True, slots=True)
class Call:
    """One finished call: the entries of its result and of the call itself, its record, and the result's text.

    `call_entry_id` is that of the result if the log does not have the call.
    """

    entry_id: EntryId
    call_entry_id: EntryId
    record: CallRecord
    output: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class FailedCommand:
    """A command that failed and has not succeeded since. `exit_code` is None if only the failure is known."""

    entry_id: EntryId
    command: str
    exit_code: int | None
    error_line: str


def calls_of(path: Sequence[Entry]) -> Iterator[Call]:
    """Yield the finished calls of a path, oldest first."""
    made: dict[str, EntryId] = {}
    for entry in path:
        if isinstance(entry.body, AssistantMessage):
            made.update({use.id: entry.id for use in tool_uses(entry.body.blocks)})
        elif isinstance(entry.body, UserMessage) and entry.body.calls:
            results = {result.tool_use_id: result for result in tool_results(entry.body.blocks)}
            for record in entry.body.calls:
                result = results.get(record.call_id)
                output, is_error = (result_text(result), result.is_error) if result else ("", False)
                yield Call(entry.id, made.get(record.call_id, entry.id), record, output, is_error)


def changed_files(call: Call) -> tuple[str, ...]:
    """Return the paths of the files that a call wrote."""
    facts = call.record.facts
    if facts.kind in ("write", "edit") and facts.path and not facts.changed and not call.is_error:
        return (facts.path,)
    return facts.changed


def edited_files(path: Sequence[Entry]) -> list[str]:
    """Return the files written on a path, each once, in the order of their first change."""
    return list(dict.fromkeys(file for call in calls_of(path) for file in changed_files(call)))


def failed(call: Call) -> bool:
    """Return whether a call is a command that did not succeed."""
    if call.record.facts.kind != "command" or not call.record.facts.query:
        return False
    exit_code = call.record.facts.exit_code
    return call.is_error and not call.record.synthetic if exit_code is None else exit_code != 0


def last_failure(path: Sequence[Entry]) -> FailedCommand | None:
    """Return the newest command that failed and has not succeeded since, None if there is none."""
    succeeded: set[str] = set()
    for call in reversed(list(calls_of(path))):
        facts = call.record.facts
        if facts.kind != "command":
            continue
        if not failed(call):
            succeeded.add(facts.query)
        elif facts.query not in succeeded:
            return FailedCommand(call.entry_id, facts.query, facts.exit_code, error_line(call.output))
    return None


def failure_words(exit_code: int | None) -> str:
    """Return the phrase for a command's failure, with its exit code if known."""
    return render("ledger/failed") if exit_code is None else render("ledger/exit", code=exit_code)


def error_line(output: str) -> str:
    """Return the last line of an output that looks like an error, or the last line if none does."""
    lines = [line for line in output[-_LONGEST_OUTPUT:].splitlines() if line.strip()]
    found = next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1] if lines else "")
    return one_line(found, _LONGEST_LINE)


def typed_messages(path: Sequence[Entry]) -> list[tuple[EntryId, str]]:
    """Return (entry id, message) for each message the user typed on a path, oldest first, without added context."""
    found = []
    for entry in path:
        body = entry.body
        if isinstance(body, UserMessage) and body.source in ("typed", "import"):
            message = body.words
            if not message and not (body.source == "import" and tool_results(body.blocks)):
                message = _without_added(body.blocks)
            if message.strip():
                found.append((entry.id, message))
    return found


def _without_added(blocks: Sequence[Block]) -> str:
    """Return the text of the blocks without environment details, and without a program's if there are others."""
    texts = tuple(block for block in blocks if not _is_added(block))
    own = tuple(block for block in texts if isinstance(block, Text) and not is_added(block.text))
    return plain_text_of(own) if plain_text_of(own).strip() else plain_text_of(texts)


def is_added(message: str) -> bool:
    """Return whether a program wrote this message in the user role."""
    return _PROGRAMS.match(message) is not None


def todos_of(path: Sequence[Entry]) -> tuple[tuple[str, str], ...]:
    """Return the todo list in force as (text, state) pairs. In an imported log, it comes from the last todo call.

    Sources: the todo tools of Roo Code (a Markdown checklist), Claude Code (`todos`) and Codex (`plan`).
    """
    todo_calls = {
        record.call_id
        for entry in path
        if isinstance(entry.body, UserMessage)
        for record in entry.body.calls
        if record.facts.kind == "todo"
    }
    for entry in reversed(path):
        if isinstance(entry.body, TodosChanged):
            return entry.body.items
        if isinstance(entry.body, AssistantMessage):
            for call in reversed(tool_uses(entry.body.blocks)):
                if call.id in todo_calls and (items := _items(call)) is not None:
                    return items
    return ()


def _items(call: ToolUse) -> tuple[tuple[str, str], ...] | None:
    for name in ("todos", "plan"):
        value = call.input.get(name)
        if isinstance(value, str):
            found = (_CHECKBOX.fullmatch(line) for line in value.splitlines())
            return tuple((one_line(match[2], 500), _BOXES.get(match[1], "pending")) for match in found if match)
        if isinstance(value, list | tuple):
            return tuple(item for given in value if isinstance(given, Mapping) and (item := _item(given)))
    return None


def _item(given: Mapping[str, object]) -> tuple[str, str] | None:
    texts = (given.get(name) for name in ("content", "step", "text"))
    text = next((text for text in texts if isinstance(text, str)), "")
    return (one_line(text, 500), _STATES.get(str(given.get("status")), "pending")) if text.strip() else None


def _is_added(block: object) -> bool:
    return getattr(block, "text", "").lstrip().startswith(_ADDED)
