"""Pairs of tool uses and results: repair requests, find legal cuts and open calls.

The rules are those of the Messages API: the first message is the user's, roles alternate, each tool use has one result
in the very next message, results come first there, ids are unique and plain, nothing is empty, and reasoning goes only
to the model that signed it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from roo_tui.context.history.effective import Visible
from roo_tui.domain.blocks import (
    Block,
    Image,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    result_text,
    tool_results,
    tool_uses,
)
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render


def repair(messages: Sequence[Visible], *, provider: str = "", model: str = "") -> tuple[Message, ...]:
    """Return the messages of a request that is valid for the Messages API, whatever the history holds.

    Neighbours of one role are merged, tool results first. A call without a result gets one that says so. A result
    becomes text if its call is not in the message before or has a result already; it is dropped if the same text was
    sent before. A result with an id that no call ever had goes to the call at the same position, if that has no other
    result. Reasoning and opaque blocks are kept only for the `provider` and `model` they came from. A message depends
    only on its own turn and earlier ones, so the beginning of a growing history stays the same, byte for byte, and is
    read from the provider's cache.

    The last message is the assistant's if the history ends with one; see `with_user_blocks`. An empty history gives no
    messages. Takes about 10 ms for 1,000 messages, so call it in a thread for long histories.
    """
    building = _Building()
    at = 0
    while at < len(messages):
        role: Role = messages[at].role
        blocks: list[Block] = []
        while at < len(messages) and messages[at].role == role:
            blocks.extend(sendable(messages[at].blocks, role, provider, model))
            at += 1
        if role == "assistant":
            building.add_assistant(blocks)
        else:
            building.add_user(blocks)
    return building.finished()


def with_user_blocks(messages: Sequence[Message], blocks: tuple[Block, ...]) -> tuple[Message, ...]:
    """Return the messages with the blocks appended to the last message if it is the user's, else in a new one."""
    if messages and messages[-1].role == "user":
        return (*messages[:-1], Message("user", messages[-1].blocks + blocks))
    return (*messages, Message("user", blocks))


def legal_cuts(messages: Sequence[Visible]) -> tuple[int, ...]:
    """Return the counts of leading messages after which no call is open, ascending and starting with 0.

    A cut never separates a tool use from its result. A call is no longer open once the assistant went on without it.
    """
    cuts = [0]
    open_ids: list[str] = []
    last_role = "user"
    for count, message in enumerate(messages, start=1):
        if message.role == "assistant":
            if last_role == "user":
                open_ids = []
            open_ids.extend(call.id for call in tool_uses(message.blocks))
        else:
            for result in tool_results(message.blocks):
                if result.tool_use_id in open_ids:
                    open_ids.remove(result.tool_use_id)
        last_role = message.role
        if not open_ids:
            cuts.append(count)
    return tuple(cuts)


def open_calls(path: Sequence[Entry]) -> list[ToolUse]:
    """Return the calls of the newest assistant turn that have no result on the path, in order.

    Calls of an earlier assistant turn are never open, because nothing waits for their results.
    """
    calls: list[ToolUse] = []
    answered: list[str] = []
    in_turn = False
    for entry in reversed(path):
        body = entry.body
        if isinstance(body, AssistantMessage) and body.blocks:
            in_turn = True
            calls[:0] = tool_uses(body.blocks)
        elif isinstance(body, UserMessage) and body.blocks:
            if in_turn:
                break
            answered.extend(result.tool_use_id for result in tool_results(body.blocks))
    waiting = []
    for call in calls:
        if call.id in answered:
            answered.remove(call.id)
        else:
            waiting.append(call)
    return waiting


@dataclass
class _Building:
    """A request that is built from left to right."""

    messages: list[Message] = field(default_factory=list)
    used_ids: set[str] = field(default_factory=set)
    log_ids: set[str] = field(default_factory=set)
    # The calls of the last assistant message that have no result yet: the id in the log, and the call to send.
    waiting: list[tuple[str, ToolUse]] = field(default_factory=list)
    # The results sent so far: the id in the log, and the text.
    sent_results: set[tuple[str, str]] = field(default_factory=set)

    def add_assistant(self, blocks: list[Block]) -> None:
        """Add the blocks of an assistant turn."""
        sent = tuple(self._unique(block) if isinstance(block, ToolUse) else block for block in blocks)
        if self.messages and self.messages[-1].role == "assistant":
            self.messages[-1] = Message("assistant", self.messages[-1].blocks + sent)
        elif sent:
            if not self.messages:
                self.messages.append(Message("user", (Text(render("history/earlier_start")),)))
            self.messages.append(Message("assistant", sent))

    def add_user(self, blocks: list[Block]) -> None:
        """Add the blocks of a user turn: results for the open calls first, then the rest."""
        results, others = self._matched(blocks)
        if not results and not others:
            return
        self._close_assistant()
        results.extend(self._missing())
        found = (*results, *others)
        if self.messages and self.messages[-1].role == "user":
            self.messages[-1] = Message("user", self.messages[-1].blocks + found)
        else:
            self.messages.append(Message("user", found))

    def finished(self) -> tuple[Message, ...]:
        """Return the messages, with a result for every call that is still open."""
        self._close_assistant()
        if missing := self._missing():
            self.messages.append(Message("user", tuple(missing)))
        return tuple(self.messages)

    def _unique(self, call: ToolUse) -> ToolUse:
        wanted = plain_id(call.id)
        sent_id, count = wanted, 1
        while sent_id in self.used_ids:
            count += 1
            sent_id = f"{wanted}_{count}"
        self.used_ids.add(sent_id)
        self.log_ids.add(call.id)
        sent = call if sent_id == call.id else replace(call, id=sent_id)
        self.waiting.append((call.id, sent))
        return sent

    def _matched(self, blocks: list[Block]) -> tuple[list[Block], list[Block]]:
        """Return the results of the open calls, in their order of arrival, and all other blocks of a user turn."""
        results: list[Block] = []
        others: list[Block] = []
        by_place = self._by_place([block for block in blocks if isinstance(block, ToolResult)])
        for block in blocks:
            if not isinstance(block, ToolResult):
                others.append(block)
                continue
            content = result_text(block).strip()
            log_id = by_place.get(id(block), block.tool_use_id)
            place = next((at for at, (waiting_id, _) in enumerate(self.waiting) if waiting_id == log_id), None)
            if place is not None:
                _, call = self.waiting.pop(place)
                results.append(block if call.id == block.tool_use_id else replace(block, tool_use_id=call.id))
            elif content and (block.tool_use_id, content) not in self.sent_results:
                others.append(Text(render("history/late_result", content=content)))
            self.sent_results.add((block.tool_use_id, content))
        return results, others

    def _by_place(self, results: list[ToolResult]) -> dict[int, str]:
        """Return the open call at the same position for each result whose id no call ever had, by the result's `id()`.

        A call that has a result of its own is left out. Source: Roo Code's repair of tool result ids.
        """
        ids = {result.tool_use_id for result in results}
        return {
            id(result): call_id
            for result, (call_id, _) in zip(results, self.waiting, strict=False)
            if result.tool_use_id not in self.log_ids and call_id not in ids
        }

    def _missing(self) -> list[Block]:
        missing: list[Block] = [
            ToolResult(call.id, render("history/missing_result"), is_error=True) for _, call in self.waiting
        ]
        self.waiting = []
        return missing

    def _close_assistant(self) -> None:
        """End the assistant turn. Reasoning may not be its last block; a turn with nothing else is removed."""
        if not self.messages or self.messages[-1].role != "assistant":
            return
        blocks = list(self.messages[-1].blocks)
        while blocks and _is_reasoning(blocks[-1]):
            blocks.pop()
        if blocks:
            self.messages[-1] = Message("assistant", tuple(blocks))
        else:
            self.messages.pop()


def _is_reasoning(block: Block) -> bool:
    return isinstance(block, Thinking) or (
        isinstance(block, Opaque) and block.payload.get("type") == "redacted_thinking"
    )


IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})

_ODD_IN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_PLAIN_ID = re.compile(r"[a-zA-Z0-9_-]+")
_PLAIN_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
# These have their own classes, and an opaque block would escape the rules of pairing.
_NEVER_OPAQUE = frozenset({"text", "image", "tool_use", "tool_result", "thinking"})
_USERS_OPAQUE = frozenset({"document", "search_result", "container_upload"})


def sendable(blocks: tuple[Block, ...], role: Role, provider: str, model: str) -> Iterator[Block]:
    """Yield the blocks that may be sent in this role to this model, in order; an unchanged block is the same object.

    Left out are blank texts, blocks of the other role, unsigned reasoning, reasoning and opaque blocks of another
    model, and images of a type that no provider accepts.
    """
    for block in blocks:
        match block:
            case Text():
                if not _is_blank(block.text):
                    yield _with_text(block)
            case Image():
                if role == "user" and _is_image(block):
                    yield block
            case ToolUse():
                if role == "assistant":
                    yield _call(block)
            case ToolResult():
                if role == "user":
                    yield _result(block)
            case Thinking():
                if role == "assistant" and block.signature and _is_of(block, provider, model):
                    yield block
            case Opaque():
                kind = block.payload.get("type")
                fits = (kind in _USERS_OPAQUE) == (role == "user") and kind not in _NEVER_OPAQUE
                if isinstance(kind, str) and fits and _is_of(block, provider, model):
                    yield block


def plain_id(call_id: str) -> str:
    """Return the id with every character that providers refuse replaced by `_`."""
    return call_id if _PLAIN_ID.fullmatch(call_id) else _ODD_IN_ID.sub("_", call_id) or "call"


def _is_of(block: Thinking | Opaque, provider: str, model: str) -> bool:
    return bool(model) and (block.provider, block.model) == (provider, model)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _is_image(block: Image) -> bool:
    return bool(block.data) and block.media_type in IMAGE_TYPES


def _with_text(block: Text) -> Text:
    text = well_formed(block.text)
    return block if text is block.text else Text(text)


def _call(block: ToolUse) -> ToolUse:
    name = block.name if _PLAIN_NAME.fullmatch(block.name) else _ODD_IN_ID.sub("_", block.name)[:128] or "unknown"
    arguments = cast("Mapping[str, object]", _json(block.input))
    if name is block.name and arguments is block.input:
        return block
    return replace(block, name=name, input=arguments)


def _result(block: ToolResult) -> ToolResult:
    """Return the result in a form that may be sent: an error has text only and is never empty."""
    content: str | tuple[Text | Image, ...]
    if isinstance(block.content, str):
        content = well_formed(block.content)
    else:
        parts = (_part(part, block.is_error) for part in block.content)
        content = tuple(part for part in parts if part is not None)
        if len(content) == len(block.content) and all(
            new is old for new, old in zip(content, block.content, strict=True)
        ):
            content = block.content
    if block.is_error and (not content or (isinstance(content, str) and _is_blank(content))):
        content = render("history/empty_error")
    elif not content:
        content = ""
    return block if content is block.content else replace(block, content=content)


def _part(part: Text | Image, is_error: bool) -> Text | Image | None:
    if isinstance(part, Text):
        return None if _is_blank(part.text) else _with_text(part)
    return part if _is_image(part) and not is_error else None


def _json(value: object) -> object:
    """Return the value without lone surrogates, NaN or infinity; if nothing changes, the same object."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        pairs = {well_formed(str(key)): _json(item) for key, item in value.items()}
        same = all(key in pairs and pairs[key] is item for key, item in value.items())
        return value if same else pairs
    if isinstance(value, list | tuple):
        items = [_json(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
