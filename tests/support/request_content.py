"""Whether a request says all that the effective history shows, once, and each result where its call can see it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from roo_tui.context.history.effective import Visible
from roo_tui.domain.blocks import Block, Message, Text, ToolResult, ToolUse, result_text
from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render


def losses(visible: Sequence[Visible], messages: Sequence[Message]) -> list[str]:
    """Return a sentence for each content that the request lacks, repeats without need, or separates from its call."""
    return [*_missing_words(visible, messages), *_missing_calls(visible, messages), *_told_twice(visible, messages)]


def _missing_words(visible: Sequence[Visible], messages: Sequence[Message]) -> Iterator[str]:
    sent = "\n".join(text for message in messages for text in _texts(message.blocks))
    for message in visible:
        for text in _texts(message.blocks):
            if well_formed(text).strip() not in sent:
                yield f"entry {message.entry_id}: its words {text[:60]!r} are not in the request"


def _missing_calls(visible: Sequence[Visible], messages: Sequence[Message]) -> Iterator[str]:
    shown = sum(isinstance(block, ToolUse) for message in visible for block in message.blocks)
    sent = sum(isinstance(block, ToolUse) for message in messages for block in message.blocks)
    if shown != sent:
        yield f"{shown} calls are in the history and {sent} in the request"
    written = render("history/missing_result")
    without = sum(block.content == written for block in _results(messages))
    if without > (most := _unanswered(visible)):
        yield f"{without} calls are told that they have no result, and at most {most} have none"


def _unanswered(visible: Sequence[Visible]) -> int:
    """Return how many calls have no result in the turn after theirs: by id, or, under strange ids, by place."""
    seen: set[str] = set()
    calls: list[str] = []
    count = 0
    for role, blocks in _turns(visible):
        if role == "assistant":
            count += len(calls)
            calls = [block.id for block in blocks if isinstance(block, ToolUse)]
            seen.update(calls)
            continue
        ids = [block.tool_use_id for block in blocks if isinstance(block, ToolResult)]
        if len(ids) == len(set(ids)) == len(calls) and seen.isdisjoint(ids):
            calls = []
        else:
            count += sum((Counter(calls) - Counter(ids)).values())
            calls = []
    return count + len(calls)


def _told_twice(visible: Sequence[Visible], messages: Sequence[Message]) -> Iterator[str]:
    """Find results that are sent as text although their call, the only one they are of, was answered with them."""
    found = [block for message in visible for block in message.blocks if isinstance(block, ToolResult)]
    ids: dict[str, set[str]] = {}
    for result in found:
        if isinstance(result.content, str) and (content := well_formed(result.content).strip()):
            ids.setdefault(content, set()).add(result.tool_use_id)
    for content, of in ids.items():
        # What is left of a result of several parts may read the same.
        of.update(f"part of {id(result)}" for result in found if content in _parts(result))
    late = {render("history/late_result", content=content): (content, of) for content, of in ids.items()}
    answered: set[str] = set()
    told: Counter[str] = Counter()
    for block in (block for message in messages for block in message.blocks):
        if isinstance(block, ToolResult):
            answered.add(result_text(block).strip())
        elif isinstance(block, Text) and block.text in late:
            told[block.text] += 1
            content, of = late[block.text]
            if told[block.text] > len(of) or (content in answered and len(of) == 1):
                yield f"the result {content[:60]!r} is told again as text"


def _parts(result: ToolResult) -> str:
    return "" if isinstance(result.content, str) else well_formed(result_text(result))


def _turns(visible: Sequence[Visible]) -> Iterator[tuple[str, list[Block]]]:
    """Yield what neighbours of one role say together; those that only hold blanks are no turn."""
    role, blocks = "", list[Block]()
    for message in visible:
        said = [block for block in message.blocks if not (isinstance(block, Text) and not block.text.strip())]
        if not said:
            continue
        if message.role != role:
            yield role, blocks
            role, blocks = message.role, []
        blocks.extend(said)
    yield role, blocks


def _results(messages: Sequence[Message]) -> Iterator[ToolResult]:
    return (block for message in messages for block in message.blocks if isinstance(block, ToolResult))


def _texts(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Text):
            yield block.text
        elif isinstance(block, ToolResult):
            if isinstance(block.content, str):
                yield block.content
            else:
                yield from (part.text for part in block.content if isinstance(part, Text))
