"""Export formats: a transcript as JSON, JSON Lines or Markdown, and messages as the Messages API takes them."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias, assert_never

from roo_tui.domain.blocks import (
    Block,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    result_text,
)
from roo_tui.domain.entries import (
    Answered,
    AssistantMessage,
    CallStarted,
    Checkpoint,
    Entry,
    Noted,
    Pinned,
    TodosChanged,
    Unknown,
    UserMessage,
)
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Reduction, Toggle, Truncation
from roo_tui.plain_text import clean, one_line
from roo_tui.store.codec import encode

JsonObject: TypeAlias = dict[str, Any]

_TICKS = re.compile("`{3,}")
_BOXES = {"pending": "[ ]", "in_progress": "[-]", "done": "[x]"}


def transcript_jsonl(entries: Iterable[Entry], hidden: Collection[EntryId] = frozenset()) -> str:
    """Return one line of JSON per entry: `id`, `parent_id`, `at_ms`, `hidden`, and `body` as it is stored."""
    lines = []
    for entry in entries:
        head = {"id": entry.id, "parent_id": entry.parent_id, "at_ms": entry.at_ms, "hidden": entry.id in hidden}
        lines.append(f'{json.dumps(head)[:-1]}, "body": {encode(entry.body)}}}\n')
    return "".join(lines)


def markdown(entries: Iterable[Entry], hidden: Collection[EntryId] = frozenset()) -> str:
    """Return the transcript as Markdown: one section per entry, marked if the model does not see it.

    Times are UTC; an entry whose `at_ms` is 0 has none. Control characters are left out.
    """
    sections = []
    for entry in entries:
        title, paragraphs = _section(entry)
        mark = " (hidden from the model)" if entry.id in hidden else ""
        heading = f"## {entry_ref(entry.id)} {title}{mark}"
        sections.append("\n\n".join(filter(None, (heading, _time(entry.at_ms), *paragraphs))))
    return clean("\n\n".join(sections) + "\n") if sections else ""


def messages_json(messages: Sequence[Message]) -> list[JsonObject]:
    """Return messages as the Messages API takes them, including thinking and opaque blocks."""
    return [{"role": message.role, "content": [_block_json(block) for block in message.blocks]} for message in messages]


def _block_json(block: Block) -> JsonObject:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(media_type, data):
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case ToolUse(id, name, values):
            return {"type": "tool_use", "id": id, "name": name, "input": dict(values)}
        case ToolResult(call_id, content, is_error):
            parts = content if isinstance(content, str) else [_block_json(part) for part in content]
            result: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": parts}
            return {**result, "is_error": True} if is_error else result
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case Opaque():
            return dict(block.payload)
        case _:
            assert_never(block)


def _time(at_ms: int) -> str:
    """Return the time in italics, empty if it is 0: messages of the effective history have no time."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("*%Y-%m-%d %H:%M:%S*") if at_ms else ""


def _section(entry: Entry) -> tuple[str, list[str]]:
    """Return an entry's title and its paragraphs, Markdown."""
    match entry.body:
        case UserMessage(blocks, source=source):
            return ("Tool results" if source == "tools" else "User"), _paragraphs(blocks)
        case AssistantMessage(blocks, unsent, interrupted=interrupted) as message:
            parts = _paragraphs(blocks)
            if unsent:
                parts += ["Received, but never sent back:", *_paragraphs(unsent)]
            return _joined("Assistant", message.model, "interrupted" if interrupted else ""), parts
        case CallStarted(call_id):
            return f"Tool call {_code(call_id)} started", []
        case Answered(question_id, decision, text):
            return f"Question {_code(question_id)} answered: {one_line(decision)}", [_fenced(text) if text else ""]
        case Condense(hides, summary, figures, receipt):
            left_out = "\n".join(f"- {one_line(item)}" for item in receipt)
            parts = [
                _figures(figures, len(hides)),
                *_paragraphs(summary),
                f"Not in the summary:\n\n{left_out}" if left_out else "",
            ]
            return Condense.title, parts
        case Truncation(hides, figures, reason):
            return Truncation.title, [_figures(figures, len(hides)), reason]
        case Mask(items, figures, _, reason) as mask:
            masked = "\n".join(f"- {entry_ref(item.entry_id)}: {one_line(item.placeholder)}" for item in items)
            return mask.heading, [_figures(figures, 0), reason, masked]
        case CondenseFailed(message=message, status=status, code=code, body=body):
            error = _joined(message, f"status {status}" if status else "", code)
            return "Condense failed", [error, _fenced(body) if body else ""]
        case Toggle(marker_id, on):
            return f"{entry_ref(marker_id)} {'redone' if on else 'undone'}", []
        case Checkpoint(tree, _, files):
            return f"Checkpoint {_code(tree[:7])}", ["\n".join(f"- {_code(one_line(path))}" for path in files)]
        case TodosChanged(items):
            return "Todo list", ["\n".join(f"- {_BOXES[state]} {one_line(text)}" for text, state in items)]
        case Pinned(entry_id, on):
            return f"{entry_ref(entry_id)} {'pinned' if on else 'unpinned'}", []
        case Noted(level, title, detail):
            return f"{level.capitalize()}: {one_line(title)}", [_fenced(detail) if detail else ""]
        case Unknown(payload):
            return "Entry of a newer version", [_fenced(_json(payload), "json")]
        case _:
            assert_never(entry.body)


def _paragraphs(blocks: Iterable[Block]) -> list[str]:
    return [_paragraph(block) for block in blocks]


def _paragraph(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case Image(media_type, data):
            return f"*[Image, {media_type}, {len(data) * 3 // 4:,} bytes]*"
        case ToolUse(id, name, values):
            return f"**Tool use** {_code(name)} ({_code(id)})\n\n{_fenced(_json(values), 'json')}"
        case ToolResult(call_id, _, is_error):
            return (
                f"**Tool result{' (error)' if is_error else ''}** ({_code(call_id)})\n\n{_fenced(result_text(block))}"
            )
        case Thinking(text):
            return f"**Thinking**\n\n{_fenced(text)}"
        case Opaque():
            owner = block.provider or "its provider"
            return f"**Block that only {owner} understands**\n\n{_fenced(_json(block.payload), 'json')}"
        case _:
            assert_never(block)


def _figures(figures: Reduction, hidden: int) -> str:
    return _joined(
        f"{figures.tokens_before:,} → {figures.tokens_after:,} tokens",
        f"{hidden:,} {'entry' if hidden == 1 else 'entries'} hidden" if hidden else "",
        figures.trigger,
        figures.strategy,
        "" if figures.cost_usd is None else f"${figures.cost_usd:.2f}",
        *figures.remarks,
    )


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


def _code(text: str) -> str:
    return f"`{one_line(text).replace('`', chr(39))}`"


def _fenced(text: str, language: str = "") -> str:
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.removesuffix(chr(10))}\n{fence}"


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), indent=2, ensure_ascii=False, default=str)
