"""The rung for what is refused by its kind, not its length: hides pictures and documents, or one named block.

    "image dimensions exceed … 2000 pixels"        the named picture, and every other over the stated limit
    "could not process image", without a place     the older half of the pictures and documents
    413, the request has too many bytes            the oldest, until half of their bytes are left
    "messages.3.content.0: …"                      that block

Each call hides something that was visible, so that repeated refusals come to an end. The mask can be undone like any
other; it may free no tokens, because here it is not tokens that have to go.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.overflow import RefusedContent
from roo_tui.context.window.tokens import TokenCounter, image_size
from roo_tui.domain.blocks import Block, Image, Message, Opaque, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.markers import Mask, MaskItem, Reduction
from roo_tui.prompt_files import render


def hide_refused(
    given: ReductionInput, sent: Sequence[Message], refused: RefusedContent, counter: TokenCounter
) -> Mask | None:
    """Return the mask that hides what the provider refused of the messages sent, None if nothing fits the refusal."""
    named = _sent_at(sent, refused.place)
    if refused.what == "block":
        return _mask(given, _named_block(given.path, named), refused, counter)
    return _mask(given, [medium.item for medium in _chosen(_media(given.path), named, refused)], refused, counter)


@dataclass(frozen=True, slots=True)
class _Medium:
    """A picture or document in the effective history, how it is hidden, and the size of its base64 data.

    `holder` is the block it is or lies in, as it is in the effective history.
    """

    content: Block
    holder: Block
    item: MaskItem
    size: int
    side: int = 0


def _chosen(media: list[_Medium], named: Block | None, refused: RefusedContent) -> list[_Medium]:
    if refused.what == "bytes":
        return _until_half_is_left(media)
    found = [
        medium
        for medium in media
        if (named is not None and (medium.content is named or _is_same(medium.holder, named)))
        or 0 < refused.most_side < medium.side
        or 0 < refused.most_base64 < medium.size
    ]
    return found or media[: (len(media) + 1) // 2]


def _until_half_is_left(media: list[_Medium]) -> list[_Medium]:
    """Return the oldest, so many that at most half of the bytes are left; the newest only if it is alone."""
    total = left = sum(medium.size for medium in media)
    chosen: list[_Medium] = []
    for medium in media[:-1] or media:
        if left * 2 <= total:
            break
        chosen.append(medium)
        left -= medium.size
    return chosen


def _sent_at(sent: Sequence[Message], place: tuple[int, int, int | None] | None) -> Block | None:
    """Return the block that was sent at this place, or the part of a result there."""
    if place is None or place[0] >= len(sent) or place[1] >= len(sent[place[0]].blocks):
        return None
    block, part = sent[place[0]].blocks[place[1]], place[2]
    if part is None or not isinstance(block, ToolResult) or isinstance(block.content, str):
        return block
    return block.content[part] if part < len(block.content) else block


def _is_same(shown: Block, sent: Block) -> bool:
    """Return whether a block of the effective history was sent as this one; calls and results may get another id."""
    match shown, sent:
        case (ToolResult(content=content), ToolResult(content=others)) if content:
            return content is others
        case ToolUse(input=arguments), ToolUse(input=others):
            return arguments is others
        case _:
            return shown is sent


def _blocks(path: tuple[Entry, ...]) -> Iterator[tuple[Entry, int, Block, Block]]:
    """Yield each block of the entries in the effective history: the entry, the index, the block and how it is shown."""
    entries = {entry.id: entry for entry in path}
    for message in effective_history(path):
        entry = entries[message.entry_id]
        if isinstance(entry.body, UserMessage | AssistantMessage):
            for index, (block, shown) in enumerate(zip(entry.body.blocks, message.blocks, strict=True)):
                yield entry, index, block, shown


def _named_block(path: tuple[Entry, ...], named: Block | None) -> list[MaskItem]:
    if named is None:
        return []
    placeholder = render("history/hidden_block")
    return [
        MaskItem(entry.id, index, "block", 0, 0, placeholder)
        for entry, index, _, shown in _blocks(path)
        if _is_same(shown, named)
    ]


def _media(path: tuple[Entry, ...]) -> list[_Medium]:
    """Return the pictures and documents, oldest first."""
    media: list[_Medium] = []
    placeholder = render("history/hidden_picture")
    for entry, index, block, shown in _blocks(path):
        whole = MaskItem(entry.id, index, "block", 0, 0, placeholder)
        match shown:
            case Image():
                media.append(_Medium(shown, shown, whole, len(shown.data), _longer_side(shown)))
            case Opaque(payload={"type": "document", "source": {"data": str(data)}}):
                media.append(_Medium(shown, shown, whole, len(data)))
            case ToolResult(content=tuple(visible)) if isinstance(block, ToolResult):
                still = {id(part) for part in visible}
                for start, end, part in _pictures_of(block):
                    if id(part) in still:
                        item = MaskItem(entry.id, index, "result", start, end, placeholder)
                        media.append(_Medium(part, shown, item, len(part.data), _longer_side(part)))
    return media


def _pictures_of(result: ToolResult) -> Iterator[tuple[int, int, Image]]:
    """Yield the pictures of a result, each with the offsets of its `[Image]` in the result's text."""
    start = 0
    for part in result.content if not isinstance(result.content, str) else ():
        end = start + (len(part.text) if isinstance(part, Text) else len("[Image]"))
        if isinstance(part, Image):
            yield start, end, part
        start = end + 1


def _longer_side(image: Image) -> int:
    return max((image.width, image.height) if image.width and image.height else image_size(image.data))


def _mask(
    given: ReductionInput, items: Sequence[MaskItem], refused: RefusedContent, counter: TokenCounter
) -> Mask | None:
    """Return the mask with its figures, None if it would change nothing."""
    before, after = effective_history(given.path), with_marker(given.path, Mask(tuple(items)))
    if before == after:
        return None
    what: Literal["pictures", "content"] = "content" if refused.what == "block" else "pictures"
    figures = Reduction(
        trigger=given.trigger,
        strategy=f"refused {what}",
        tokens_before=given.context_tokens,
        tokens_after=given.after(counter.count_messages(before), counter.count_messages(after)),
        ratio=given.ratio,
    )
    return Mask(tuple(items), figures, what, refused.reason)
