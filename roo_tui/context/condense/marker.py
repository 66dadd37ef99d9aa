"""Build a condense marker from a summary: attach what fits the shared budget, and count what it frees."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from roo_tui.context.condense.attachments import (
    Allowance,
    FoldedFiles,
    Required,
    SummaryParts,
    allowance,
    answer_block,
    fold,
    receipt_block,
)
from roo_tui.context.condense.ledger import MOST_FILES, Ledger, ledger, ledger_block
from roo_tui.context.condense.receipt import receipt
from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.history.log_facts import todos_of
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.domain.blocks import Text
from roo_tui.domain.errors import CondenseError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Reduction
from roo_tui.plain_text import plural

LOW_YIELD = "Low yield"


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """A summary before its marker is built. `raw_hidden` are the raw tokens it hides."""

    answer: str
    shape: Literal["fresh", "cached", "staged", "outline"]
    hides: tuple[EntryId, ...]
    raw_hidden: int
    required: Required
    remarks: tuple[str, ...] = ()


async def build_marker(
    draft: SummaryDraft, given: ReductionInput, services: ReductionServices, options: ContextOptions
) -> Condense:
    """Return the marker with the answer and everything attached. The caller adds cost, model and duration.

    Raises:
        CondenseError: the marker would not lower the count.
    """
    counter = services.counter
    answer = answer_block(draft.answer)
    todos = given.todos or todos_of(given.path)

    def begin() -> tuple[Allowance, Ledger]:
        """Return what the required blocks leave of the budget, and the ledger."""
        left = allowance(given.limits.window, draft.raw_hidden - counter.count_block(answer))
        for block in draft.required.blocks:
            left.charge(block, counter)
        return left, ledger(given.path, todos)

    left, facts = await asyncio.to_thread(begin)
    environment = _environment(given)
    if environment is not None and not left.take(environment, counter):
        environment = None
    on_disk = await services.digests(tuple(fact.path for fact in facts.files[:MOST_FILES]))
    known = ledger_block(facts, on_disk, counter, given.ratio)
    if known is not None and not left.take(known, counter):
        known = None
    folded = await fold(given.read_files, left.characters, services.fold)

    def finish() -> Condense:
        """Attach receipt and outlines as far as they fit, and return the marker."""
        said = "\n".join(block.text for block in (answer, *draft.required.blocks))
        unsaid = receipt(given.path, said, todos)
        attached = receipt_block(unsaid) if options.append_receipt else None
        if attached is not None and not left.take(attached, counter):
            attached = None
        outlines = _fitting(folded, left, services)
        parts = SummaryParts(answer, draft.required, outlines, known, attached, environment)
        remarks = (*draft.remarks, *_remarks(given, environment, folded, len(outlines)))
        return _marker(draft, parts, unsaid, remarks, given, services)

    return await asyncio.to_thread(finish)


def _marker(
    draft: SummaryDraft,
    parts: SummaryParts,
    unsaid: tuple[str, ...],
    remarks: tuple[str, ...],
    given: ReductionInput,
    services: ReductionServices,
) -> Condense:
    counter, marker = services.counter, Condense(draft.hides, parts.blocks)
    raw_before = counter.count_messages(effective_history(given.path))
    raw_after = counter.count_messages(with_marker(given.path, marker))
    after = given.after(raw_before, raw_after)
    if raw_after >= raw_before:
        message = (
            f"The summary is not smaller than what it would hide: {given.context_tokens:,} → {after:,} tokens. "
            "Nothing was changed. Condense with instructions to be brief, or condense later."
        )
        raise CondenseError(failed(given, services, message, tokens_after=after, body=draft.answer))
    trigger = given.limits.trigger_tokens
    if after * 2 > trigger:
        remarks = (*remarks, f"{LOW_YIELD}: {after:,} tokens are left, more than half of the trigger ({trigger:,}).")
    figures = Reduction(
        trigger=given.trigger,
        strategy="native",
        shape=draft.shape,
        tokens_before=given.context_tokens,
        tokens_after=after,
        ratio=given.ratio,
        remarks=remarks,
    )
    return Condense(draft.hides, parts.blocks, figures, unsaid)


def _environment(given: ReductionInput) -> Text | None:
    """Return the environment details, which only automatic and forced reductions show."""
    shown = given.trigger in ("automatic", "forced") and given.environment.strip()
    return Text(given.environment) if shown else None


def _fitting(folded: FoldedFiles, left: Allowance, services: ReductionServices) -> tuple[Text, ...]:
    outlines = []
    for section in folded.sections:
        if not left.take(Text(section), services.counter):
            break
        outlines.append(Text(section))
    return tuple(outlines)


def _remarks(given: ReductionInput, environment: Text | None, folded: FoldedFiles, shown: int) -> tuple[str, ...]:
    remarks = []
    if folded.unreadable:
        remarks.append(f"{plural(folded.unreadable, 'file')} could not be read.")
    if shown < len(folded.sections):
        remarks.append(f"{plural(len(folded.sections) - shown, 'outline')} did not fit.")
    if environment is None and _environment(given) is not None:
        remarks.append("The environment details did not fit.")
    return tuple(remarks)
