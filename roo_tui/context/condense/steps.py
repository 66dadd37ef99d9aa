"""The steps of a condense, which hides older messages behind a summary that a model writes.

    prepare (pure)    decides where to cut, what to hide and in which shape to ask, and estimates the cost
    perform           asks the model; streams and can be cancelled
    validate          checks the answer: not empty, no tool call, all sections, smaller than what it hides
    apply             builds the marker with its figures and receipt; the caller appends it

Nothing changes before the marker is appended, so a failed or cancelled condense leaves the history unchanged.
"""

import asyncio
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from roo_tui.context.condense.attachments import Required, required_attachments, required_blocks, todos_in_force
from roo_tui.context.condense.cut_point import NOTHING_NEW, Cut, cut, messages_since_summary, newest_to_keep
from roo_tui.context.condense.marker import SummaryDraft, build_marker
from roo_tui.context.condense.outline import outline_summary
from roo_tui.context.condense.request import (
    LEAST_OUTPUT,
    MOST_OUTPUT,
    RequestShapes,
    instruction,
    price,
    with_answer,
    without_tools,
)
from roo_tui.context.condense.staged import Stages, merging_request, stages, usage_of
from roo_tui.context.condense.summary_call import SECTIONS, SummaryAnswer, ask, missing_sections
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.context.window.policy import decide
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.errors import CondenseError, CondenseRefused, HistoryTooLong
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense
from roo_tui.domain.previews import CondensePreview
from roo_tui.domain.requests import Request
from roo_tui.plain_text import plural
from roo_tui.prompt_files import render

_FEWEST_MESSAGES = 2
_MOST_OUTLINE = 8_000


@dataclass(frozen=True, slots=True)
class PreparedCondense:
    """A condense that is ready to be performed. `raw_hidden` are raw tokens.

    `ask` is the request of the fresh or cached shape, None for the staged shape, which has `stages`. `otherwise` is the
    request to send if the model answers the cached shape with tool calls. `preview` is of the chosen shape; its
    `alternatives` are the other possible shapes.
    """

    shape: Literal["fresh", "cached", "staged"]
    hides: tuple[EntryId, ...]
    raw_hidden: int
    ask: Request | None
    own_prompt: bool
    required: Required
    preview: CondensePreview
    stages: Stages | None = None
    otherwise: Request | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Hiding:
    """What a condense hides, and what it must attach."""

    where: Cut
    hides: tuple[EntryId, ...]
    raw_hidden: int
    required: Required
    remarks: tuple[str, ...] = field(default=())


async def condense(given: ReductionInput, services: ReductionServices, options: ContextOptions) -> Condense:
    """Return the marker that hides the history behind a summary. Nothing changes until it is appended.

    After a cancel, `services` holds the cost so far.

    Raises:
        CondenseRefused: no model was asked: too few messages, condensed recently, nothing to gain, or too long.
        CondenseError: the model failed, took too long, answered nothing, called a tool, or wrote a summary that is not
            smaller than what it hides.
    """
    plan = await asyncio.to_thread(prepare, given, services.counter, options)
    return await carry_out(plan, given, services, options)


async def carry_out(
    plan: PreparedCondense, given: ReductionInput, services: ReductionServices, options: ContextOptions
) -> Condense:
    """Return the marker of a condense that was prepared on the same input.

    Raises:
        CondenseError: for the reasons of `condense`.
    """
    started = time.monotonic()
    # Each request of a staged condense may take as long as a whole condense.
    limit_s = options.condense_time_limit_s * (1 if plan.stages is None else len(plan.stages.parts) + 1)
    try:
        async with asyncio.timeout(limit_s or None):
            answer, shape, remarks = await perform(plan, given, services)
    except TimeoutError as error:
        message = (
            f"The condense took longer than {plural(limit_s, 'second')} and was stopped; nothing was changed. Condense "
            "again, choose another model, or raise the time limit in the settings."
        )
        raise CondenseError(failed(given, services, message)) from error
    draft = SummaryDraft(answer, shape, plan.hides, plan.raw_hidden, plan.required, (*plan.remarks, *remarks))
    marker = await build_marker(draft, given, services, options)
    figures = replace(
        marker.figures,
        usage=services.usage,
        cost_usd=services.cost_usd,
        forecast_usd=plan.preview.cost_usd,
        model=given.writer.model.id,
        duration_s=time.monotonic() - started,
    )
    return replace(marker, figures=figures)


async def outlined(given: ReductionInput, services: ReductionServices, options: ContextOptions) -> Condense:
    """Return the marker of a condense whose summary is an outline, written from the log without a model and free.

    Raises:
        CondenseRefused: too few messages, condensed recently, or nothing to gain.
        CondenseError: the outline is not smaller than what it hides.
    """
    started = time.monotonic()
    counter, todos = services.counter, todos_in_force(given)

    def write() -> tuple[_Hiding, str]:
        """Return what is hidden, and the outline."""
        hiding = _hiding(given, counter, options)
        budget = min(_MOST_OUTLINE, given.limits.window // 10, hiding.raw_hidden // 3)
        return hiding, outline_summary(given.path, counter, budget=budget, todos=todos)

    hiding, answer = await asyncio.to_thread(write)
    draft = SummaryDraft(answer, "outline", hiding.hides, hiding.raw_hidden, hiding.required, hiding.remarks)
    marker = await build_marker(draft, given, services, options)
    figures = replace(marker.figures, cost_usd=0.0, forecast_usd=0.0, duration_s=time.monotonic() - started)
    return replace(marker, figures=figures)


def prepare(given: ReductionInput, counter: TokenCounter, options: ContextOptions) -> PreparedCondense:
    """Return what a condense will hide, how it will ask the model, and its preview for the user.

    Counts the whole history, so call it in a thread.

    Raises:
        CondenseRefused: there is nothing to condense, or nothing would be gained.
        HistoryTooLong: the history does not fit into the model's window, not even in parts.
    """
    hiding = _hiding(given, counter, options)
    shape: Literal["fresh", "cached", "staged"]
    text = instruction(options, given.instructions)
    shaping = RequestShapes(
        given, counter, hiding.where.hidden, text, counter.count_blocks(required_blocks(hiding.required))
    )
    by_text, by_cache = shaping.fresh(), shaping.cached()
    candidates = sorted((one for one in (by_text, by_cache) if one is not None), key=price)
    if not candidates:
        if not _may_stage(given):
            raise HistoryTooLong(
                "The history is too long for one summary request, and it is summarised in parts only once the context "
                "is over its limit. Run /condense, or choose a condense profile with a larger window."
            )
        parts = stages(hiding.where.hidden, text, given, counter)
        shape, request = "staged", None
        shown = shaping.staged(len(parts.parts), partial(usage_of, parts))
    else:
        chosen, *others = candidates
        parts, shape, request = None, chosen.shape, chosen.request
        shown = replace(chosen.preview, alternatives=tuple(other.preview for other in others))
    remarks = (*hiding.remarks, *_remarks_on_model(given))
    return PreparedCondense(
        shape=shape,
        hides=hiding.hides,
        raw_hidden=hiding.raw_hidden,
        ask=request,
        own_prompt=not options.condense_prompt.strip(),
        required=hiding.required,
        preview=replace(shown, remarks=remarks),
        stages=parts,
        otherwise=by_text.request if by_text is not None and shape == "cached" else None,
        remarks=remarks,
    )


async def perform(
    plan: PreparedCondense, given: ReductionInput, services: ReductionServices
) -> tuple[str, Literal["fresh", "cached", "staged"], tuple[str, ...]]:
    """Return the model's answer, the shape of its request, and remarks about it.

    With the built-in prompt, the model is asked once for missing sections.

    Raises:
        CondenseError: the model failed, answered nothing, called a tool, or did not write a summary.
    """
    asked, answer, shape, remarks = await _first_answer(plan, given, services)
    missing = missing_sections(answer.text) if plan.own_prompt else ()
    if missing:
        reply = render("condense/missing_sections", sections=", ".join(missing))
        again = replace(asked, messages=with_answer(asked, answer.text, reply))
        try:
            second = await ask(again, given, services)
        except CondenseError:
            second = answer
        if len(missing_sections(second.text)) < len(missing):
            answer, missing = second, missing_sections(second.text)
    if missing == SECTIONS and "<summary>" not in answer.text:
        problem = "The model did not return a summary. Condense again, or choose another model."
        raise CondenseError(failed(given, services, problem, body=answer.text))
    if missing:
        remarks = (*remarks, f"The summary lacks these sections: {', '.join(missing)}.")
    if answer.cut:
        remarks = (*remarks, "The output limit cut the summary off.")
    return answer.text, shape, remarks


async def _first_answer(
    plan: PreparedCondense, given: ReductionInput, services: ReductionServices
) -> tuple[Request, SummaryAnswer, Literal["fresh", "cached", "staged"], tuple[str, ...]]:
    if plan.stages is not None:
        most = max(LEAST_OUTPUT, min(MOST_OUTPUT, given.limits.reserved))
        most = min(most, max(plan.stages.notes_tokens, given.writer.window // 10))
        request = await merging_request(plan.stages, given, services, most)
        remark = f"The history was summarised in {plural(len(plan.stages.parts), 'part')} and merged."
        return request, await ask(request, given, services), "staged", (remark,)
    assert plan.ask is not None
    if plan.shape == "fresh":
        return plan.ask, await ask(plan.ask, given, services), "fresh", ()
    asked = plan.ask
    answer = await ask(asked, given, services, calls_allowed=True)
    if answer.called:
        asked = without_tools(asked, answer.blocks, given.model)
        answer = await ask(asked, given, services, calls_allowed=plan.otherwise is not None)
    if answer.called and plan.otherwise is not None:
        remark = "The model called tools twice in the cached shape, so the fresh shape was used."
        return plan.otherwise, await ask(plan.otherwise, given, services), "fresh", (remark,)
    return asked, answer, "cached", ()


def _hiding(given: ReductionInput, counter: TokenCounter, options: ContextOptions) -> _Hiding:
    keep, remarks = newest_to_keep(given, counter, options)
    where = cut(given.path, keep)
    _refuse_useless(where)
    required = required_attachments(given, where)
    raw_hidden, raw_required = counter.count_messages(where.hidden), counter.count_blocks(required_blocks(required))
    if raw_hidden <= raw_required:
        raise CondenseRefused(
            f"Nothing would be freed: of the {plural(raw_hidden, 'token')} to hide, {raw_required:,} must stay "
            "(commands, pins, the open request, todo items). Condense later."
        )
    order = {entry.id: place for place, entry in enumerate(given.path)}
    hides = tuple(sorted((message.entry_id for message in where.hidden), key=order.__getitem__))
    return _Hiding(where, hides, raw_hidden, required, remarks)


def _refuse_useless(where: Cut) -> None:
    visible = (*where.hidden, *where.kept)
    since = messages_since_summary(visible)
    if since is not None and since <= 1:
        raise CondenseRefused(NOTHING_NEW)
    if len(visible) < _FEWEST_MESSAGES or len(where.hidden) < _FEWEST_MESSAGES:
        raise CondenseRefused("There are not enough messages to condense yet.")


def _may_stage(given: ReductionInput) -> bool:
    return given.trigger != "automatic" or decide(given.context_tokens, given.limits) == "over"


def _remarks_on_model(given: ReductionInput) -> tuple[str, ...]:
    if given.summariser is None:
        return ()
    name = given.summariser.model.id
    return (f"Written by {name}, not the conversation's own model; names and tool calls may be less exact.",)
