"""The staged condense: summarises a history that is too long for one request in parts and merges the notes.

    history     [ part 1 ][ part 2 ][ part 3 ]
    requests    notes 1   notes 2   notes 3     -> one request with all notes: the summary

Parts consist of whole messages; a message too long for a part is cut into pieces. If the notes together are too long,
they are summarised in parts again.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roo_tui.context.condense.summary_call import ask
from roo_tui.context.history.as_text import as_text
from roo_tui.context.history.effective import Visible
from roo_tui.context.history.pairing import repair, with_user_blocks
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.context.window.overflow import recognise
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Message, Text
from roo_tui.domain.errors import CondenseError, HistoryTooLong, ModelError
from roo_tui.domain.requests import Request
from roo_tui.domain.usage import Usage
from roo_tui.prompt_files import render

MOST_PARTS = 200
_MOST_NOTES = 8_000
_LEAST_NOTES = 400
# Counts are not exact for another tokenizer, and one refused part fails the whole condense.
_FILLED = 0.85


@dataclass(frozen=True, slots=True)
class Stages:
    """The parts of a history, each the messages of one request.

    `part_tokens` are the prompt tokens of each request, `notes_tokens` the output tokens that the notes on one part may
    use. `merging_raw` are the raw tokens that all notes together may use in the request that merges them.
    """

    parts: tuple[tuple[Message, ...], ...]
    part_tokens: tuple[int, ...]
    notes_tokens: int
    merging_raw: int
    instruction: str


def stages(hidden: Sequence[Visible], instruction: str, given: ReductionInput, counter: TokenCounter) -> Stages:
    """Return the parts in which to summarise a history.

    Raises:
        HistoryTooLong: there would be too many parts, or the window is too small for any part.
    """
    writer = given.writer
    notes = max(_LEAST_NOTES, min(_MOST_NOTES, writer.window // 10, given.limits.reserved))
    asking = counter.count_request(_system(), (), _asked((), _part_prompt(99, 99)))
    merging = counter.count_request(_system(), (), _asked((), _merge_prompt(instruction)))
    room = int((writer.window * _FILLED - notes) / writer.ratio) - asking
    merging_raw = int((writer.window * _FILLED - notes) / writer.ratio) - merging
    texts = as_text(hidden, images=False)
    total = counter.count_messages(texts)
    if min(room, merging_raw) < 4 * notes / writer.ratio or total > room * MOST_PARTS:
        raise HistoryTooLong(
            f"The history is too long to summarise: it has {round(writer.ratio * total):,} tokens, and the context "
            f"window of {writer.model.id} has {writer.window:,}. Truncate or rewind, or choose a model with a larger "
            "window."
        )
    parts = _parts(texts, room, counter)
    return Stages(
        tuple(repair(part) for part in parts),
        tuple(round(writer.ratio * (counter.count_messages(part) + asking)) for part in parts),
        notes,
        merging_raw,
        instruction,
    )


def usage_of(plan: Stages, summary_tokens: int) -> Usage:
    """Return the estimated usage of the requests for all parts and of the merging request."""
    notes = len(plan.parts) * min(plan.notes_tokens, summary_tokens)
    return Usage(input_tokens=sum(plan.part_tokens) + notes, output_tokens=notes + summary_tokens)


async def merging_request(plan: Stages, given: ReductionInput, services: ReductionServices, max_output: int) -> Request:
    """Ask for the notes on each part, one after another, and return the request that merges them.

    Raises:
        CondenseError: the model failed on a part, answered nothing, called a tool, or its notes do not get shorter.
    """
    notes = await _notes(plan, given, services)
    size = services.counter.count_blocks(notes)
    while size > plan.merging_raw:
        again = [Visible(0, "user", (block,)) for block in notes]
        plan = await asyncio.to_thread(stages, again, plan.instruction, given, services.counter)
        notes, before = await _notes(plan, given, services), size
        size = services.counter.count_blocks(notes)
        if size >= before:
            message = (
                f"The notes on the parts of the history have {round(given.writer.ratio * size):,} tokens, too many to "
                "merge, and do not get shorter. Truncate or rewind, or choose a model with a larger window."
            )
            raise CondenseError(failed(given, services, message))
    messages = (Message("user", (*notes, Text(_merge_prompt(plan.instruction)))),)
    return Request(messages, _system(), max_output=max_output, cache=False)


async def _notes(plan: Stages, given: ReductionInput, services: ReductionServices) -> tuple[Text, ...]:
    count = len(plan.parts)
    notes = []
    for number, messages in enumerate(plan.parts, 1):
        prompt = _part_prompt(number, count)
        texts = await _part_notes(messages, prompt, plan.notes_tokens, given, services)
        notes += [Text(render("condense_staged/notes", number=number, parts=count, notes=text)) for text in texts]
    return tuple(notes)


async def _part_notes(
    messages: tuple[Message, ...], prompt: str, most: int, given: ReductionInput, services: ReductionServices
) -> list[str]:
    """Return the notes on one part, or on its halves if the provider refuses it as too long.

    Our count may be off for the kind of text in a part, and the provider's word is the one that counts.
    """
    request = Request(_asked(messages, prompt), _system(), max_output=most, cache=False)
    try:
        answer = await ask(request, given, services)
    except CondenseError as error:
        counter = services.counter
        halves = _halves(messages, counter) if _is_too_long(error, given, counter.count_messages(messages)) else ()
        if not halves:
            raise
        return [text for half in halves for text in await _part_notes(half, prompt, most, given, services)]
    return [_cut(answer.text, most, given, services.counter)]


def _is_too_long(error: CondenseError, given: ReductionInput, raw: int) -> bool:
    cause = error.__cause__
    if not isinstance(cause, ModelError):
        return False
    overflow = recognise(cause, round(given.writer.ratio * raw), given.writer.window)
    return overflow is not None and overflow.believed


def _halves(messages: tuple[Message, ...], counter: TokenCounter) -> tuple[tuple[Message, ...], ...]:
    """Return the messages in parts of at most half their size; none where they are too short to be cut."""
    room = counter.count_messages(messages) // 2
    if room < _LEAST_NOTES:
        return ()
    return tuple(repair(part) for part in _parts([Visible(0, one.role, one.blocks) for one in messages], room, counter))


def _system() -> tuple[str, ...]:
    return (render("condense/system", guard=render("condense/guard")),)


def _part_prompt(number: int, parts: int) -> str:
    return render("condense_staged/part", number=number, parts=parts)


def _merge_prompt(instruction: str) -> str:
    return render("condense_staged/merge", instruction=instruction)


def _asked(messages: tuple[Message, ...], prompt: str) -> tuple[Message, ...]:
    return with_user_blocks(messages, (Text(prompt),))


def _cut(text: str, tokens: int, given: ReductionInput, counter: TokenCounter) -> str:
    """Return the notes, cut if the model ignored its output limit, so that they still can be merged."""
    raw = counter.count_text(text)
    most = tokens / given.writer.ratio
    return text if raw <= most * 1.1 else text[: int(len(text) * most / raw)]


def _parts(messages: Iterable[Visible], room: int, counter: TokenCounter) -> list[list[Visible]]:
    """Return the messages in parts of at most `room` raw tokens."""
    parts: list[list[Visible]] = []
    left = 0
    for message in messages:
        for piece in _pieces(message, room, counter):
            size = counter.count_blocks(piece.blocks)
            if not parts or size > left:
                parts.append([])
                left = room
            parts[-1].append(piece)
            left -= size
    return parts


def _pieces(message: Visible, room: int, counter: TokenCounter) -> list[Visible]:
    """Return the message if it fits into a part, else one message for each slice of its text."""
    if counter.count_blocks(message.blocks) <= room:
        return [message]
    pieces: list[Visible] = []
    for block in message.blocks:
        slices = _slices(block.text, room - 50, counter) if isinstance(block, Text) else []
        for number, text in enumerate(slices, 1):
            shown = text
            if len(slices) > 1:
                shown = render("condense_staged/piece", number=number, pieces=len(slices), text=text)
            pieces.append(Visible(message.entry_id, message.role, (Text(shown),)))
    return pieces


def _slices(text: str, room: int, counter: TokenCounter) -> list[str]:
    if counter.count_text(text) <= room:
        return [text]
    middle = len(text) // 2
    if middle == 0:
        return [text]
    return [*_slices(text[:middle], room, counter), *_slices(text[middle:], room, counter)]
