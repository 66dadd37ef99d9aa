"""One call of the model that writes summaries: what it answered, and what it cost whatever happens."""

from dataclasses import dataclass, replace

from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
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


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """What the model wrote: its text, trimmed, and all of its blocks. `cut` says that the output limit ended it."""

    text: str
    cut: bool = False
    blocks: tuple[Block, ...] = ()

    @property
    def called(self) -> bool:
        """Whether it asked for tools."""
        return any(isinstance(block, ToolUse) for block in self.blocks)


async def ask(
    request: Request, given: ReductionInput, services: ReductionServices, *, calls_allowed: bool = False
) -> SummaryAnswer:
    """Return one answer. What every attempt used is charged, also when this is cancelled.

    With `calls_allowed` an answer that calls tools is returned for the caller to deal with.

    Raises:
        CondenseError: the model failed, refused, or answered nothing or (unless allowed) with a tool call.
    """
    usage: Usage | None = None
    streamed: list[str] = []
    closed: list[Block] = []
    finished, stop_reason = False, ""
    writer = given.writer

    def charge() -> None:
        if usage is not None:
            written = 0 if finished else round(writer.ratio * services.counter.count_text("".join(streamed)))
            services.charge(writer.model, replace(usage, output_tokens=max(usage.output_tokens, written)))

    try:
        async for event in services.ask(request):
            match event:
                case Started():
                    # A new attempt: what the one before wrote is void, but was paid for.
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
    except ModelError as error:
        charge()
        usage = None
        raise CondenseError(
            failed(given, services, str(error), status=error.status, code=error.code, body=error.body)
        ) from error
    finally:
        charge()
    text = "".join(block.text for block in closed if isinstance(block, Text)).strip()
    answer = SummaryAnswer(text, stop_reason == "max_tokens", tuple(closed))
    if problem := _problem(answer, calls_allowed, finished, stop_reason):
        raise CondenseError(failed(given, services, problem, body=text))
    return answer


def _problem(answer: SummaryAnswer, calls_allowed: bool, finished: bool, stop_reason: str) -> str:
    if not finished:
        return "The answer ended without its last event. Condense again, or choose another model."
    if answer.called:
        if calls_allowed:
            return ""
        return "The model called a tool instead of writing a summary. Condense again, or choose another model."
    if stop_reason == "refusal":
        return "The model refused to write a summary. Condense with instructions, or choose another model."
    if not answer.text:
        return "The model answered with an empty summary. Condense again, or choose another model."
    return ""


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
