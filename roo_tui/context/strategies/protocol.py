"""The contract of a strategy and of the other extension points of context management.

    validate (numbers)  →  prepare (pure)  →  perform (only if a model is asked)  →  bodies, appended by the caller

Each protocol is also the contract of an entry-point group; `plugins.py` names the groups.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from roo_tui.context.history.effective import Visible
from roo_tui.context.ladder import target_tokens
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, Summariser
from roo_tui.context.window.thresholds import Thresholds
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.entries import Body
from roo_tui.domain.previews import CondensePreview
from roo_tui.domain.requests import ModelEvent, Request

Ask = Callable[[Request], AsyncIterator[ModelEvent]]


def _no_profile(name: str) -> "ProfileModel | None":
    """Return None: no profile has a model to ask."""
    del name
    return None


@dataclass(frozen=True, slots=True)
class StrategyOptions:
    """The options of a strategy's run, in addition to the reduction input.

    `thresholds` are the general ones, `per_strategy` those of single strategies by id. `preset` is a preset of `smart`;
    with the preset `custom`, the configuration is the JSON text `custom`. `profiles` returns the model of a named
    profile, None if there is no such profile. `in_turn` means that a turn is running; nothing in its tool loop is
    masked.
    """

    counter: TokenCounter
    context: ContextOptions = field(default_factory=ContextOptions)
    thresholds: Thresholds = field(default_factory=Thresholds)
    per_strategy: Mapping[str, Thresholds] = field(default_factory=dict)
    preset: str = "balanced"
    custom: str = ""
    profiles: "Callable[[str], ProfileModel | None]" = _no_profile
    truncation_selector: "TruncationSelector | None" = None
    in_turn: bool = False

    def thresholds_of(self, strategy_id: str) -> Thresholds:
        """Return the thresholds of a strategy: its own, or the general ones for those not set."""
        return self.per_strategy.get(strategy_id, Thresholds()).over(self.thresholds)

    def target(self, given: ReductionInput, strategy_id: str) -> int | None:
        """Return the context tokens to stop at: the threshold's or the ladder's. None removes all it can (manual)."""
        thresholds = self.thresholds_of(strategy_id)
        if thresholds.stop_tokens:
            return thresholds.stop_tokens
        if given.trigger == "manual":
            return None
        return target_tokens(given.limits, given.trigger, thresholds.min_gain_tokens)


@dataclass(frozen=True, slots=True)
class ProfileModel:
    """Another profile's model, and how to ask it."""

    ask: Ask
    summariser: Summariser


@dataclass(frozen=True, slots=True)
class StrategyPlan:
    """What a strategy is going to do.

    `preview` is shown to the user: make it with `preview` if a model will be asked, else with `preview_of_bodies` (both
    in `context.condense.preview`). `bodies` are the result if no model is asked. `state` is any value that `perform`
    needs.
    """

    preview: CondensePreview
    bodies: tuple[Body, ...] = ()
    state: object = None


class Strategy(Protocol):
    """One way to reduce the context.

    It changes nothing itself: it returns markers (`Condense`, `Truncation`, `Mask`) for the caller to append, so order
    and pairs of calls and results stay intact. Strategies with a lower `priority` are offered first.
    """

    id: str
    name: str
    description: str
    enabled: bool
    priority: int

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        """Return why the strategy cannot run, as sentences for the user; empty if it can."""
        ...

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        """Return the plan without asking a model. Called in a thread.

        Raises:
            CondenseRefused: there is nothing to do, or nothing to gain.
        """
        ...


@runtime_checkable
class Performs(Protocol):
    """A strategy that asks a model. Without it, the plan's bodies are the result."""

    async def perform(
        self, plan: StrategyPlan, given: ReductionInput, services: ReductionServices, options: StrategyOptions
    ) -> tuple[Body, ...]:
        """Return the bodies to append, in order.

        Raises:
            CondenseRefused: no model was asked, and nothing can be gained.
            CondenseError: a model failed; the error's body has the cost.
        """
        ...


class ThresholdResolver(Protocol):
    """Decides the thresholds of a run."""

    def resolve(self, given: ReductionInput, strategy_id: str, thresholds: Thresholds) -> Thresholds:
        """Return the thresholds to use; `thresholds` are those of the settings or of an earlier resolver."""
        ...


class PromptGenerator(Protocol):
    """Writes the prompt that asks for a summary."""

    def prompt(self, given: ReductionInput, strategy_id: str, prompt: str) -> str:
        """Return the prompt to use; `prompt` is that of the settings or an earlier generator, blank if built-in."""
        ...


class TruncationSelector(Protocol):
    """Chooses what the truncation strategy hides."""

    def order(self, given: ReductionInput, units: Sequence[tuple[Visible, ...]]) -> Iterable[int]:
        """Return the indices of the units that may be hidden, in the order to hide them; other units stay.

        A unit is the smallest part of the history that can be hidden alone: it has no call without its result. Units
        are oldest first; without a selector they are hidden in this order.
        """
        ...


class StrategySelector(Protocol):
    """Chooses which strategy runs."""

    def select(self, given: ReductionInput, strategies: Sequence[Strategy], chosen: str) -> str:
        """Return the id of one of the strategies; `chosen` is the one named by the settings or the user."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """A validator's judgement of a result. `score` is between 0 and 1."""

    valid: bool = True
    issues: tuple[str, ...] = ()
    score: float = 1.0


class Validator(Protocol):
    """Judges a result before it is appended. An invalid result is refused; issues of a valid one become remarks."""

    def check(self, given: ReductionInput, bodies: Sequence[Body]) -> Verdict:
        """Return the verdict on the bodies."""
        ...


@dataclass(frozen=True, slots=True)
class StrategyEvent:
    """An event of a run, for listeners and shell hooks. `tokens_after` is 0 if unknown."""

    kind: Literal["start", "success", "failure", "fallback"]
    strategy: str
    given: ReductionInput
    bodies: tuple[Body, ...] = ()
    tokens_after: int = 0
    message: str = ""
    next_rung: str = ""


class Listener(Protocol):
    """Receives the events of runs. Called on the event loop, so it must return at once."""

    def on_event(self, event: StrategyEvent) -> None:
        """Handle a start, success, failure or fallback."""
        ...
