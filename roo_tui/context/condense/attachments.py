"""The summary message: the model's answer, then everything attached to it.

Order: answer, commands in force, folded files, facts ledger, receipt, pins, the request in progress, open todo items,
environment details. All but the first and the last are wrapped in a `<system-reminder>`. Commands, pins, request and
todo items are attached whatever their size; the others share what is left of the budget, folded files last.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from roo_tui.context.reduction_input import Fold
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text
from roo_tui.prompt_files import render

MOST_CHARACTERS = 50_000
_CHARACTERS_PER_TOKEN = 4

SECTIONS = (
    "Primary request and intent",
    "Key technical concepts",
    "Files and code sections",
    "Errors and fixes",
    "Problem solving",
    "All user messages",
    "Pending tasks",
    "Current work",
    "Optional next step",
)


@dataclass(frozen=True, slots=True)
class Required:
    """The blocks that are always attached, whatever their size."""

    commands: Text | None = None
    pins: tuple[Text, ...] = ()
    request: Text | None = None
    todos: Text | None = None

    @property
    def blocks(self) -> tuple[Text, ...]:
        """Return the blocks there are, in order."""
        return tuple(block for block in (self.commands, *self.pins, self.request, self.todos) if block is not None)


@dataclass(frozen=True, slots=True)
class SummaryParts:
    """Everything in a summary message."""

    answer: Text
    required: Required = field(default_factory=Required)
    outlines: tuple[Text, ...] = ()
    ledger: Text | None = None
    receipt: Text | None = None
    environment: Text | None = None

    @property
    def blocks(self) -> tuple[Text, ...]:
        """Return the blocks of the message, in order."""
        required = self.required
        ordered = (
            self.answer,
            required.commands,
            *self.outlines,
            self.ledger,
            self.receipt,
            *required.pins,
            required.request,
            required.todos,
            self.environment,
        )
        return tuple(block for block in ordered if block is not None)


@dataclass(slots=True)
class Allowance:
    """The characters and raw tokens that attached blocks may still use. Required blocks may make them negative."""

    characters: int
    tokens: int

    def take(self, block: Text, counter: TokenCounter) -> bool:
        """Subtract the block's size and return True if it fits, else return False."""
        tokens = counter.count_block(block)
        if len(block.text) > self.characters or tokens > self.tokens:
            return False
        self.characters -= len(block.text)
        self.tokens -= tokens
        return True

    def charge(self, block: Text, counter: TokenCounter) -> None:
        """Subtract the block's size, whether it fits or not."""
        self.characters -= len(block.text)
        self.tokens -= counter.count_block(block)


def allowance(window: int, raw_freed: int) -> Allowance:
    """Return what attached blocks may use: at most 50,000 characters, 10 % of the window and half of what is freed.

    `window` and `raw_freed` are tokens of about 4 characters each. Tokens are limited to half of what is freed, so that
    dense text cannot use up the gain.
    """
    half = max(0, raw_freed // 2)
    return Allowance(min(MOST_CHARACTERS, window * _CHARACTERS_PER_TOKEN // 10, half * _CHARACTERS_PER_TOKEN), half)


def answer_block(answer: str) -> Text:
    """Return the first block of the message: the heading and the model's whole answer."""
    return Text(render("summary_message/answer", answer=answer.strip()))


def commands_block(commands: tuple[str, ...]) -> Text | None:
    """Return the block of the commands in force, None if there are none."""
    return Text(render("summary_message/commands", commands="\n".join(commands))) if commands else None


def request_block(request: str) -> Text | None:
    """Return the block of the request in progress, None if it is empty."""
    return Text(render("summary_message/request", request=request)) if request else None


def todos_block(todos: tuple[tuple[str, str], ...]) -> Text | None:
    """Return the block of the todo items that are not done, None if there are none."""
    items = [render("summary_message/todo_item", text=text, state=state) for text, state in open_items(todos)]
    return Text(render("summary_message/todos", items="\n".join(items))) if items else None


def receipt_block(receipt: tuple[str, ...]) -> Text | None:
    """Return the block of the receipt's lines, None if there are none."""
    return (
        Text(render("summary_message/receipt", lines="\n".join(f"- {line}" for line in receipt))) if receipt else None
    )


def open_items(todos: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the (text, state) pairs that are not done."""
    return [(text, state) for text, state in todos if state != "done"]


def split_summary(text: str) -> tuple[str, str]:
    """Return the analysis and the summary of a stored answer without its heading; either may be empty.

    A text without tags is all summary. An unclosed tag extends to the next tag.
    """
    text = text.removeprefix(render("summary_message/answer", answer="")).strip()
    before, opened, rest = text.partition("<analysis>")
    analysis = ""
    if opened:
        end = "</analysis>" if "</analysis>" in rest else "<summary>"
        analysis, closed, after = rest.partition(end)
        text = before + (closed if closed == "<summary>" else "") + after
    _, opened, tagged = text.partition("<summary>")
    summary = (tagged.rpartition("</summary>")[0] if "</summary>" in tagged else tagged) if opened else text
    return analysis.strip(), summary.strip()


def missing_sections(answer: str) -> tuple[str, ...]:
    """Return which of the nine sections the summary lacks, whatever its case and spacing; `&` is "and"."""
    summary = " ".join(split_summary(answer)[1].replace("&", " and ").casefold().split())
    return tuple(section for section in SECTIONS if section.casefold() not in summary)


_AT_ONCE = 8
_LEAST_SPACE = 200


@dataclass(frozen=True, slots=True)
class FoldedFiles:
    """One section per file, in the requested order. `unreadable` counts the files that could not be read."""

    sections: tuple[str, ...] = ()
    unreadable: int = 0


async def fold(paths: Sequence[str], budget: int, outlines: Fold) -> FoldedFiles:
    """Return sections with the files' outlines, at most `budget` characters in total.

    Files are taken in the given order, newest first, a few at a time until the budget is used up. The first section
    that does not fit is cut after a whole line if a useful part of it fits.

    Source: Roo Code's folded file context.
    """
    sections: list[str] = []
    unreadable = 0
    unique = list(dict.fromkeys(paths))
    for start in range(0, len(unique), _AT_ONCE):
        if budget < _LEAST_SPACE:
            break
        batch = tuple(unique[start : start + _AT_ONCE])
        found = await outlines(batch)
        unreadable += len(batch) - len(found)
        for path, outline in found:
            section = (
                render("summary_message/file_outline", path=path, outline=outline.rstrip()) if outline.strip() else ""
            )
            if len(section) > budget:
                section = _cut(path, outline.rstrip(), budget)
                budget = len(section)
            if section:
                sections.append(section)
                budget -= len(section)
    return FoldedFiles(tuple(sections), unreadable)


def outlines_of(
    read: Callable[[str], Awaitable[str]], outline: Callable[[str, str], Awaitable[str]], unreadable: type[Exception]
) -> Fold:
    """Return the service for `fold`: `read` returns a file's text or raises `unreadable`, `outline` its definitions."""

    async def outlines(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
        """Return (path, outline) pairs of the files that can be read."""
        found = []
        for path in paths:
            try:
                text = await read(path)
            except unreadable:
                continue
            found.append((path, await outline(path, text)))
        return found

    return outlines


def _cut(path: str, outline: str, budget: int) -> str:
    """Return the section with as many whole lines as fit, empty if too few fit to be useful."""
    if budget < _LEAST_SPACE:
        return ""
    lines = outline.split("\n")
    cut = render("summary_message/outline_cut")
    left = budget - len(render("summary_message/file_outline", path=path, outline=cut))
    kept = 0
    while kept < len(lines) and len(lines[kept]) + 1 <= left:
        left -= len(lines[kept]) + 1
        kept += 1
    return (
        render("summary_message/file_outline", path=path, outline="\n".join([*lines[:kept], cut])) if kept > 1 else ""
    )
