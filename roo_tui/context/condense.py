"""Condense: older messages are hidden behind a summary the model writes.

    prepare (pure)    where to cut, what is hidden, what is sent
    perform           asks the model; streams, can be cancelled
    validate          not empty, no tool call, all sections, smaller than what it hides
    apply             builds the marker with its figures and receipt; the caller appends it

Nothing changes before the marker is appended, so a condense that fails or is cancelled leaves the history as it was.
"""

import asyncio
import time
from dataclasses import dataclass, replace

from roo_tui.context.cut import Cut, cut, messages_since_summary, standing_commands
from roo_tui.context.folded_files import FoldedFiles, fold
from roo_tui.context.options import ContextOptions
from roo_tui.context.receipt import receipt
from roo_tui.context.request_shape import fresh, instruction, with_answer
from roo_tui.context.situation import Services, Situation, failed
from roo_tui.context.summary import (
    SECTIONS,
    Allowance,
    allowance,
    answer_block,
    commands_block,
    missing_sections,
    receipt_block,
    request_block,
    todos_block,
)
from roo_tui.context.tokens import TokenCounter
from roo_tui.domain.blocks import Text, ToolUse
from roo_tui.domain.errors import CondenseRefused, ModelError, RooError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Reduction
from roo_tui.domain.requests import BlockClosed, BlockDelta, Finished, Request, Started
from roo_tui.domain.usage import Usage
from roo_tui.prompt_files import render

__all__ = ["CondenseError", "HistoryTooLong", "Plan", "Services", "Situation", "condense", "prepare"]

_MOST_OUTPUT = 20_000
_LEAST_OUTPUT = 2_000
_FEWEST_MESSAGES = 2


class CondenseError(RooError):
    """A condense failed after the model was asked; `body` is what the log keeps of it."""

    def __init__(self, body: CondenseFailed) -> None:
        super().__init__(body.message)
        self.body = body


class HistoryTooLong(CondenseRefused):
    """The history does not fit into the request that would summarise it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A condense that is about to be performed. `raw_hidden` are raw tokens.

    `commands`, `request` and `todos` are attached whatever their size; None where there is nothing.
    """

    hides: tuple[EntryId, ...]
    raw_hidden: int
    ask: Request
    own_prompt: bool
    commands: Text | None = None
    request: Text | None = None
    todos: Text | None = None


async def condense(situation: Situation, services: Services, options: ContextOptions) -> Condense:
    """Return the marker that hides the history behind a summary; nothing is changed before it is appended.

    When cancelled, `services` tells what it cost so far.

    Raises:
        CondenseRefused: the model was not asked: too few messages, condensed recently, nothing to gain, too long.
        CondenseError: the model failed, answered nothing or with a tool call, or its summary is not smaller.
    """
    started = time.monotonic()
    plan = await asyncio.to_thread(prepare, situation, services.counter, options)
    answer, remarks = await perform(plan, situation, services)
    raw_answer = await asyncio.to_thread(services.counter.count_block, answer_block(answer))
    left = allowance(situation.limits.window, plan.raw_hidden - raw_answer)
    for required in (plan.commands, plan.request, plan.todos):
        if required is not None:
            left.charge(required, services.counter)
    environment = _environment(situation, left, services.counter)
    folded = await fold(situation.read_files, left.characters, services.fold)

    def assemble() -> Condense:
        return _apply(plan, situation, services, options, answer, environment, folded, left)

    marker = await asyncio.to_thread(assemble)
    figures = replace(
        marker.figures,
        remarks=(*remarks, *marker.figures.remarks),
        duration_s=time.monotonic() - started,
    )
    return replace(marker, figures=figures)


def prepare(situation: Situation, counter: TokenCounter, options: ContextOptions) -> Plan:
    """Return what a condense will hide and ask. Counts the whole history: call it in a thread.

    Raises:
        CondenseRefused: there is nothing to condense, or nothing would be gained.
        HistoryTooLong: the request would not fit into the model's window.
    """
    where = cut(situation.path)
    _refuse_useless(where)
    commands = commands_block(standing_commands(situation.path))
    request = request_block(where.request)
    todos = todos_block(situation.todos)
    raw_hidden = counter.count_messages(where.hidden)
    required = counter.count_blocks(block for block in (commands, request, todos) if block is not None)
    if raw_hidden <= required:
        raise CondenseRefused(
            f"Nothing would be freed: of {raw_hidden:,} tokens that would be hidden, {required:,} must stay (commands, "
            "the open request, todo items). Go on working and condense later."
        )
    words = instruction(options, situation.instructions)
    ask = fresh(where.hidden, words, situation.model, _MOST_OUTPUT)
    order = {entry.id: place for place, entry in enumerate(situation.path)}
    return Plan(
        hides=tuple(sorted((message.entry_id for message in where.hidden), key=order.__getitem__)),
        raw_hidden=raw_hidden,
        ask=replace(ask, max_output=_output_that_fits(ask, situation, counter)),
        own_prompt=not options.condense_prompt.strip(),
        commands=commands,
        request=request,
        todos=todos,
    )


async def perform(plan: Plan, situation: Situation, services: Services) -> tuple[str, tuple[str, ...]]:
    """Return the model's answer and remarks about it. With our own prompt a lack of sections is asked about once.

    Raises:
        CondenseError: the model failed, or answered nothing, with a tool call, or with no summary at all.
    """
    answer = await _ask(plan.ask, situation, services)
    missing = missing_sections(answer.text) if plan.own_prompt else ()
    if missing:
        reply = render("condense/missing", sections=", ".join(missing))
        again = replace(plan.ask, messages=with_answer(plan.ask, answer.text, reply))
        try:
            second = await _ask(again, situation, services)
        except CondenseError:
            second = answer
        if len(missing_sections(second.text)) < len(missing):
            answer, missing = second, missing_sections(second.text)
    if missing == SECTIONS and "<summary>" not in answer.text:
        problem = "The model wrote something else than a summary. Condense again, or choose another model."
        raise CondenseError(failed(situation, services, problem, body=answer.text))
    remarks = (f"The summary lacks: {', '.join(missing)}.",) if missing else ()
    return answer.text, (*remarks, "The summary was cut at the output limit.") if answer.cut else remarks


@dataclass(frozen=True, slots=True)
class _Answer:
    """A summary as the model wrote it, trimmed; `cut` says that the output limit ended it."""

    text: str
    cut: bool


async def _ask(request: Request, situation: Situation, services: Services) -> _Answer:
    """Return one answer. What every attempt used is charged, also when this is cancelled."""
    usage: Usage | None = None
    streamed: list[str] = []
    texts: list[str] = []
    called = finished = False
    stop_reason = ""

    def charge() -> None:
        if usage is not None:
            written = 0 if finished else round(situation.ratio * services.counter.count_text("".join(streamed)))
            services.charge(situation.model, replace(usage, output_tokens=max(usage.output_tokens, written)))

    try:
        async for event in services.ask(request):
            match event:
                case Started():
                    # A new attempt: what the one before wrote is void, but was paid for.
                    charge()
                    usage, called = event.usage, False
                    streamed.clear()
                    texts.clear()
                case BlockDelta(text=text):
                    streamed.append(text)
                    services.on_text(text)
                case BlockClosed(block=Text(text=text)):
                    texts.append(text)
                case BlockClosed(block=ToolUse()):
                    called = True
                case Finished():
                    usage, finished, stop_reason = event.usage, True, event.stop_reason
                case _:
                    pass
    except ModelError as error:
        charge()
        usage = None
        raise CondenseError(
            failed(situation, services, str(error), status=error.status, code=error.code, body=error.body)
        ) from error
    finally:
        charge()
    answer = "".join(texts).strip()
    if problem := _problem(answer, called, finished, stop_reason):
        raise CondenseError(failed(situation, services, problem, body=answer))
    return _Answer(answer, stop_reason == "max_tokens")


def _problem(answer: str, called: bool, finished: bool, stop_reason: str) -> str:
    if not finished:
        return "The answer ended without its last event. Condense again, or choose another model."
    if called:
        return "The model called a tool instead of writing a summary. Condense again, or choose another model."
    if stop_reason == "refusal":
        return "The model refused to write a summary. Condense with instructions, or choose another model."
    if not answer:
        return "The model answered with an empty summary. Condense again, or choose another model."
    return ""


def _refuse_useless(where: Cut) -> None:
    visible = (*where.hidden, *where.kept)
    since = messages_since_summary(visible)
    if since is not None and since <= 1:
        raise CondenseRefused("The context was condensed recently: there is nothing new to summarise yet.")
    if len(visible) < _FEWEST_MESSAGES or len(where.hidden) < _FEWEST_MESSAGES:
        raise CondenseRefused("There are not enough messages to condense yet.")


def _output_that_fits(ask: Request, situation: Situation, counter: TokenCounter) -> int:
    window = situation.limits.window
    prompt = round(situation.ratio * counter.count_request(ask.system, (), ask.messages))
    most = max(_LEAST_OUTPUT, min(_MOST_OUTPUT, situation.limits.reserved))
    if prompt + min(_LEAST_OUTPUT, window // 10) > window:
        raise HistoryTooLong(
            f"The history is too long to be summarised in one request: {prompt:,} tokens, and the model's context "
            f"window holds {window:,}. Truncate or rewind, or choose a model with a larger window."
        )
    return min(most, window - prompt)


def _environment(situation: Situation, left: Allowance, counter: TokenCounter) -> Text | None:
    """Return the environment details if this reduction shows them and they fit."""
    if situation.trigger not in ("automatic", "forced") or not situation.environment.strip():
        return None
    block = Text(situation.environment)
    return block if left.take(block, counter) else None


def _apply(
    plan: Plan,
    situation: Situation,
    services: Services,
    options: ContextOptions,
    answer: str,
    environment: Text | None,
    folded: FoldedFiles,
    left: Allowance,
) -> Condense:
    counter = services.counter
    head = [block for block in (answer_block(answer), plan.commands) if block is not None]
    tail = [block for block in (plan.request, plan.todos, environment) if block is not None]
    unsaid = receipt(situation.path, "\n".join(block.text for block in [*head, *tail]), situation.todos)
    known = receipt_block(unsaid) if options.append_receipt else None
    if known is not None and left.take(known, counter):
        tail.insert(0, known)
    outlines = []
    for section in folded.sections:
        if not left.take(Text(section), counter):
            break
        outlines.append(Text(section))
    summary = (*head, *outlines, *tail)
    raw_shown = counter.count_blocks(summary)
    after = situation.after(plan.raw_hidden, raw_shown)
    if raw_shown >= plan.raw_hidden:
        message = (
            f"The summary is not smaller than what it would hide: {situation.context_tokens:,} → {after:,} tokens. "
            "Nothing was changed; condense with instructions to be brief, or go on working."
        )
        raise CondenseError(failed(situation, services, message, tokens_after=after, body=answer))
    return Condense(
        hides=plan.hides,
        summary=summary,
        figures=Reduction(
            trigger=situation.trigger,
            strategy="native",
            shape="fresh",
            tokens_before=situation.context_tokens,
            tokens_after=after,
            ratio=situation.ratio,
            usage=services.usage,
            cost_usd=services.cost_usd,
            model=situation.model.id,
            remarks=_remarks(situation, environment, folded, len(outlines)),
        ),
        receipt=unsaid,
    )


def _remarks(situation: Situation, environment: Text | None, folded: FoldedFiles, shown: int) -> tuple[str, ...]:
    remarks = []
    if folded.unreadable:
        remarks.append(f"Files that could not be read: {folded.unreadable}.")
    if shown < len(folded.sections):
        remarks.append(f"Outlines left out for lack of space: {len(folded.sections) - shown}.")
    if environment is None and situation.trigger in ("automatic", "forced") and situation.environment.strip():
        remarks.append("Environment details left out for lack of space.")
    return tuple(remarks)
