"""What a strategy is, what it is given, and the other points where context management can be extended.

    validate (numbers)  →  prepare (pure)  →  perform (only where a model is asked)  →  bodies, appended by the caller

Every protocol here is also the contract of an entry-point group; `plugins.py` names them.
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
    """No other model can be asked, whatever its profile is called."""
    del name
    return None


@dataclass(frozen=True, slots=True)
class StrategyOptions:
    """Everything a strategy may be told besides the reduction input.

    `thresholds` are the general ones, `per_strategy` those of single strategies by id. `preset` is a preset of `smart`,
    or `custom`: only then `custom`, a configuration as JSON text, is used. `profiles` finds the model of a named
    profile, None where there is no such profile. `in_turn`: a turn is running, nothing of its tool loop is masked.
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
        """Return the thresholds of a strategy: its own, where not set the general ones."""
        return self.per_strategy.get(strategy_id, Thresholds()).over(self.thresholds)

    def target(self, given: ReductionInput, strategy_id: str) -> int | None:
        """Return the context tokens to stop at: the threshold's, else the ladder's; None (manual): all it can."""
        thresholds = self.thresholds_of(strategy_id)
        if thresholds.stop_tokens:
            return thresholds.stop_tokens
        if given.trigger == "manual":
            return None
        return target_tokens(given.limits, given.trigger, thresholds.min_gain_tokens)


@dataclass(frozen=True, slots=True)
class ProfileModel:
    """Another profile's model: how to ask it, and what it is."""

    ask: Ask
    summariser: Summariser


@dataclass(frozen=True, slots=True)
class StrategyPlan:
    """What a strategy is going to do.

    `preview` is what a user is shown of it: make it with `preview` where a model will be asked, else with
    `preview_of_bodies` (both in `context.condense.preview`). `bodies` are what it comes to where no model is asked.
    `state` is the strategy's own, for `perform`.
    """

    preview: CondensePreview
    bodies: tuple[Body, ...] = ()
    state: object = None


class Strategy(Protocol):
    """One way to reduce the context.

    It never changes what is there: it returns markers (`Condense`, `Truncation`, `Mask`) for the caller to append, so
    order and pairs of calls and results stay. `priority`: lower is offered first.
    """

    id: str
    name: str
    description: str
    enabled: bool
    priority: int

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        """Return what stands in the way, as sentences for people; empty where it can run."""
        ...

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        """Return the plan without asking a model. Run in a thread.

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
            CondenseRefused: nothing was asked and nothing is gained.
            CondenseError: the model failed; its body says what it cost.
        """
        ...


class ThresholdResolver(Protocol):
    """Has the last word on the thresholds of a run."""

    def resolve(self, given: ReductionInput, strategy_id: str, thresholds: Thresholds) -> Thresholds:
        """Return the thresholds that hold."""
        ...


class PromptGenerator(Protocol):
    """Writes the words that ask for a summary."""

    def prompt(self, given: ReductionInput, strategy_id: str, prompt: str) -> str:
        """Return the prompt to use; `prompt` is what would be used, blank for the built-in one."""
        ...


class TruncationSelector(Protocol):
    """Chooses what truncation hides."""

    def order(self, given: ReductionInput, units: Sequence[tuple[Visible, ...]]) -> Iterable[int]:
        """Return which of the units may be hidden, first to go first; a unit left out stays.

        A unit is the smallest part of the history that can go alone: no call is in it without its result. Units come
        oldest first; without a selector they go in this order.
        """
        ...


class StrategySelector(Protocol):
    """Chooses which strategy runs."""

    def select(self, given: ReductionInput, strategies: Sequence[Strategy], chosen: str) -> str:
        """Return the id of one of the strategies; `chosen` is what the settings or the person named."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a validator thinks of a result; `score` is between 0 and 1."""

    valid: bool = True
    issues: tuple[str, ...] = ()
    score: float = 1.0


class Validator(Protocol):
    """Judges a result before it is appended. One that is not valid is refused; issues of a valid one become remarks."""

    def check(self, given: ReductionInput, bodies: Sequence[Body]) -> Verdict:
        """Return the verdict on the bodies."""
        ...


@dataclass(frozen=True, slots=True)
class StrategyEvent:
    """What listeners and shell hooks are told of a run. Token counts are 0 where they are not known yet."""

    kind: Literal["start", "success", "failure", "fallback"]
    strategy: str
    given: ReductionInput
    bodies: tuple[Body, ...] = ()
    tokens_after: int = 0
    message: str = ""
    next_rung: str = ""


class Listener(Protocol):
    """Is told what happens. Called on the event loop: it must return at once."""

    def on_event(self, event: StrategyEvent) -> None:
        """Take note of a start, success, failure or fallback."""
        ...
