"""The summary message: the model's answer, then everything attached to it.

`ORDER` names the attachments as the message has them. Those in `REQUIRED` are there whatever their size; those in
`OPTIONAL` share, in that order, the space the required ones leave. To add one, write the function that builds its
blocks, add it to one of the two tables and to `ORDER`, and put its text into `prompts/summary_message.md`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from roo_tui.context.condense.cut_point import Cut, standing_commands
from roo_tui.context.condense.file_outlines import fold
from roo_tui.context.condense.ledger import MOST_FILES, ledger, ledger_block
from roo_tui.context.condense.receipt import open_items, receipt
from roo_tui.context.history.log_facts import todos_of
from roo_tui.context.history.pins import pin_blocks
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text
from roo_tui.plain_text import plural
from roo_tui.prompt_files import render

MOST_CHARACTERS = 50_000
_CHARACTERS_PER_TOKEN = 4

Blocks = tuple[Text, ...]
Required = Mapping[str, Blocks]
"""The blocks of each required attachment, by its name."""


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
    """Return everything that follows the answer; `raw_hidden` are the raw tokens that the summary hides."""
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
    """Return the block of the receipt's lines, None if there are none."""
    lines = "\n".join(f"- {line}" for line in receipt)
    return Text(render("summary_message/receipt", lines=lines)) if receipt else None


def _commands(given: ReductionInput, where: Cut) -> Blocks:
    """Return the commands in force, which survive any number of condenses."""
    del where
    commands = standing_commands(given.path)
    return (Text(render("summary_message/commands", commands="\n".join(commands))),) if commands else ()


def _pins(given: ReductionInput, where: Cut) -> Blocks:
    """Return the pinned entries that the condense hides, word for word."""
    return pin_blocks(given.path, {message.entry_id for message in where.kept})


def _request(given: ReductionInput, where: Cut) -> Blocks:
    """Return the request in progress, word for word."""
    del given
    return (Text(render("summary_message/request", request=where.request)),) if where.request else ()


def _todos(given: ReductionInput, where: Cut) -> Blocks:
    """Return the todo items that are not done."""
    del where
    items = [
        render("summary_message/todo_item", text=text, state=state) for text, state in open_items(todos_in_force(given))
    ]
    return (Text(render("summary_message/todos", items="\n".join(items))),) if items else ()


async def _environment(source: Source) -> Blocks:
    """Return the environment details, which only automatic and forced reductions show."""
    given = source.given
    if given.trigger not in ("automatic", "forced") or not given.environment.strip():
        return ()
    found = await asyncio.to_thread(source.fitting, Text(given.environment))
    if not found:
        source.remarks.append("The environment details did not fit.")
    return found


async def _ledger(source: Source) -> Blocks:
    """Return the facts ledger."""
    given, services = source.given, source.services
    facts = await asyncio.to_thread(ledger, given.path, todos_in_force(given))
    on_disk = await services.digests(tuple(fact.path for fact in facts.files[:MOST_FILES]))
    return await asyncio.to_thread(lambda: source.fitting(ledger_block(facts, on_disk, services.counter, given.ratio)))


async def _receipt(source: Source) -> Blocks:
    """Return the receipt if the settings ask for it."""
    if not source.options.append_receipt:
        return ()
    return await asyncio.to_thread(source.fitting, receipt_block(source.unsaid))


async def _outlines(source: Source) -> Blocks:
    """Return outlines of the files the agent has read, newest first, as many as fit."""
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
        source.remarks.append(f"{plural(folded.unreadable, 'file')} could not be read.")
    if len(shown) < len(folded.sections):
        source.remarks.append(f"{plural(len(folded.sections) - len(shown), 'outline')} did not fit.")
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
