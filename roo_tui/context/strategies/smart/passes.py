"""The passes of the smart strategy, in two modes.

    individual   keeps, suppresses, truncates or summarises each content; errors and untouchable messages stay
    batch        replaces all selected messages but the first and last few with one summary

A pass that needs summaries first returns jobs and is finished with their answers. Contents are masked where they are,
so messages keep their order, and calls and results keep their ids.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from roo_tui.context.condense.attachments import answer_block, required_attachments, required_blocks
from roo_tui.context.condense.cut_point import Cut, cut
from roo_tui.context.condense.preview import summary_tokens
from roo_tui.context.condense.request import LEAST_OUTPUT, MOST_OUTPUT, fresh, instruction
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.strategies.pieces import Part, Piece, PieceLocation, pieces_of, stretch, suppressed, whole
from roo_tui.context.strategies.smart.config import (
    BatchSummary,
    Individual,
    Operation,
    Pass,
    SummarizeOperation,
    SummarizeParams,
    SuppressOperation,
    TruncateOperation,
    TruncateParams,
    selected,
)
from roo_tui.context.strategies.smart.draft import DraftHistory
from roo_tui.domain.blocks import Message, Text, ToolUse, tool_results
from roo_tui.domain.ids import entry_ref
from roo_tui.domain.markers import Condense, MaskItem
from roo_tui.domain.requests import ModelInfo, Request
from roo_tui.prompt_files import render

FALLBACK_CHARACTERS = 200
USUAL_TOKENS = 200
_SHORTEST_INPUT = 120

_KINDS = {"text": "messageText", "input": "toolParameters", "result": "toolResults"}
_FIELDS: dict[Part, str] = {"text": "message_text", "input": "tool_parameters", "result": "tool_results"}
_PROMPTS = {"text": "strategies/piece_text", "input": "strategies/piece_input", "result": "strategies/piece_result"}


@dataclass(frozen=True, slots=True)
class Job:
    """One summary to ask for. `build` returns the request for a model; `profile` names its profile, blank if usual.

    `max_tokens` limits the answer; `assumed_tokens` is the length that a preview assumes.
    """

    build: Callable[[ModelInfo], Request]
    profile: str
    assumed_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """The outcome of a job: a text or an error, and the cost in US dollars (None if unknown)."""

    text: str = ""
    error: str = ""
    cost_usd: float | None = None


class IndividualPass:
    """A pass in individual mode on a draft history."""

    def __init__(self, step: Pass, config: Individual, draft: DraftHistory) -> None:
        self._draft = draft
        self._config = config
        visible = effective_history(draft.path)
        self._visible = visible
        self._count = selected(step.selection, len(visible))
        self._overrides = {override.message_index: override for override in config.overrides}
        self._stretches: dict[PieceLocation, list[MaskItem]] = {}
        for item in draft.masked():
            if item.part != "block":
                place = PieceLocation(item.entry_id, item.block, item.part, item.field)
                self._stretches.setdefault(place, []).append(item)
        self._stop = step.thresholds.stop_tokens
        self._items: list[tuple[Piece, MaskItem]] = []
        self._asked: list[tuple[Piece, SummarizeParams]] = []
        self.operations: Counter[str] = Counter()
        self._calls: dict[tuple[int, int], float] = {}
        for piece in pieces_of(draft.path, parts=self._parts(), until=self._count):
            if piece.place.entry_id not in draft.fixed and not piece.is_error:
                self._operate(piece)

    def jobs(self) -> list[Job]:
        """Return a job for each content to summarise, in order."""
        return [_piece_job(piece, params) for piece, params in self._asked]

    def finish(self, answers: Sequence[JobAnswer]) -> str:
        """Apply the pass and return what went wrong. A content without a summary is truncated."""
        errors = []
        for (piece, _), answer in zip(self._asked, answers, strict=True):
            kind = _KINDS[piece.place.part]
            if answer.text:
                self.operations[f"{kind}:summarize"] += 1
                values = {"entry": entry_ref(piece.place.entry_id), "summary": answer.text}
                placeholder = render("strategies/piece_summary", **values)
                if len(placeholder) < len(piece.shown):
                    self._items.append((piece, whole(piece, placeholder)))
            else:
                errors.append(answer.error)
                self._shorten(piece, TruncateParams(max_chars=FALLBACK_CHARACTERS))
        self._draft.mask(self._until_stop())
        return f"{len(errors)} of {len(answers)} summaries failed: {errors[0]}" if errors else ""

    def _until_stop(self) -> list[MaskItem]:
        """Return the items, oldest first; if the pass has its own target, only as many as reach it."""
        items = sorted(self._items, key=lambda pair: pair[0].message)
        if not self._stop:
            return [item for _, item in items]
        chosen, left = [], float(self._draft.tokens)
        count, ratio = self._draft.counter.count_text, self._draft.given.ratio
        for piece, item in items:
            if left <= self._stop:
                break
            chosen.append(item)
            left -= ratio * (count(piece.text[item.start : item.end]) - count(item.placeholder))
        return chosen

    def _parts(self) -> list[Part]:
        """Return the kinds of content that the pass changes in any message."""
        sets = (self._config.defaults, *(override.operations for override in self._config.overrides))
        return [
            part
            for part, field in _FIELDS.items()
            if any((found := getattr(one, field)) is not None and found.operation != "keep" for one in sets)
        ]

    def _operate(self, piece: Piece) -> None:
        operation, least = self._rule(piece)
        if operation.operation == "keep" or (least is not None and not self._reaches(piece, least)):
            return
        match operation:
            case SuppressOperation():
                self._suppress(piece)
            case TruncateOperation(params=limits):
                self._shorten(piece, limits)
            case SummarizeOperation(params=wanted):
                self._asked.append((piece, wanted))
            case _:
                pass

    def _rule(self, piece: Piece) -> tuple[Operation, int | None]:
        """Return the operation for a piece, and the tokens from which it applies."""
        defaults, sizes = self._config.defaults, self._config.message_token_thresholds
        field = _FIELDS[piece.place.part]
        operation: Operation = getattr(defaults, field)
        least: int | None = getattr(sizes, field)
        override = self._overrides.get(piece.message)
        if override is not None:
            operation = getattr(override.operations, field) or operation
            if override.message_token_thresholds is not None:
                own = getattr(override.message_token_thresholds, field)
                least = least if own is None else own
        return operation, least

    def _reaches(self, piece: Piece, least: int) -> bool:
        """Return whether a content has at least so many calibrated tokens; for an input, those of the whole call."""
        counter, ratio = self._draft.counter, self._draft.given.ratio
        if not isinstance(piece.block, ToolUse):
            # No text has more tokens than bytes, so a short one need not be counted.
            return 4 * len(piece.shown) * ratio >= least and counter.count_text(piece.shown) * ratio >= least
        if len(piece.shown) <= _SHORTEST_INPUT:
            return False
        call = (piece.message, piece.place.block)
        if call not in self._calls:
            block = self._visible[piece.message].blocks[piece.place.block]
            self._calls[call] = counter.count_block(block) * ratio
        return self._calls[call] >= least

    def _suppress(self, piece: Piece) -> None:
        placeholder = suppressed(piece.place.entry_id)
        shortest = _SHORTEST_INPUT if piece.place.part == "input" else len(placeholder)
        if len(piece.shown) > max(shortest, len(placeholder)):
            self._note(piece, "suppress")
            self._items.append((piece, whole(piece, placeholder)))

    def _shorten(self, piece: Piece, limits: TruncateParams) -> None:
        end = _cut_point(piece.text, limits)
        for item in self._stretches.get(piece.place, ()):
            # A stretch that is already masked is not cut in two.
            if item.start < end < item.end:
                end = item.start
        entry = entry_ref(piece.place.entry_id)
        placeholder = render("strategies/shortened", entry=entry) if limits.add_ellipsis else ""
        if placeholder and end and piece.text[end : end + 1] == "\n":
            placeholder = f"\n{placeholder}"
        if len(piece.text) - end > len(placeholder) and len(piece.shown) > end + len(placeholder):
            self._note(piece, "truncate")
            self._items.append((piece, stretch(piece, end, len(piece.text), placeholder)))

    def _note(self, piece: Piece, operation: str) -> None:
        self.operations[f"{_KINDS[piece.place.part]}:{operation}"] += 1


class BatchPass:
    """A pass in batch mode on a draft history."""

    def __init__(self, step: Pass, config: BatchSummary, draft: DraftHistory) -> None:
        self._draft = draft
        self._config = config
        self.operations: Counter[str] = Counter()
        visible = effective_history(draft.path)
        self._visible = visible
        last = selected(step.selection, len(visible)) - config.keep_last
        cuts = legal_cuts(visible)
        self._start = next((at for at in cuts if at >= config.keep_first), len(visible))
        self._end = max((at for at in cuts if at <= last), default=0)
        if draft.options.in_turn:
            began = next((at for at in reversed(range(len(visible))) if _is_typed(visible[at])), 0)
            self._end = max((at for at in cuts if at <= min(last, began)), default=0)

    @property
    def hidden(self) -> tuple[Visible, ...]:
        """Return the messages that the summary replaces; empty if fewer than two."""
        return self._visible[self._start : self._end] if self._end - self._start > 1 else ()

    def jobs(self) -> list[Job]:
        """Return the one job; none if there is nothing to summarise or the request does not fit the model's window."""
        if not self.hidden or self._too_long():
            return []
        hidden, options, given = self.hidden, self._draft.options, self._draft.given
        longest = self._config.max_tokens or max(LEAST_OUTPUT, min(MOST_OUTPUT, given.limits.reserved))
        prompt = self._config.custom_prompt.strip() or options.context.condense_prompt
        text = instruction(replace(options.context, condense_prompt=prompt), given.instructions)

        def build(model: ModelInfo) -> Request:
            """Return the request for the summary."""
            return fresh(hidden, text, model, longest)

        assumed = self._config.max_tokens or summary_tokens(given)
        return [Job(build, self._config.api_profile, assumed, longest)]

    def finish(self, answers: Sequence[JobAnswer]) -> str:
        """Apply the pass and return what went wrong. A summary that is not smaller changes nothing."""
        if not answers:
            return "The messages are too long to summarise in one request." if self.hidden else ""
        answer = answers[0]
        if not answer.text:
            return answer.error
        draft = self._draft
        before = draft.tokens
        state = draft.state()
        order = {entry.id: at for at, entry in enumerate(draft.path)}
        hides = tuple(sorted((message.entry_id for message in self.hidden), key=order.__getitem__))
        draft.condense(Condense(hides, self._summary(answer.text)))
        if draft.tokens >= before:
            after = draft.tokens
            draft.restore(state)
            return f"The summary is not smaller than what it would hide: {before:,} → {after:,} tokens."
        self.operations["batch:summarize"] += 1
        return ""

    def _too_long(self) -> bool:
        writer = self._draft.given.writer
        prompt = writer.ratio * self._draft.counter.count_messages(self.hidden)
        return prompt + (self._config.max_tokens or LEAST_OUTPUT) > writer.window

    def _summary(self, answer: str) -> tuple[Text, ...]:
        """Return the summary message: the answer, then what must be kept of the hidden messages."""
        path, hidden = self._draft.path, self.hidden
        kept = tuple(message for message in self._visible if message not in hidden)
        request = cut(path, len(self._visible) - self._end).request
        required = dict(required_attachments(replace(self._draft.given, path=path), Cut(hidden, kept, request)))
        if self._start > 0 and not any(message.source == "summary" for message in hidden):
            del required["commands"]
        typed = next((message for message in reversed(self._visible) if _is_typed(message)), None)
        if typed in kept:
            del required["request"]
        return (answer_block(answer), *required_blocks(required))


def _is_typed(message: Visible) -> bool:
    return message.role == "user" and message.source == "entry" and not tool_results(message.blocks)


def _cut_point(text: str, limits: TruncateParams) -> int:
    """Return the offset at which to cut a text: after the most lines or the most characters, whichever is first."""
    end = len(text)
    if limits.max_lines is not None:
        at = -1
        for _ in range(limits.max_lines):
            at = text.find("\n", at + 1)
            if at < 0:
                break
        end = max(at, 0) if at >= 0 or limits.max_lines == 0 else end
    return end if limits.max_chars is None else min(end, limits.max_chars)


def _piece_job(piece: Piece, params: SummarizeParams) -> Job:
    tokens = params.max_tokens or USUAL_TOKENS
    prompt = params.custom_prompt.strip() or render(_PROMPTS[piece.place.part])
    text = piece.shown

    def build(model: ModelInfo) -> Request:
        """Return the request for the summary, the same for every model."""
        del model
        request = render("strategies/piece_request", instruction=prompt, tokens=tokens, content=text)
        return Request((Message("user", (Text(request),)),), max_output=tokens, cache=False)

    return Job(build, params.api_profile, tokens, tokens)


def counted(operations: Mapping[str, int]) -> tuple[str, ...]:
    """Return each operation with its count: `toolResults:truncate 12`."""
    return tuple(f"{name} {count}" for name, count in sorted(operations.items()))
