"""The input of a reduction: values it needs and services it may call."""

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
"""Returns outlines of files as (path, outline) pairs, in the given order. An unreadable file is left out; a readable
file without definitions has an empty outline."""

Digests = Callable[[tuple[str, ...]], Awaitable[Sequence[tuple[str, str]]]]
"""Returns what files hold now as (path, SHA-256 of the bytes) pairs; the hash of a deleted file is empty. Paths are
relative to the workspace. A file whose state is unknown is left out."""


@dataclass(frozen=True, slots=True)
class Summariser:
    """A model that writes summaries. `window` is in tokens; `ratio` is how many of its tokens one raw token makes."""

    model: ModelInfo
    window: int
    ratio: float


@dataclass(frozen=True, slots=True)
class ReductionInput:
    """The state of a task from which a reduction starts.

    `context_tokens` is calibrated and includes system prompt and tools; one raw token of this history makes `ratio` of
    them. `instructions` are for this run only. `environment` is used only for automatic and forced reductions.
    `read_files` are relative to the workspace, newest first. `todos` are (text, state) pairs.

    `last_prefix` is the `prefix_hash` (of `condense.request`) of the last answered request, `idle_s` the seconds since
    then, None if unknown; `thinking` and `temperature` are those of that request. `summariser` is None if the
    conversation's own model writes the summary. `summary_tokens` is the usual length of that model's summaries, 0 if
    unknown.
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
        """Return the model that writes the summary, with its window and ratio."""
        return self.summariser or Summariser(self.model, self.limits.window, self.ratio)

    def after(self, raw_hidden: int, raw_shown: int) -> int:
        """Return the context tokens after a reduction that hides and shows this many raw tokens.

        Law: `after = before - ratio x (raw(hidden) - raw(shown))`, at least 0.
        """
        return max(0, self.context_tokens - round(self.ratio * (raw_hidden - raw_shown)))


async def _no_outlines(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
    return [(path, "") for path in paths]


async def _no_digests(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:  # noqa: ARG001
    return ()


def _ignore_text(text: str) -> None:
    """Do nothing."""


@dataclass(slots=True)
class ReductionServices:
    """The services that a reduction calls, and what it has used so far. Make a new one for each reduction.

    `ask` streams one answer of the model that writes summaries and raises `ModelError`; it may retry, and each attempt
    begins with `Started`. `on_text` gets the summary while it is written. `usage` and `cost_usd` include unfinished
    attempts, so they are correct after a cancel.
    """

    ask: Callable[[Request], AsyncIterator[ModelEvent]]
    counter: TokenCounter
    fold: Fold = _no_outlines
    digests: Digests = _no_digests
    on_text: Callable[[str], None] = _ignore_text
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None

    def charge(self, model: ModelInfo, usage: Usage) -> None:
        """Add the usage of one attempt and its cost."""
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
    """Return the body of a condense that failed, with its cost so far."""
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
