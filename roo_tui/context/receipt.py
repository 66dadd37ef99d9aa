"""The receipt of a condense: what the log knows and the summary does not say. No model is asked."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from roo_tui.context.summary import open_items
from roo_tui.domain.blocks import result_text, tool_results
from roo_tui.domain.entries import CallRecord, Entry, UserMessage
from roo_tui.plain_text import one_line

_ERROR = re.compile(r"\b(error|exception|failed|failure|fatal|panic|traceback|not found|denied)\b|^E\s", re.IGNORECASE)
_LONGEST_OUTPUT = 200_000


def receipt(path: Sequence[Entry], summary: str, todos: tuple[tuple[str, str], ...] = ()) -> tuple[str, ...]:
    """Return one line for each thing on the path that the summary's text does not mention.

    Looked for: files edited, the last command that failed and did not succeed since with its error line, open todo
    items.
    """
    said = _plain(summary)
    lines = [f"Edited: {file}" for file in _edited(path) if not _names(said, file)]
    if (failing := _last_failing(path)) is not None:
        command, exit_code, error = failing
        if _plain(command) not in said or (error and _plain(error) not in said):
            lines.append(f"Last failing command: {one_line(command)} (exit {exit_code}){error and ': '}{error}")
    lines += [f"Open todo item: {text}" for text, _ in open_items(todos) if _plain(text) not in said]
    return tuple(lines)


def _records(path: Sequence[Entry]) -> list[tuple[CallRecord, str]]:
    """Return each call on the path with its result's text, in order."""
    found = []
    for entry in path:
        if isinstance(entry.body, UserMessage) and entry.body.calls:
            results = {result.tool_use_id: result for result in tool_results(entry.body.blocks)}
            for record in entry.body.calls:
                result = results.get(record.call_id)
                found.append((record, result_text(result) if result else ""))
    return found


def _edited(path: Sequence[Entry]) -> list[str]:
    files: dict[str, None] = {}
    for record, _ in _records(path):
        facts = record.facts
        wrote = (facts.path,) if facts.kind in ("write", "edit") and facts.path and not facts.changed else facts.changed
        files.update(dict.fromkeys(wrote))
    return list(files)


def _last_failing(path: Sequence[Entry]) -> tuple[str, int, str] | None:
    """Return command, exit code and error line of the newest command that failed and did not succeed later."""
    succeeded: set[str] = set()
    for record, output in reversed(_records(path)):
        if record.facts.kind == "command" and record.facts.exit_code is not None:
            if record.facts.exit_code == 0:
                succeeded.add(record.facts.query)
            elif record.facts.query not in succeeded:
                return record.facts.query, record.facts.exit_code, _error_line(output)
    return None


def _error_line(output: str) -> str:
    lines = [line for line in output[-_LONGEST_OUTPUT:].splitlines() if line.strip()]
    return one_line(next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1] if lines else ""))


def _names(said: str, file: str) -> bool:
    """A file is named by its path or, because summaries shorten, by its last part."""
    name = re.escape(_plain(PurePosixPath(file).name))
    return _plain(file) in said or re.search(rf"(?<![\w.-]){name}(?![\w-])", said) is not None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
