"""Export the open task as text, and read conversations from files."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from roo_tui.context.history import effective_history, hidden_ids, repair
from roo_tui.domain.blocks import Message, Text
from roo_tui.domain.entries import AssistantMessage, Body, Entry, UserMessage
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.requests import ModelInfo

VIEWS = ("effective", "transcript")
EXPORT_FORMATS = ("json", "jsonl", "markdown")


def export_text(path: tuple[Entry, ...], view: str, form: str, model: ModelInfo) -> str:
    """Return the path as text: `view` is one of `VIEWS`, `form` one of `EXPORT_FORMATS`.

    `effective` is what the model gets next, `transcript` everything the user can read. `effective` as `json` is the
    next request's list of messages, in the format of the Messages API. Walks the whole path: call it off the event
    loop.

    Raises:
        ValueError: `view` or `form` is unknown.
    """
    from roo_tui.store.exchange import export

    if view not in VIEWS or form not in EXPORT_FORMATS:
        raise ValueError(f"use one of the views {', '.join(VIEWS)} and one of the formats {', '.join(EXPORT_FORMATS)}")
    if view == "transcript":
        hidden = hidden_ids(path)
        if form == "markdown":
            return export.markdown(path, hidden)
        lines = export.transcript_jsonl(path, hidden)
        return lines if form == "jsonl" else _as_list(lines)
    messages = _trimmed(repair(effective_history(path), provider=model.provider, model=model.id))
    if form == "markdown":
        return export.markdown(tuple(_as_entry(number, message) for number, message in enumerate(messages, 1)))
    plain = export.messages_json(messages)
    if form == "json":
        return json.dumps(plain, ensure_ascii=False, indent=2)
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in plain)


def _trimmed(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages without white space at the end of a final answer, which the Messages API refuses."""
    last = messages[-1] if messages else None
    if last is None or last.role == "user" or not isinstance(text := last.blocks[-1], Text):
        return messages
    return (*messages[:-1], Message(last.role, (*last.blocks[:-1], replace(text, text=text.text.rstrip()))))


def _as_list(lines: str) -> str:
    return json.dumps([json.loads(line) for line in lines.splitlines()], ensure_ascii=False, indent=2)


def _as_entry(number: int, message: Message) -> Entry:
    body = UserMessage(message.blocks) if message.role == "user" else AssistantMessage(message.blocks)
    return Entry(number, number - 1 or None, 0, body)


IMPORT_FORMATS = ("auto", "messages", "roo")


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported conversation. `times` says when each body was made (ms since the epoch); None if unknown."""

    title: str
    bodies: Sequence[Body]
    times: Sequence[int] | None = None


def read_import(path: Path, form: str) -> Imported:
    """Return a conversation: `messages` reads a JSON list of messages, `roo` a task folder of Roo Code.

    Raises:
        CommandRefused: the format is not one of `IMPORT_FORMATS`.
        ExchangeError: the file is not of this format.
    """
    from roo_tui.store.exchange import messages, roo_code

    if form not in IMPORT_FORMATS:
        raise CommandRefused(
            f"“{form}” is not a known format; use {', '.join(IMPORT_FORMATS[:-1])} or {IMPORT_FORMATS[-1]}."
        )
    title = f"Imported from {path.name}"
    if form == "roo" or (form == "auto" and roo_code.is_task(path)):
        task = roo_code.read_task(path)
        return Imported(task.title or title, task.bodies, task.times)
    return Imported(title, messages.read_messages(path))
