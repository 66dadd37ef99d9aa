"""What fills the context window, by kind and by entry."""

from collections import Counter
from collections.abc import Sequence

from roo_tui.context.history.effective import effective_history
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, Text, ToolUse, tool_results
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.requests import ToolSpec
from roo_tui.domain.views import ContextBreakdown, EntryShare, KindShare
from roo_tui.plain_text import one_line

_TITLE_LENGTH = 80
_MARKED_TEXTS = (
    ("<command", "commands"),
    ("<file_content", "mentioned files"),
    ("<environment_details", "environment details"),
    ("<system-reminder", "kept with summaries"),
)


def break_down(
    path: Sequence[Entry], counter: TokenCounter, tokens: int, *, system: Sequence[str], tools: Sequence[ToolSpec]
) -> ContextBreakdown:
    """Return the context tokens of the next request by kind (largest first) and by entry (in path order).

    The parts are shares of `tokens`, the count that the context bar shows. Counts the whole effective history, so call
    it in a thread.
    """
    kinds: Counter[str] = Counter()
    kinds["system prompt"] = counter.count_request(system, ())
    kinds["tools"] = counter.count_request((), tools)
    calls = _calls(path)
    found: list[tuple[EntryId, str, str, int]] = []
    for visible in effective_history(path):
        total = 0
        for block in visible.blocks:
            raw = counter.count_block(block)
            kinds[_kind(block, visible.role, visible.source, calls)] += raw
            total += raw
        title = _title(visible.blocks, calls)
        found.append((visible.entry_id, visible.role, title, total))
    ratio = tokens / max(kinds.total(), 1)
    by_kind = tuple(KindShare(kind, round(ratio * raw)) for kind, raw in kinds.most_common() if raw)
    by_entry = tuple(EntryShare(entry_id, role, title, round(ratio * raw)) for entry_id, role, title, raw in found)
    return ContextBreakdown(tokens, by_kind, by_entry)


def _calls(path: Sequence[Entry]) -> dict[str, str]:
    """Return each call's tool name by call id."""
    return {
        block.id: block.name
        for entry in path
        if isinstance(entry.body, AssistantMessage)
        for block in entry.body.blocks
        if isinstance(block, ToolUse)
    } | {
        record.call_id: record.tool
        for entry in path
        if isinstance(entry.body, UserMessage)
        for record in entry.body.calls
    }


def _kind(block: Block, role: str, source: str, calls: dict[str, str]) -> str:
    if source == "summary":
        return "summaries"
    if source == "truncation":
        return "truncation notes"
    match block.type:
        case "tool_result":
            return f"results of {calls.get(block.tool_use_id, 'unknown tools')}"
        case "tool_use":
            return "tool calls"
        case "thinking":
            return "thinking"
        case "image":
            return "images"
        case "opaque":
            return "other blocks"
    if role == "assistant":
        return "answers"
    text = block.text.lstrip() if isinstance(block, Text) else ""
    return next((kind for start, kind in _MARKED_TEXTS if text.startswith(start)), "your messages")


def _title(blocks: tuple[Block, ...], calls: dict[str, str]) -> str:
    names = [calls.get(result.tool_use_id, "result") for result in tool_results(blocks)]
    names += [block.name for block in blocks if isinstance(block, ToolUse)]
    text = next((block.text for block in blocks if isinstance(block, Text) and block.text.strip()), "")
    return one_line(", ".join(names) or text, _TITLE_LENGTH)
