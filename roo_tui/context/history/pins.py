"""Pins: entries whose text every condense keeps in the context word for word."""

from collections.abc import Collection, Sequence

from roo_tui.context.history.as_text import tool_result_text, tool_use_text
from roo_tui.domain.blocks import Block, Image, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Entry, Pinned, UserMessage
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.prompt_files import render


def pinned(path: Sequence[Entry]) -> tuple[EntryId, ...]:
    """Return the pinned entries of a path, in path order. For each entry the last `Pinned` counts."""
    on: set[EntryId] = set()
    for entry in path:
        if isinstance(entry.body, Pinned):
            (on.add if entry.body.on else on.discard)(entry.body.entry_id)
    return tuple(entry.id for entry in path if entry.id in on and _is_message(entry))


def pin(path: Sequence[Entry], entry_id: EntryId, *, on: bool = True) -> Pinned:
    """Return the body that pins or unpins an entry.

    Raises:
        CommandRefused: the path has no message with this id, or nothing would change.
    """
    if not any(entry.id == entry_id and _is_message(entry) for entry in path):
        raise CommandRefused(f"{entry_ref(entry_id)} is not a message of this conversation. Choose one of its rows.")
    if (entry_id in pinned(path)) == on:
        raise CommandRefused(f"{entry_ref(entry_id)} is {'already pinned' if on else 'not pinned'}.")
    return Pinned(entry_id, on)


def pin_blocks(path: Sequence[Entry], visible: Collection[EntryId]) -> tuple[Text, ...]:
    """Return a block for each pinned entry that is not in `visible`, rendered from the entry itself."""
    wanted = {entry_id for entry_id in pinned(path) if entry_id not in visible}
    return tuple(
        Text(render("summary_message/pin", ref=entry_ref(entry.id), content=text))
        for entry in path
        if entry.id in wanted and (text := pinned_text(entry)).strip()
    )


def pinned_text(entry: Entry) -> str:
    """Return what a pin keeps of an entry: its texts word for word, and its calls and results as text."""
    if not isinstance(entry.body, UserMessage | AssistantMessage):
        return ""
    return "\n\n".join(text for block in entry.body.blocks if (text := _text(block)))


def _text(block: Block) -> str:
    match block:
        case Text(text=text):
            return "" if text.lstrip().startswith("<environment_details>") else text
        case ToolUse():
            return tool_use_text(block)
        case ToolResult():
            return tool_result_text(block)
        case Image():
            return "[Image]"
        case _:
            return ""


def _is_message(entry: Entry) -> bool:
    return isinstance(entry.body, UserMessage | AssistantMessage) and bool(entry.body.blocks)
