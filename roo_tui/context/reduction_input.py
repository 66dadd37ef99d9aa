"""What a reduction of the context must know, as values, and what it may call."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from roo_tui.context.window.policy import Limits
from roo_tui.context.window.tokens import TokenCounter, cost
from roo_tui.domain.entries import Entry
from roo_tui.domain.markers import CondenseFailed, Trigger
from roo_tui.domain.requests import ModelEvent, ModelInfo, Request, ToolSpec
from roo_tui.domain.usage import Usage, add_costs

Fold = Callable[[tuple[str, ...]], Awaitable[Sequence[tuple[str, str]]]]
"""Outlines of files: (path, outline) pairs in the order asked for. A file that cannot be read is left out; one that can
but has nothing to outline comes with an empty outline."""

Digests = Callable[[tuple[str, ...]], Awaitable[Sequence[tuple[str, str]]]]
"""What files hold now: (path, SHA-256 of the bytes) pairs, the hash empty for a file that is gone. Paths are relative
to the workspace; one that cannot be told is left out."""


@dataclass(frozen=True, slots=True)
class Summariser:
    """Another model than the conversation's writes the summary. `window` is in tokens, `ratio` its calibration."""

    model: ModelInfo
    window: int
    ratio: float


@dataclass(frozen=True, slots=True)
class ReductionInput:
    """The moment a reduction starts from.

    `context_tokens` is calibrated and counts system prompt and tools; `ratio` is how many of them one raw token of this
    very history makes.
    `instructions` are for this one run. `environment` is used for automatic and forced reductions only. `read_files`
    are relative to the workspace, newest first; `todos` are (text, state) pairs.

    `last_prefix` is `request_shape.prefix_hash` of the last request that was answered, `idle_s` the seconds since then
    (None: not known); `thinking` and `temperature` are what that request was sent with. `summariser` is None where the
    conversation's own model writes the summary. `summary_tokens` is how long its answers to condense requests usually
    are, 0 where that is not known.
    """

    path: tuple[Entry, ...]
    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    model: ModelInfo
    limits: Limits
    context_tokens: int
    ratio: float
    trigger: Trigger
    instructions: str = ""
    environment: str = ""
    read_files: tuple[str, ...] = ()
    todos: tuple[tuple[str, str], ...] = ()
    last_prefix: str = ""
    idle_s: float | None = None
    thinking: Literal["off", "adaptive"] = "off"
    temperature: float | None = None
    summariser: Summariser | None = None
    summary_tokens: int = 0

    @property
    def writer(self) -> Summariser:
        """The model that writes the summary, with its window and ratio."""
        return self.summariser or Summariser(self.model, self.limits.window, self.ratio)

    def after(self, raw_hidden: int, raw_shown: int) -> int:
        """Return the context tokens once something is hidden and something else is shown in its place.

        Law: `after = before - ratio x (raw(hidden) - raw(shown))`; never less than nothing.
        """
        return max(0, self.context_tokens - round(self.ratio * (raw_hidden - raw_shown)))


async def _no_outlines(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
    return [(path, "") for path in paths]


async def _no_digests(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:  # noqa: ARG001
    return ()


def _nowhere(text: str) -> None:
    """Text that nobody watches."""


@dataclass(slots=True)
class ReductionServices:
    """What a reduction calls, and what it has spent so far: make one for each reduction.

    `ask` streams one answer of the model that writes summaries and raises `ModelError`; it may retry, each attempt
    begins with `Started`. `on_text` gets the summary as it is written. `usage` and `cost_usd` count every attempt,
    unfinished ones too, so that they can be read after a cancel.
    """

    ask: Callable[[Request], AsyncIterator[ModelEvent]]
    counter: TokenCounter
    fold: Fold = _no_outlines
    digests: Digests = _no_digests
    on_text: Callable[[str], None] = _nowhere
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None

    def charge(self, model: ModelInfo, usage: Usage) -> None:
        """Add what one attempt used."""
        self.usage += usage
        self.cost_usd = add_costs(self.cost_usd, cost(model, usage))


def failed(
    given: ReductionInput,
    services: ReductionServices,
    message: str,
    *,
    status: int = 0,
    code: str = "",
    body: str = "",
    tokens_after: int = 0,
    cancelled: bool = False,
) -> CondenseFailed:
    """Return the body of a condense that changed nothing, with what it cost so far."""
    return CondenseFailed(
        trigger=given.trigger,
        message=message,
        status=status,
        code=code,
        body=body,
        cancelled=cancelled,
        tokens_before=given.context_tokens,
        tokens_after=tokens_after,
        cost_usd=services.cost_usd,
    )
