"""From tagged messages to our log and back, in a form that compares contents, roles and visibility."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.history.pairing import repair, with_user_blocks
from roo_tui.domain.blocks import Block, Message, Text
from roo_tui.domain.entries import Body, Entry
from roo_tui.store.exchange.export import messages_json
from roo_tui.store.exchange.roo_code import from_tagged
from tests.support.api_rules import violations

Json = Mapping[str, Any]
TAGS = ("condenseParent", "truncationParent", "isSummary", "condenseId", "isTruncationMarker", "truncationId")


@dataclass(frozen=True)
class Plain:
    """A message to compare: role, kind (`message`, `summary`, `truncation`) and blocks as JSON values."""

    role: str
    blocks: tuple[Any, ...]
    kind: str = "message"


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


def untagged(messages: Sequence[Json]) -> list[dict[str, Any]]:
    """Return the messages without tags, for functions that do not look at them."""
    return [{key: value for key, value in message.items() if key not in TAGS} for message in messages]


def plain(message: Json) -> Plain:
    """Return a recorded message."""
    kind = "summary" if message.get("isSummary") else "truncation" if message.get("isTruncationMarker") else "message"
    return Plain(message["role"], plain_blocks(message["content"]), kind)


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


def plain_blocks(content: Any) -> tuple[Any, ...]:
    """Return a content as blocks that compare equal where the Messages API reads the same in them."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    return tuple(_plain_block(block) for block in content) if isinstance(content, list) else ()


def _plain_block(block: Any) -> Any:
    if not isinstance(block, Mapping) or block.get("type") != "tool_result":
        return block
    content = block.get("content")
    parts = [_plain_block(part) for part in content] if isinstance(content, list) else content or ""
    result = {"type": "tool_result", "tool_use_id": block.get("tool_use_id"), "content": parts or ""}
    return {**result, "is_error": True} if block.get("is_error") else result


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
