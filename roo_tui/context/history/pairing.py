"""Tool uses and their results: where a history may be cut, which calls are open, and requests that are always valid.

The rules are those of the Messages API: the first message is the user's, roles alternate, each tool use is answered
once in the very next message, results come first there, ids are unique and plain, nothing is empty, and reasoning goes
only to the model that signed it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
    """Return a request's messages: valid for the Messages API whatever the history holds.

    Neighbours of one role are merged, tool results first. A call without result gets one that says so; a result whose
    call is not just before, or has been answered, goes as text, unless the same was told before; one under an id that
    no call has belongs to the call of its place, if nothing else answers that. Reasoning and opaque
    blocks are kept only for the `provider` and `model` they came from. A message only changes when its own turn does,
    so the beginning of a longer history stays byte for byte the same and is read from the provider's cache.

    The last message is the assistant's only where the history ends so; see `with_user_blocks`. An empty history gives
    no messages. Takes about 10 ms for 1,000 messages: call it in a thread for long histories.
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
    """Return the messages with the blocks at the end of the last user message, or in a new one after an assistant's."""
    if messages and messages[-1].role == "user":
        return (*messages[:-1], Message("user", messages[-1].blocks + blocks))
    return (*messages, Message("user", blocks))


def legal_cuts(messages: Sequence[Visible]) -> tuple[int, ...]:
    """Return the counts of leading messages after which no call is open, ascending; 0 is always among them.

    A cut never falls between a tool use and its result. A call that the assistant went on without is not open.
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

    Calls that a later assistant turn left behind are not open: nothing waits for them.
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
    """A request being built from left to right."""

    messages: list[Message] = field(default_factory=list)
    used_ids: set[str] = field(default_factory=set)
    log_ids: set[str] = field(default_factory=set)
    # The calls the last assistant message still waits for: the id in the log, and the call as it is sent.
    waiting: list[tuple[str, ToolUse]] = field(default_factory=list)
    # What results said, by the id in the log.
    told: set[tuple[str, str]] = field(default_factory=set)

    def add_assistant(self, blocks: list[Block]) -> None:
        sent = tuple(self._unique(block) if isinstance(block, ToolUse) else block for block in blocks)
        if self.messages and self.messages[-1].role == "assistant":
            self.messages[-1] = Message("assistant", self.messages[-1].blocks + sent)
        elif sent:
            if not self.messages:
                self.messages.append(Message("user", (Text(render("history/earlier_start")),)))
            self.messages.append(Message("assistant", sent))

    def add_user(self, blocks: list[Block]) -> None:
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
        """Split a user turn into the results of the calls just before, in their order of arrival, and the rest."""
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
            elif content and (block.tool_use_id, content) not in self.told:
                others.append(Text(render("history/late_result", content=content)))
            self.told.add((block.tool_use_id, content))
        return results, others

    def _by_place(self, results: list[ToolResult]) -> dict[int, str]:
        """Return the calls of results under ids that no call ever had: each that of its place, if nothing answers it.

        Source: Roo Code's repair of tool result ids.
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
        """End the assistant turn: reasoning may not be its last block, and a turn of nothing else is left out."""
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
# These have classes of their own and rules of pairing that an opaque block would escape.
_NEVER_OPAQUE = frozenset({"text", "image", "tool_use", "tool_result", "thinking"})
_USERS_OPAQUE = frozenset({"document", "search_result", "container_upload"})


def sendable(blocks: tuple[Block, ...], role: Role, provider: str, model: str) -> Iterator[Block]:
    """Yield the blocks that may be sent in this role to this model, in order; unchanged ones are the same objects.

    Left out: blank texts, blocks of the other role, unsigned reasoning, reasoning and opaque blocks of another model,
    images of a type no provider takes.
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
    """Return the id with the characters a provider refuses replaced by `_`; a plain one as it is."""
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
    arguments = _json(block.input)
    if name is block.name and arguments is block.input:
        return block
    return replace(block, name=name, input=arguments)


def _result(block: ToolResult) -> ToolResult:
    """Return the result as it may be sent: an error is text only and says something."""
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


def _json(value: Any) -> Any:
    """Return the value as JSON can hold it: no lone surrogates, no NaN or infinity; unchanged ones as they are."""
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
