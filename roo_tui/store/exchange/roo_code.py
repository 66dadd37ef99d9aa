"""Read Roo Code's task folders as entry bodies.

`api_conversation_history.json` is a list of messages from which nothing is deleted. Summaries and truncation markers
are messages in it, and the messages that one of them hides carry its id:

    isSummary, condenseId               condenseParent      a condense
    isTruncationMarker, truncationId    truncationParent    a truncation

A summary hides everything before it. A truncation marker is where the hidden messages were, which does not tell when it
was made. That is in `ui_messages.json`, the list of what the user saw, as an event with the marker's id.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roo_tui.domain.blocks import Block, Opaque, Text, ToolUse, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, Body, Unknown, UserMessage
from roo_tui.domain.errors import ExchangeError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Reduction, Truncation
from roo_tui.plain_text import one_line
from roo_tui.store.exchange.messages import block_of, read_json, record_of, typed_text

MESSAGES_FILE = "api_conversation_history.json"
EVENTS_FILE = "ui_messages.json"

_TITLE_LENGTH = 80
# Roo Code's tags around the user's message.
_WRAPPER = re.compile(r"</?(?:task|user_message|feedback|answer)>")
# Before native tool calls, Roo Code sent results as text below such a line.
_RESULT_AS_TEXT = re.compile(r"\[[a-z_]+\b[^\n]*\] Result:")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RooTask:
    """An imported task: its bodies in the order in which they were made, and the time of each (ms since 1970).

    The entry ids in markers count the bodies from 1.
    """

    title: str
    bodies: tuple[Body, ...]
    times: tuple[int, ...]


def is_task(path: Path) -> bool:
    """Say whether a path is a Roo Code task folder, or the messages file in one."""
    return _file(path, MESSAGES_FILE) is not None


def read_task(path: Path) -> RooTask:
    """Return the task in a folder; `path` may also be the messages file in it. Each file may be gzip-compressed.

    Without `ui_messages.json`, markers keep their place among the messages. Messages of unknown kinds are kept, but
    never sent.

    Raises:
        ExchangeError: there is no such file, or it cannot be read or is not a list of messages.
    """
    messages_file = _file(path, MESSAGES_FILE)
    if messages_file is None:
        raise ExchangeError(f"{path} is not a Roo Code task because it has no {MESSAGES_FILE}; nothing was imported.")
    messages = _list(messages_file)
    if not messages:
        raise ExchangeError(f"{messages_file} contains no messages; there is nothing to import.")
    events_file = _file(path, EVENTS_FILE)
    events = _list(events_file) if events_file else []
    timed = from_tagged(messages, events)
    return RooTask(_title(events, timed), tuple(body for body, _ in timed), tuple(at_ms for _, at_ms in timed))


def from_tagged(messages: Sequence[Json], events: Sequence[Json] = ()) -> list[tuple[Body, int]]:
    """Return Roo Code's tagged messages as bodies with their times, in the order in which they were made.

    `events` are the messages of the user interface. A truncation marker hides the visible messages that carry its id, a
    summary all visible messages before it. Tags that name no marker hide nothing.
    """
    items = _items(messages, _Events(events))
    items.sort(key=lambda item: (item.made_after, item.kind != "message", item.at_ms))
    calls: dict[str, ToolUse] = {}
    visible: dict[EntryId, _Item] = {}
    timed: list[tuple[Body, int]] = []
    for entry_id, item in enumerate(items, start=1):
        hides = [earlier_id for earlier_id, earlier in visible.items() if item.takes(earlier)]
        for hidden_id in hides:
            del visible[hidden_id]
        visible[entry_id] = item
        timed.append((_body(item, tuple(hides), calls), item.at_ms))
    return timed


@dataclass(slots=True)
class _Item:
    """One message of the list. `made_after` is the position of the last message that existed when it was made."""

    position: int
    message: Json
    kind: str
    at_ms: int
    event: Json = field(default_factory=dict)
    made_after: int = 0
    cost_usd: float | None = None

    @property
    def id(self) -> str:
        """The id of a marker, carried by the messages it hides; empty for other messages."""
        return str(self.message.get("condenseId" if self.kind == "summary" else "truncationId") or "")

    def takes(self, earlier: "_Item") -> bool:
        """Say whether this item hides a message that was visible when it was made."""
        if self.kind == "summary":
            return earlier.position < self.position
        return self.kind == "truncation" and bool(self.id) and earlier.message.get("truncationParent") == self.id


class _Events:
    """The events of the user interface: when markers were made, with their figures, and what requests cost."""

    def __init__(self, events: Sequence[Json]) -> None:
        self._condenses: dict[str, Json] = {}
        self._truncations: dict[str, Json] = {}
        # If a provider's error forced a condense, its event has no id.
        self._nameless: list[Json] = []
        self._costs: list[tuple[int, float]] = []
        for event in events:
            if not isinstance(event, Mapping):
                continue
            figures = event.get("contextCondense") or event.get("contextTruncation")
            if event.get("say") == "api_req_started":
                self._add_cost(event)
            elif event.get("partial") is True or not isinstance(figures, Mapping):
                continue
            elif truncation_id := figures.get("truncationId"):
                self._truncations.setdefault(str(truncation_id), event)
            elif condense_id := figures.get("condenseId"):
                self._condenses.setdefault(str(condense_id), event)
            elif event.get("contextCondense"):
                self._nameless.append(event)

    def of(self, item: _Item) -> Json:
        """Return the event of a marker, empty if there is none."""
        if item.kind == "truncation":
            return self._truncations.get(item.id, {})
        if item.id in self._condenses:
            return self._condenses[item.id]
        later = (event for event in self._nameless if _time(event) >= item.at_ms)
        return next(later, {})

    def cost(self, after_ms: int, until_ms: int) -> float | None:
        """Return the cost of the requests that began in this period, None if it is unknown."""
        costs = [cost for at_ms, cost in self._costs if after_ms < at_ms <= until_ms]
        return sum(costs) if costs else None

    def _add_cost(self, event: Json) -> None:
        try:
            request = json.loads(event.get("text") or "{}")
        except (ValueError, TypeError):
            return
        cost = request.get("cost") if isinstance(request, dict) else None
        if isinstance(cost, int | float) and not isinstance(cost, bool):
            self._costs.append((_time(event), float(cost)))


def _items(messages: Sequence[Json], events: _Events) -> list[_Item]:
    items: list[_Item] = []
    now = answered = 0
    for position, message in enumerate(messages):
        message = message if isinstance(message, Mapping) else {"value": message}
        kind = "message"
        if message.get("isSummary"):
            kind = "summary"
        elif message.get("isTruncationMarker"):
            kind = "truncation"
        item = _Item(position, message, kind, _time(message) or now)
        if kind == "message":
            now = max(now, item.at_ms)
            if message.get("role") == "assistant":
                item.cost_usd, answered = events.cost(answered, item.at_ms), item.at_ms
        else:
            item.event = events.of(item)
            item.at_ms = _time(item.event) or item.at_ms
        items.append(item)
    for item in items:
        item.made_after = item.position if item.kind == "message" else _made_after(item, items)
    return items


def _made_after(marker: _Item, items: Sequence[_Item]) -> int:
    """Return the position of the last message that existed when a marker was made.

    A marker was made after everything it hides, after the messages older than its event, and before the summary that
    hides it. A truncation was made after every other summary, since a summary hides every marker there is.
    """
    by_condense_id = {item.id: item for item in items if item.kind == "summary" and item.id}
    taken_by = by_condense_id.get(str(marker.message.get("condenseParent")))
    end = taken_by.position if taken_by and taken_by.position > marker.position else len(items)
    event_ms, truncates = _time(marker.event), marker.kind == "truncation"
    return max(
        (
            item.position
            for item in items[:end]
            if item.position < marker.position
            or (item.kind == "message" and item.at_ms < event_ms)
            or (truncates and item.kind == "summary")
            or (truncates and marker.id and item.message.get("truncationParent") == marker.id)
        ),
        default=0,
    )


def _body(item: _Item, hides: tuple[EntryId, ...], calls: dict[str, ToolUse]) -> Body:
    """Return one message as a body. `calls` has the calls so far by id; the calls of this message are added."""
    message = item.message
    if message.get("role") not in ("user", "assistant") or not isinstance(message.get("content"), str | list):
        return Unknown(dict(message))
    if item.kind == "truncation":
        return Truncation(hides, _figures(item.event.get("contextTruncation"), "sliding window"))
    blocks = tuple(_blocks(message["content"]))
    if item.kind == "summary":
        return Condense(hides, blocks, _figures(item.event.get("contextCondense"), "native"))
    if message["role"] == "assistant":
        calls.update((call.id, call) for call in tool_uses(blocks))
        return AssistantMessage(blocks, cost_usd=item.cost_usd)
    records = tuple(record_of(result, calls.get(result.tool_use_id)) for result in tool_results(blocks))
    if blocks and isinstance(blocks[0], Text) and _RESULT_AS_TEXT.match(blocks[0].text):
        return UserMessage(blocks, source="tools")
    return UserMessage(blocks, words=_WRAPPER.sub("", typed_text(blocks)).strip(), source="import", calls=records)


def _blocks(content: str | list[Any]) -> Iterator[Block]:
    if isinstance(content, str):
        yield Text(content)
        return
    for block in content:
        try:
            yield block_of(block)
        except (KeyError, AttributeError):
            yield Opaque("", "", block if isinstance(block, dict) else {"value": block})


def _figures(figures: object, strategy: str) -> Reduction:
    if not isinstance(figures, Mapping):
        return Reduction(strategy=strategy)
    after = figures.get("newContextTokens")
    cost = figures.get("cost")
    return Reduction(
        strategy=strategy,
        tokens_before=_whole(figures.get("prevContextTokens")),
        tokens_after=_whole(after),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
    )


def _title(events: Sequence[Any], timed: Sequence[tuple[Body, int]]) -> str:
    first = events[0].get("text") if events and isinstance(events[0], Mapping) else None
    if not isinstance(first, str) or not first.strip():
        first = next((body.words for body, _ in timed if isinstance(body, UserMessage) and body.words), "")
    return one_line(first, _TITLE_LENGTH)


def _file(path: Path, name: str) -> Path | None:
    """Return the file of this name in a task folder, compressed or not; `path` may also be the messages file."""
    folder = path.parent if path.name.removesuffix(".gz") == MESSAGES_FILE else path
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


def _list(file: Path) -> list[Any]:
    found = read_json(file)
    if not isinstance(found, list):
        raise ExchangeError(f"{file} does not contain a list; nothing was imported.")
    return found


def _time(message: Json) -> int:
    return _whole(message.get("ts"))


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
