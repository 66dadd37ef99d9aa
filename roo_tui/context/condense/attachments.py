"""The summary message: the model's answer first, then what is attached to it by itself.

Order: answer, commands in force, folded files, facts ledger, receipt, pins, the request being worked on, open todo
items, environment details. Each but the first and the last stands in a `<system-reminder>`. Commands, pins, request and
todo items are there whatever their size; the rest shares what is left, folded files last.
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
    """The blocks that are attached whatever their size."""

    commands: Text | None = None
    pins: tuple[Text, ...] = ()
    request: Text | None = None
    todos: Text | None = None

    @property
    def blocks(self) -> tuple[Text, ...]:
        """All of them, in order."""
        return tuple(block for block in (self.commands, *self.pins, self.request, self.todos) if block is not None)


@dataclass(frozen=True, slots=True)
class SummaryParts:
    """Everything a summary message is made of."""

    answer: Text
    required: Required = field(default_factory=Required)
    outlines: tuple[Text, ...] = ()
    ledger: Text | None = None
    receipt: Text | None = None
    environment: Text | None = None

    @property
    def blocks(self) -> tuple[Text, ...]:
        """The blocks of the message, in order."""
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
    """What the attached blocks may still use together. What must be there is counted even where it is too long."""

    characters: int
    tokens: int

    def take(self, block: Text, counter: TokenCounter) -> bool:
        """Take the block's size off and return True if it fits; else take nothing."""
        tokens = counter.count_block(block)
        if len(block.text) > self.characters or tokens > self.tokens:
            return False
        self.characters -= len(block.text)
        self.tokens -= tokens
        return True

    def charge(self, block: Text, counter: TokenCounter) -> None:
        """Take the block's size off whether it fits or not."""
        self.characters -= len(block.text)
        self.tokens -= counter.count_block(block)


def allowance(window: int, raw_freed: int) -> Allowance:
    """Return what attached blocks may use: 50,000 characters, 10 % of the window or half of what is freed.

    The smallest holds. `window` and `raw_freed` are tokens, taken as 4 characters each; the tokens themselves are
    limited to half of what is freed, so that dense text cannot use up the gain.
    """
    half = max(0, raw_freed // 2)
    return Allowance(min(MOST_CHARACTERS, window * _CHARACTERS_PER_TOKEN // 10, half * _CHARACTERS_PER_TOKEN), half)


def answer_block(answer: str) -> Text:
    """Return the first block: the heading and the model's whole answer."""
    return Text(render("summary_message/answer", answer=answer.strip()))


def commands_block(commands: tuple[str, ...]) -> Text | None:
    """Return the block of the commands in force, None where there are none."""
    return Text(render("summary_message/commands", commands="\n".join(commands))) if commands else None


def request_block(request: str) -> Text | None:
    """Return the block of the request being worked on, None where there is none."""
    return Text(render("summary_message/request", request=request)) if request else None


def todos_block(todos: tuple[tuple[str, str], ...]) -> Text | None:
    """Return the block of the todo items that are not done, None where all are."""
    items = [render("summary_message/todo_item", text=text, state=state) for text, state in open_items(todos)]
    return Text(render("summary_message/todos", items="\n".join(items))) if items else None


def receipt_block(receipt: tuple[str, ...]) -> Text | None:
    """Return the block of what the log knows and the summary does not say, None where that is nothing."""
    return (
        Text(render("summary_message/receipt", lines="\n".join(f"- {line}" for line in receipt))) if receipt else None
    )


def open_items(todos: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the (text, state) pairs that are not done."""
    return [(text, state) for text, state in todos if state != "done"]


def split_summary(text: str) -> tuple[str, str]:
    """Return the analysis and the summary of a stored answer, for the screen; either may be empty.

    The heading is left out. A text without tags is all summary; a tag that is never closed reaches to the next one.
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
    """Return which of the nine sections the summary lacks. Case, spacing and `&` for "and" do not matter."""
    words = " ".join(split_summary(answer)[1].replace("&", " and ").casefold().split())
    return tuple(section for section in SECTIONS if section.casefold() not in words)


_AT_ONCE = 8
_LEAST_SPACE = 200


@dataclass(frozen=True, slots=True)
class FoldedFiles:
    """One section per file, in the order asked for; `unreadable` counts the files that could not be read."""

    sections: tuple[str, ...] = ()
    unreadable: int = 0


async def fold(paths: Sequence[str], budget: int, outlines: Fold) -> FoldedFiles:
    """Return sections of the files' outlines that together have at most `budget` characters.

    Files are taken in order, so give the newest first; a few are asked for at a time, and none once the budget is
    used up. The section that does not fit any more is cut after a whole line if there is space for a useful part.

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
    """Return what `fold` asks: `read` gives a file's text or raises `unreadable`, `outline` its definitions."""

    async def outlines(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
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
    """Return the section with as many whole lines as fit, empty where that is too little to be of use."""
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
