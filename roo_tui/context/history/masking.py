"""Masks: single contents of an entry's blocks replaced by one-line placeholders."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from roo_tui.domain.blocks import Block, Image, Text, ToolResult, ToolUse
from roo_tui.domain.markers import MaskItem


def masked(blocks: tuple[Block, ...], items: Iterable[MaskItem]) -> tuple[Block, ...]:
    """Return the blocks with the items' stretches replaced.

    An item that names no such block, part or field changes nothing. Offsets count characters of the block's string as
    the entry has it, of a result with several parts those of `result_text`. A string deeper in a call's input is named
    by its JSON pointer, such as `/edits/0/text`. Of stretches within each other the outer one counts, of equal ones the
    later one; where they only overlap, the placeholder of the first stands for both.
    """
    by_place: dict[tuple[int, str, str], list[MaskItem]] = {}
    for item in items:
        by_place.setdefault((item.block, item.part, item.field), []).append(item)
    changed = list(blocks)
    for (index, part, field), stretches in by_place.items():
        if 0 <= index < len(changed):
            changed[index] = _masked_block(changed[index], part, field, _disjoint(stretches))
    return tuple(changed)


def _disjoint(items: list[MaskItem]) -> list[MaskItem]:
    merged: list[MaskItem] = []
    newest_first = reversed(items)
    for item in sorted(newest_first, key=lambda item: (item.start, -item.end)):
        if merged and item.start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, item.end))
        else:
            merged.append(item)
    return merged


def _masked_block(block: Block, part: str, field: str, items: Sequence[MaskItem]) -> Block:
    match block:
        case Text() if part == "text":
            return replace(block, text=_masked_text(block.text, items))
        case ToolUse() if part == "input" and isinstance(block.input.get(field), str):
            return replace(block, input={**block.input, field: _masked_text(block.input[field], items)})
        case ToolUse() if part == "input" and field.startswith("/"):
            steps = [step.replace("~1", "/").replace("~0", "~") for step in field[1:].split("/")]
            return replace(block, input=_masked_value(block.input, steps, items))
        case ToolResult() if part == "result":
            if isinstance(block.content, str):
                return replace(block, content=_masked_text(block.content, items))
            return replace(block, content=_masked_parts(block.content, items))
    return block


def _masked_text(text: str, items: Sequence[MaskItem]) -> str:
    for item in reversed(items):
        start, end = max(0, item.start), min(item.end, len(text))
        if start < end:
            text = text[:start] + item.placeholder + text[end:]
    return text


def _masked_value(value: Any, steps: Sequence[str], items: Sequence[MaskItem]) -> Any:
    """Mask the string that the steps lead to; a way that leads nowhere changes nothing."""
    if not steps:
        return _masked_text(value, items) if isinstance(value, str) else value
    step, *rest = steps
    if isinstance(value, Mapping) and step in value:
        return {**value, step: _masked_value(value[step], rest, items)}
    if isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value):
        at = int(step)
        return [*value[:at], _masked_value(value[at], rest, items), *value[at + 1 :]]
    return value


def _masked_parts(parts: tuple[Text | Image, ...], items: Sequence[MaskItem]) -> tuple[Text | Image, ...]:
    """Mask a result of several parts; an image whose `[Image]` lies within a stretch goes with it."""
    kept: list[Text | Image] = []
    shown: set[int] = set()
    offset = 0
    for part in parts:
        length = len(part.text) if isinstance(part, Text) else len("[Image]")
        here = [(index, item) for index, item in enumerate(items) if item.start < offset + length and offset < item.end]
        if isinstance(part, Text):
            # A stretch over several parts shows its placeholder once, in the first of them.
            local = [
                replace(
                    item,
                    start=max(0, item.start - offset),
                    end=item.end - offset,
                    placeholder="" if index in shown else item.placeholder,
                )
                for index, item in here
            ]
            shown.update(index for index, _ in here)
            kept.append(Text(_masked_text(part.text, local)))
        elif not any(item.start <= offset and offset + length <= item.end for _, item in here):
            kept.append(part)
        offset += length + 1
    return tuple(kept)
