"""The summary message: the model's answer first, then what is attached to it.

`ORDER` names the attachments as the message has them. Those in `REQUIRED` are there whatever their size; those in
`OPTIONAL` take, in that order, from the room the required ones leave. To add one, write the function that builds its
blocks, enter it in one of the two tables and in `ORDER`, and put its words into `prompts/summary_message.md`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from roo_tui.context.condense.cut_point import Cut, standing_commands
from roo_tui.context.condense.folded_files import fold
from roo_tui.context.condense.ledger import MOST_FILES, ledger, ledger_block
from roo_tui.context.condense.receipt import open_items, receipt
from roo_tui.context.history.log_facts import todos_of
from roo_tui.context.history.pins import pin_blocks
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text
from roo_tui.prompt_files import render

MOST_CHARACTERS = 50_000
_CHARACTERS_PER_TOKEN = 4

Blocks = tuple[Text, ...]
Required = Mapping[str, Blocks]
"""The blocks of each required attachment, by its name."""


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


@dataclass(slots=True)
class Source:
    """What optional attachments are made from, and what they leave behind.

    `said` is the text of the answer and of the required blocks; `unsaid` is the receipt. `left` is the room that is
    not taken yet. Remarks for the user are added to `remarks`.
    """

    given: ReductionInput
    services: ReductionServices
    options: ContextOptions
    said: str
    left: Allowance
    unsaid: tuple[str, ...] = ()
    remarks: list[str] = field(default_factory=list)

    def fitting(self, block: Text | None) -> Blocks:
        """Return the block if there is one and it fits into the room that is left; else nothing."""
        return (block,) if block is not None and self.left.take(block, self.services.counter) else ()


@dataclass(frozen=True, slots=True)
class Attached:
    """The blocks behind the answer, in order; the receipt; remarks for the user."""

    blocks: Blocks
    unsaid: tuple[str, ...]
    remarks: tuple[str, ...]


def required_attachments(given: ReductionInput, where: Cut) -> Required:
    """Return what is attached to a summary of this cut whatever its size."""
    return {name: build(given, where) for name, build in REQUIRED.items()}


def required_blocks(required: Required) -> Blocks:
    """Return the blocks of the required attachments, in order."""
    return tuple(block for name in ORDER for block in required.get(name, ()))


async def attach(
    answer: Text,
    required: Required,
    raw_hidden: int,
    given: ReductionInput,
    services: ReductionServices,
    options: ContextOptions,
) -> Attached:
    """Return everything that stands behind the answer; `raw_hidden` are the raw tokens that the summary hides."""
    counter, kept = services.counter, required_blocks(required)

    def begin() -> Source:
        left = allowance(given.limits.window, raw_hidden - counter.count_block(answer))
        for block in kept:
            left.charge(block, counter)
        said = "\n".join(block.text for block in (answer, *kept))
        unsaid = receipt(given.path, said, todos_in_force(given))
        return Source(given, services, options, said, left, unsaid)

    source = await asyncio.to_thread(begin)
    built = dict(required)
    for name, build in OPTIONAL.items():
        built[name] = await build(source)
    blocks = tuple(block for name in ORDER for block in built[name])
    return Attached(blocks, source.unsaid, tuple(source.remarks))


def todos_in_force(given: ReductionInput) -> tuple[tuple[str, str], ...]:
    """Return the todo list as (text, state) pairs."""
    return given.todos or todos_of(given.path)


def receipt_block(receipt: tuple[str, ...]) -> Text | None:
    """Return the block of what the log knows and the summary does not say, None where that is nothing."""
    lines = "\n".join(f"- {line}" for line in receipt)
    return Text(render("summary_message/receipt", lines=lines)) if receipt else None


def _commands(given: ReductionInput, where: Cut) -> Blocks:
    """The commands in force, kept through any number of condenses."""
    del where
    commands = standing_commands(given.path)
    return (Text(render("summary_message/commands", commands="\n".join(commands))),) if commands else ()


def _pins(given: ReductionInput, where: Cut) -> Blocks:
    """The pinned entries that the condense hides, word for word."""
    return pin_blocks(given.path, {message.entry_id for message in where.kept})


def _request(given: ReductionInput, where: Cut) -> Blocks:
    """The request that is being worked on, word for word."""
    del given
    return (Text(render("summary_message/request", request=where.request)),) if where.request else ()


def _todos(given: ReductionInput, where: Cut) -> Blocks:
    """The todo items that are not done."""
    del where
    items = [
        render("summary_message/todo_item", text=text, state=state) for text, state in open_items(todos_in_force(given))
    ]
    return (Text(render("summary_message/todos", items="\n".join(items))),) if items else ()


async def _environment(source: Source) -> Blocks:
    """The environment details, which only automatic and forced reductions show."""
    given = source.given
    if given.trigger not in ("automatic", "forced") or not given.environment.strip():
        return ()
    found = await asyncio.to_thread(source.fitting, Text(given.environment))
    if not found:
        source.remarks.append("Environment details left out for lack of space.")
    return found


async def _ledger(source: Source) -> Blocks:
    """The facts ledger."""
    given, services = source.given, source.services
    facts = await asyncio.to_thread(ledger, given.path, todos_in_force(given))
    on_disk = await services.digests(tuple(fact.path for fact in facts.files[:MOST_FILES]))
    return await asyncio.to_thread(lambda: source.fitting(ledger_block(facts, on_disk, services.counter, given.ratio)))


async def _receipt(source: Source) -> Blocks:
    """The receipt, where the settings ask for it."""
    if not source.options.append_receipt:
        return ()
    return await asyncio.to_thread(source.fitting, receipt_block(source.unsaid))


async def _outlines(source: Source) -> Blocks:
    """Outlines of the files the agent has read, newest first, as many as fit."""
    folded = await fold(source.given.read_files, source.left.characters, source.services.fold)

    def fitting() -> Blocks:
        shown: list[Text] = []
        for section in folded.sections:
            if not (found := source.fitting(Text(section))):
                break
            shown += found
        return tuple(shown)

    shown = await asyncio.to_thread(fitting)
    if folded.unreadable:
        source.remarks.append(f"Files that could not be read: {folded.unreadable}.")
    if len(shown) < len(folded.sections):
        source.remarks.append(f"Outlines left out for lack of space: {len(folded.sections) - len(shown)}.")
    return shown


ORDER = ("commands", "outlines", "ledger", "receipt", "pins", "request", "todos", "environment")

REQUIRED: dict[str, Callable[[ReductionInput, Cut], Blocks]] = {
    "commands": _commands,
    "pins": _pins,
    "request": _request,
    "todos": _todos,
}

OPTIONAL: dict[str, Callable[[Source], Awaitable[Blocks]]] = {
    "environment": _environment,
    "ledger": _ledger,
    "receipt": _receipt,
    "outlines": _outlines,
}
