"""What stands in a summary message after the answer: which kinds, in which order, and whether each is due."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.conformance import words
from tests.conformance.due import required_texts, room_for_extras
from tests.conformance.folding import may_be_outlined, must_be_outlined, text_of_file
from tests.conformance.histories import (
    Json,
    Plain,
    commands_in,
    commands_in_force,
    known_files,
    parted,
    request_in_work,
    seen,
    text_tokens,
    tokens_of_all,
)
from tests.conformance.verdict import Findings

# A shortened outline may use what is left, but not for fewer characters than this.
_LEAST_OUTLINE = 400
_MOST_LEDGER_TOKENS = 1_000
_LONGEST_ID = 99_999


@dataclass
class _Room:
    """What attached blocks still have together."""

    characters: int
    tokens: int

    def charge(self, text: str) -> None:
        self.characters -= len(text)
        self.tokens -= text_tokens(text)

    def fits(self, text: str) -> bool:
        return len(text) <= self.characters and text_tokens(text) <= self.tokens

    def is_scarce_for(self, text: str) -> bool:
        least = min(len(text), _LEAST_OUTLINE)
        return self.characters < least or self.tokens < least // 4 or not self.fits(text)


def attached_is_due(
    given: Json, texts: Sequence[str], window: int, ratio: float, environment: str, found: Findings
) -> None:
    """Check every block after the answer: its kind, its place, and that the case gives reason for it.

    `environment` are the details to attach, empty for a condense by hand; `ratio` is how many tokens one of ours makes.
    """
    messages, history = given["messages"], seen(given["messages"])
    kinds = [words.kind_of(text) for text in texts[1:]]
    blocks = dict(zip(kinds, texts[1:], strict=True))
    found.check(kinds == sorted(kinds), f"the order of attached blocks: {kinds}")
    more_than_once = [kind for kind, after in pairwise(kinds) if kind == after != words.OUTLINE]
    found.expect("blocks attached twice", [], more_than_once)
    allowed = {words.COMMANDS, words.OUTLINE, words.LEDGER, words.REQUEST, words.ENVIRONMENT}
    found.expect("kinds that nothing here asks for", set(), set(kinds) - allowed)
    commands, request = commands_in_force(messages), request_in_work(messages, history)
    found.expect("commands kept", commands, commands_in(blocks.get(words.COMMANDS, "")))
    wanted = words.request_block(request) if request else None
    found.expect("the request in work", wanted, blocks.get(words.REQUEST))
    hidden, _ = parted(history)
    room = _Room(*room_for_extras(window, tokens_of_all(hidden) - text_tokens(texts[0])))
    for text in required_texts(messages, history):
        room.charge(text)
    _environment_is_due(environment, blocks.get(words.ENVIRONMENT), room, found)
    _ledger_is_due(messages, ratio, blocks.get(words.LEDGER), room, found)
    outlines = [text for kind, text in zip(kinds, texts[1:], strict=True) if kind == words.OUTLINE]
    _outlines_are_due(given, outlines, room, found)


def _environment_is_due(details: str, shown: str | None, room: _Room, found: Findings) -> None:
    wanted = details if details.strip() and room.fits(details) else None
    if found.expect("environment details", wanted, shown) and shown is not None:
        room.charge(shown)
    elif details.strip():
        found.better("extras-share-a-budget")


def _ledger_is_due(messages: Sequence[Json], ratio: float, shown: str | None, room: _Room, found: Findings) -> None:
    """The ledger has a line for each file a call wrote or read, as far as its own limit and the room go."""
    files = known_files(messages)
    whole = words.ledger("\n".join(f"- {path}: {what} (e{_LONGEST_ID})" for path, what in files.items()))
    if shown is None:
        found.check(not files or not room.fits(whole), f"no ledger of {files}")
        return
    room.charge(shown)
    lines = [line[2:].rpartition(" (e")[0] for line in shown.split("\n") if line.startswith("- ") and "(e" in line]
    told = dict(line.rpartition(": ")[::2] for line in lines)
    found.check(bool(files), "a ledger of nothing")
    found.expect("facts of the ledger", {path: files.get(path) for path in told}, told)
    if ratio * text_tokens(whole) <= _MOST_LEDGER_TOKENS:
        found.expect("files of the ledger", files.keys(), told.keys())


def _outlines_are_due(given: Json, sections: Sequence[str], room: _Room, found: Findings) -> None:
    """Files are outlined in the order given, as far as the room goes; none is passed over that could be outlined."""
    paths = list(dict.fromkeys(given.get("filesReadByRoo") or ()))
    files = {path: text for path in paths if (text := text_of_file(given, path)) is not None}
    named = [next((path for path in files if words.is_section_of(text, path)), "") for text in sections]
    possible = [path for path in files if may_be_outlined(path, files[path])]
    found.check(named == [path for path in possible if path in named], f"outlines of {named}, possible are {possible}")
    for section in sections:
        room.charge(section)
    left_out = [path for path in files if must_be_outlined(path, files[path]) and path not in named]
    if left_out:
        shortest = words.section(left_out[0], files[left_out[0]])
        found.check(room.is_scarce_for(shortest), f"left out with {room} to spare: {left_out}")
        found.better("extras-share-a-budget")
        last = max((possible.index(path) for path in named if path in possible), default=-1)
        found.check(possible.index(left_out[0]) > last, f"{left_out[0]} is passed over")


def more_than_recorded(given: Json, history: Sequence[Plain]) -> bool:
    """Say whether the request in work or facts of the log are attached, which Roo Code does not do."""
    return bool(request_in_work(given["messages"], history) or known_files(given["messages"]))
