"""Build logs the way an engine would, in a line per fact, and save and load them as plain data."""

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import Log
from roo_tui.domain import blocks as block_types
from roo_tui.domain import entries as entry_types
from roo_tui.domain import markers as marker_types
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallRecord, Entry, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense
from roo_tui.domain.usage import Usage

_CLASSES = {
    kind.__name__: kind
    for module in (block_types, entry_types, marker_types)
    for kind in vars(module).values()
    if isinstance(kind, type) and is_dataclass(kind)
} | {"Usage": Usage}


class History:
    """A log under construction. Each method appends one entry and returns its id; entries are a second apart."""

    def __init__(self) -> None:
        self.log = Log()

    @property
    def path(self) -> tuple[Entry, ...]:
        return self.log.path()

    def add(self, body: Body) -> EntryId:
        entry_id = max((entry.id for entry in self.log.entries), default=0) + 1
        self.log.add([Entry(entry_id, self.log.head, entry_id * 1000, body)])
        return entry_id

    def user(self, message: str) -> EntryId:
        return self.add(UserMessage((Text(message),), words=message))

    def answer(self, *texts: str, usage: Usage | None = None) -> EntryId:
        return self.add(AssistantMessage(tuple(Text(text) for text in texts), usage=usage))

    def call(self, *calls: str, text: str = "") -> EntryId:
        """Append an answer that makes calls; each is written `id` or `id:tool`."""
        uses = [
            ToolUse(call.partition(":")[0], call.partition(":")[2] or "read_file", {"path": "a.py"}) for call in calls
        ]
        blocks: tuple[Block, ...] = (Text(text), *uses) if text else tuple(uses)
        return self.add(AssistantMessage(blocks))

    def result(self, *results: str, content: str = "done") -> EntryId:
        """Append the results of calls, by id."""
        calls = tuple(CallRecord(call_id, "read_file") for call_id in results)
        blocks = tuple(ToolResult(call_id, content) for call_id in results)
        return self.add(UserMessage(blocks, source="tools", calls=calls))

    def condense(self, summary: str = "what was done", *, keep: int = 0) -> EntryId:
        """Append a condense of everything visible but the newest `keep` messages."""
        visible = effective_history(self.path)
        hides = tuple(message.entry_id for message in visible[: len(visible) - keep])
        return self.add(Condense(hides, (Text(summary),)))

    def texts(self) -> list[str]:
        """Return what the model sees, one string a message."""
        return [_as_text(message.blocks) for message in effective_history(self.path)]


def _as_text(blocks: Sequence[Block]) -> str:
    return " ".join(
        block.text
        if isinstance(block, Text)
        else f"<{block.id}>"
        if isinstance(block, ToolUse)
        else f"<result {block.tool_use_id}: {block.content}>"
        if isinstance(block, ToolResult)
        else block.type
        for block in blocks
    )


def saved(entries: Sequence[Entry]) -> str:
    """Return the entries as JSON, as plain data of their dataclasses."""
    return json.dumps([_plain(entry) for entry in entries])


def loaded(text: str) -> list[Entry]:
    """Return the entries that `saved` wrote."""
    return [_value(entry) for entry in json.loads(text)]


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        pairs = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"class": type(value).__name__, "fields": pairs}
    if isinstance(value, dict):
        return {"map": {key: _plain(item) for key, item in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_plain(item) for item in value]}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _value(data: Any) -> Any:
    match data:
        case {"class": name, "fields": pairs}:
            return _CLASSES[name](**{key: _value(item) for key, item in pairs.items()})
        case {"map": pairs}:
            return {key: _value(item) for key, item in pairs.items()}
        case {"tuple": items}:
            return tuple(_value(item) for item in items)
        case list():
            return [_value(item) for item in data]
    return data
