"""One call of the model that writes summaries: its answer, and its cost whatever the outcome."""

from dataclasses import dataclass, replace

from roo_tui.context.history.as_text import without_pictures
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.context.window.overflow import refused_content
from roo_tui.domain.blocks import Block, Text, ToolUse
from roo_tui.domain.errors import CondenseError, ModelError
from roo_tui.domain.requests import BlockClosed, BlockDelta, Finished, Request, Started
from roo_tui.domain.usage import Usage
from roo_tui.prompt_files import render

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


# The model did not end these answers itself.
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """A model's answer: its trimmed text and all of its blocks. `cut` means that the output limit ended it."""

    text: str
    cut: bool = False
    blocks: tuple[Block, ...] = ()

    @property
    def called(self) -> bool:
        """Return whether the model called tools."""
        return any(isinstance(block, ToolUse) for block in self.blocks)


async def ask(
    request: Request, given: ReductionInput, services: ReductionServices, *, calls_allowed: bool = False
) -> SummaryAnswer:
    """Return one answer. Every attempt is charged, even after a cancel.

    If the provider refuses the request for a picture or its bytes, it is asked again without pictures. With
    `calls_allowed`, an answer that calls tools is returned, and the caller must handle it.

    Raises:
        CondenseError: the model failed, refused, answered nothing, or (unless allowed) called a tool.
    """
    try:
        try:
            return await _ask_once(request, given, services, calls_allowed)
        except ModelError as error:
            plain = without_pictures(request.messages)
            if refused_content(error) is None or plain == request.messages:
                raise
            return await _ask_once(replace(request, messages=plain), given, services, calls_allowed)
    except ModelError as error:
        raise CondenseError(
            failed(given, services, str(error), status=error.status, code=error.code, body=error.body)
        ) from error


async def _ask_once(
    request: Request, given: ReductionInput, services: ReductionServices, calls_allowed: bool
) -> SummaryAnswer:
    usage: Usage | None = None
    streamed: list[str] = []
    closed: list[Block] = []
    finished, stop_reason = False, ""
    writer = given.writer

    def charge() -> None:
        """Charge the current attempt; one that did not finish, for what it streamed."""
        if usage is not None:
            written = 0 if finished else round(writer.ratio * services.counter.count_text("".join(streamed)))
            services.charge(writer.model, replace(usage, output_tokens=max(usage.output_tokens, written)))

    try:
        async for event in services.ask(request):
            match event:
                case Started():
                    # A new attempt: the text of the one before is discarded, but it was paid for.
                    charge()
                    usage = event.usage
                    streamed.clear()
                    closed.clear()
                case BlockDelta(text=text):
                    streamed.append(text)
                    services.on_text(text)
                case BlockClosed(block=block):
                    closed.append(block)
                case Finished():
                    usage, finished, stop_reason = event.usage, True, event.stop_reason
                case _:
                    pass
    finally:
        charge()
    text = "".join(block.text for block in closed if isinstance(block, Text)).strip()
    answer = SummaryAnswer(text, stop_reason in _CUT, tuple(closed))
    if problem := _problem(answer, calls_allowed, finished, stop_reason):
        raise CondenseError(failed(given, services, problem, body=text))
    return answer


def _problem(answer: SummaryAnswer, calls_allowed: bool, finished: bool, stop_reason: str) -> str:
    if not finished or stop_reason == "pause_turn":
        return "The model's answer was incomplete. Condense again, or choose another model."
    if answer.called:
        if calls_allowed:
            return ""
        return "The model called a tool instead of writing a summary. Condense again, or choose another model."
    if stop_reason == "refusal":
        return "The model refused to write a summary. Condense with instructions, or choose another model."
    if not answer.text:
        return "The model returned an empty summary. Condense again, or choose another model."
    return ""


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
