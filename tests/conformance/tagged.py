"""From tagged messages to our log and back, in a form that compares contents, roles and visibility."""

from collections.abc import Iterable, Sequence
from typing import Any

from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.history.pairing import repair, with_user_blocks
from roo_tui.domain.blocks import Block, Message, Text
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.markers import Condense, Truncation
from roo_tui.store.exchange.export import messages_json
from roo_tui.store.exchange.roo_code import from_tagged
from tests.conformance.histories import Json, Plain, plain, plain_blocks
from tests.support.api_rules import violations
from tests.support.tagged_export import to_tagged

TAGS = ("condenseParent", "truncationParent", "isSummary", "condenseId", "isTruncationMarker", "truncationId")


def log_of(messages: Sequence[Json], events: Sequence[Json] = ()) -> Log:
    """Return the log that importing these messages makes."""
    log = Log()
    for body, at_ms in from_tagged(messages, events):
        append(log, body, at_ms)
    return log


def append(log: Log, body: Body, at_ms: int) -> Entry:
    """Append one body, as the engine's task does."""
    entry = Entry(len(log.entries) + 1, log.head, at_ms, body)
    log.add([entry])
    return entry


def tagged_whole(path: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return a path as tagged messages; nothing here ever switches a marker off, so all of them are on."""
    markers = {entry.id: entry.body for entry in path if isinstance(entry.body, Condense | Truncation)}
    return to_tagged(path, markers)


def untagged(messages: Sequence[Json]) -> list[dict[str, Any]]:
    """Return the messages without tags, for functions that do not look at them."""
    return [{key: value for key, value in message.items() if key not in TAGS} for message in messages]


def plain_all(messages: Iterable[Json]) -> list[Plain]:
    return [plain(message) for message in messages]


def of_visible(visible: Iterable[Visible]) -> list[Plain]:
    """Return our effective history."""
    kinds = {"entry": "message", "summary": "summary", "truncation": "truncation"}
    return [Plain(one.role, json_of(one.blocks), kinds[one.source]) for one in visible]


def of_request(messages: Iterable[Message]) -> list[Plain]:
    """Return the messages of one of our requests."""
    return [Plain(message.role, json_of(message.blocks)) for message in messages]


def json_of(blocks: tuple[Block, ...]) -> tuple[Any, ...]:
    (message,) = messages_json([Message("user", blocks)])
    return plain_blocks(message["content"])


def sent(visible: Sequence[Visible]) -> list[Plain]:
    """Return the messages of the request made of an effective history."""
    return of_request(repair(visible))


def next_request(visible: Sequence[Visible]) -> tuple[Message, ...]:
    """Return the request that would be sent next: the repaired history, ended by a user's message."""
    messages = repair(visible)
    if not messages or messages[-1].role != "user":
        messages = with_user_blocks(messages, (Text("Go on."),))
    return messages


def refusals(messages: Sequence[Json]) -> list[str]:
    """Return what a provider would refuse in the request made of these tagged messages."""
    return violations(next_request(effective_history(log_of(messages).path())))
