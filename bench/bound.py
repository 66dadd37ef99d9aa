"""The most that masking without loss could free of a conversation: an upper bound to compare strategies with.

It is computed from the messages and from what each call did, by rules of its own, and shares no code with the
strategies.

Definition. A *piece* is one string that a model gets: a text block, the text of a tool result, or a string anywhere in
a call's input. Sizes are bytes of UTF-8. Pieces and stretches under 200 bytes stay: paths, names and short answers say
what a call was about. Whatever is removed leaves a placeholder of at least 24 bytes. Three kinds of bytes are
removable; each is counted once, under the first kind that fits:

duplicates   the piece equals another one: all copies but one
superseded   the result of a read, if a later read of the same file covers its range or a later call wrote the whole
             file; or of a list or search that was repeated later with the very same input. Failed calls and edits
             supersede nothing
repeats      lines in a run of at least 20 that occur in the same order elsewhere, in the same or another piece: all
             copies but one. Line numbers before a line (`12 | `, `  12→`, `12<tab>`, `12:`) do not make it different,
             but they are removable bytes

The copy that stays is one in a text or an input if there is one (results carry line numbers, so more of them is
removable), else the newest. A removable piece may still be the copy that another one repeats, and no message is exempt
here: the bound can be approached but not exceeded. A strategy that claims more has a bug.
"""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import CallFacts, CallRecord

RUN = 20
SHORTEST = 200
PLACEHOLDER = 24
_NUMBER = re.compile(r"^[ \t]*[0-9]+(?: \| ?|→|\t|:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as the model gets it, and what is known of its tool results."""

    blocks: tuple[Block, ...]
    calls: tuple[CallRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """Removable bytes by kind; `total` counts the bytes of all pieces."""

    total: int
    duplicates: int
    superseded: int
    repeats: int

    @property
    def removable(self) -> int:
        return self.duplicates + self.superseded + self.repeats


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    is_result: bool
    superseded: bool = False


def upper_bound(messages: Sequence[Shown]) -> Bound:
    """Return the bound for the messages a model would get, in order."""
    calls = {block.id: block for message in messages for block in message.blocks if isinstance(block, ToolUse)}
    pieces = list(_pieces(messages, _superseded(messages, calls)))
    duplicates = superseded = repeats = 0
    texts: set[str] = set()
    seen: set[tuple[str, ...]] = set()
    newest_first = pieces[::-1]
    for piece in sorted(newest_first, key=lambda piece: piece.is_result):
        if piece.text in texts:
            duplicates += _gain(_size(piece.text))
            continue
        texts.add(piece.text)
        repeated = _repeated(piece.text, seen)
        if piece.superseded:
            superseded += _gain(_size(piece.text))
        else:
            repeats += repeated
    return Bound(sum(_size(piece.text) for piece in pieces), duplicates, superseded, repeats)


def size_of(messages: Sequence[Shown]) -> int:
    """Return the bytes of all pieces of the messages together."""
    return sum(_size(piece.text) for piece in _pieces(messages, set()))


def texts_of(messages: Sequence[Shown]) -> list[str]:
    """Return every piece of the messages."""
    return [piece.text for piece in _pieces(messages, set())]


def _repeated(text: str, seen: set[tuple[str, ...]]) -> int:
    """Return the removable bytes of lines in runs that are in `seen`, and add the text's own runs to it."""
    raw, bare = text.split("\n"), _NUMBER.sub("", text).split("\n")
    gain = stretch = covered_to = 0
    for start in range(len(bare) - RUN + 1):
        run = tuple(bare[start : start + RUN])
        if run in seen:
            if covered_to < start:
                gain, stretch = gain + _gain(stretch), 0
            stretch += sum(_size(line) + 1 for line in raw[max(start, covered_to) : start + RUN])
            covered_to = start + RUN
        seen.add(run)
    return gain + _gain(stretch)


def _gain(size: int) -> int:
    return size - PLACEHOLDER if size >= SHORTEST else 0


def _superseded(messages: Sequence[Shown], calls: Mapping[str, ToolUse]) -> set[tuple[int, int]]:
    """Return the places (message, block) of the results that a later call made outdated."""
    found: set[tuple[int, int]] = set()
    covered: dict[str, list[tuple[int, int] | None]] = {}
    asked: set[str] = set()
    for at in range(len(messages) - 1, -1, -1):
        records = {record.call_id: record for record in messages[at].calls}
        for index in range(len(messages[at].blocks) - 1, -1, -1):
            block = messages[at].blocks[index]
            if not isinstance(block, ToolResult) or block.is_error or block.tool_use_id not in records:
                continue
            record = records[block.tool_use_id]
            facts, call = record.facts, calls.get(block.tool_use_id)
            path = posixpath.normpath(facts.path) if facts.path else ""
            if facts.kind in ("list", "search") and call is not None:
                question = json.dumps([call.name, call.input], sort_keys=True, default=str)
                if question in asked:
                    found.add((at, index))
                asked.add(question)
            elif facts.kind == "read" and any(_covers(later, facts) for later in covered.get(path, ())):
                found.add((at, index))
            if path and facts.full_content and facts.kind in ("read", "write") and not record.synthetic:
                covered.setdefault(path, []).append(facts.lines)
    return found


def _covers(later: tuple[int, int] | None, facts: CallFacts) -> bool:
    if later is None:
        return True
    return facts.lines is not None and later[0] <= facts.lines[0] and facts.lines[1] <= later[1]


def _pieces(messages: Sequence[Shown], superseded: set[tuple[int, int]]) -> Iterator[_Piece]:
    for at, message in enumerate(messages):
        for index, block in enumerate(message.blocks):
            match block:
                case Text():
                    yield _Piece(block.text, False)
                case ToolResult():
                    yield _Piece(result_text(block), True, (at, index) in superseded)
                case ToolUse():
                    yield from (_Piece(text, False) for text in _strings(block.input))
                case _:
                    pass


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
