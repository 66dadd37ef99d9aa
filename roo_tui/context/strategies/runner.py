"""Run a strategy: the steps around it, which are the same for all strategies.

    choose → thresholds → before-hooks → prompt → validate → prepare → perform → judge → after-hooks

A run appends nothing: the caller gets bodies, or an error and an unchanged history.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from roo_tui.context.condense.preview import is_warm
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, failed
from roo_tui.context.strategies.hooks import CondenseHooks
from roo_tui.context.strategies.protocol import (
    Listener,
    Performs,
    PromptGenerator,
    Strategy,
    StrategyEvent,
    StrategyOptions,
    StrategyPlan,
    StrategySelector,
    ThresholdResolver,
    TruncationSelector,
    Validator,
    Verdict,
)
from roo_tui.context.strategies.reduction_math import raw_change
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CommandRefused, CondenseError, CondenseRefused, SettingsError
from roo_tui.domain.markers import Marker
from roo_tui.plain_text import plural


@dataclass(frozen=True, slots=True)
class Extensions:
    """The extensions that take part in every run, in order. The last selector decides."""

    threshold_resolvers: tuple[ThresholdResolver, ...] = ()
    prompt_generators: tuple[PromptGenerator, ...] = ()
    truncation_selectors: tuple[TruncationSelector, ...] = ()
    strategy_selectors: tuple[StrategySelector, ...] = ()
    validators: tuple[Validator, ...] = ()
    listeners: tuple[Listener, ...] = ()


class Registry:
    """Strategies by id."""

    def __init__(self, strategies: Iterable[Strategy] = ()) -> None:
        self._strategies: dict[str, Strategy] = {}
        for strategy in strategies:
            self.register(strategy)

    def register(self, strategy: Strategy, *, replace: bool = False) -> None:
        """Add a strategy.

        Raises:
            SettingsError: another strategy has this id, and `replace` is false.
        """
        if strategy.id in self._strategies and not replace:
            raise SettingsError(f"There is already a strategy “{strategy.id}”. Give the new one another id.")
        self._strategies[strategy.id] = strategy

    def all(self) -> tuple[Strategy, ...]:
        """Return every strategy, the lowest priority number first."""
        return tuple(sorted(self._strategies.values(), key=lambda strategy: (strategy.priority, strategy.id)))

    def enabled(self) -> tuple[Strategy, ...]:
        """Return the strategies that are switched on, the lowest priority number first."""
        return tuple(strategy for strategy in self.all() if strategy.enabled)

    def get(self, strategy_id: str) -> Strategy:
        """Return the strategy with this id.

        Raises:
            CommandRefused: there is no such strategy, or it is switched off.
        """
        strategy = self._known(strategy_id)
        if not strategy.enabled:
            raise CommandRefused(f"The strategy “{strategy_id}” is switched off. Choose one of: {self._choices()}.")
        return strategy

    def _known(self, strategy_id: str) -> Strategy:
        if strategy_id not in self._strategies:
            raise CommandRefused(f"There is no strategy “{strategy_id}”. Choose one of: {self._choices()}.")
        return self._strategies[strategy_id]

    def _choices(self) -> str:
        return ", ".join(strategy.id for strategy in self.enabled()) or "none, because all are switched off"


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the strategies of a registry, with extensions and hooks."""

    registry: Registry
    extensions: Extensions = field(default_factory=Extensions)
    hooks: CondenseHooks = field(default_factory=CondenseHooks)

    def choose(self, given: ReductionInput, wanted: str) -> Strategy:
        """Return the strategy to run: the wanted one, unless a selector chooses another.

        Raises:
            CommandRefused: there is no such strategy, or it is switched off.
        """
        for selector in self.extensions.strategy_selectors:
            wanted = selector.select(given, self.registry.enabled(), wanted)
        return self.registry.get(wanted)

    def is_due(self, given: ReductionInput, options: StrategyOptions, wanted: str) -> bool:
        """Return whether the strategy's own trigger is reached. The policy's trigger is separate."""
        thresholds = self._resolved(given, options, wanted).thresholds_of(wanted)
        return 0 < thresholds.trigger_tokens <= given.context_tokens

    async def prepare(self, given: ReductionInput, options: StrategyOptions, wanted: str) -> "PreparedRun":
        """Return the plan of a run, for `run` to carry out. Runs no hooks and asks no model.

        Raises:
            CommandRefused: there is no such strategy, or it has nothing to do.
        """
        strategy = self.choose(given, wanted)
        options = self._resolved(given, options, strategy.id)
        return PreparedRun(strategy, given, options, await _plan(strategy, given, options))

    async def run(
        self,
        given: ReductionInput,
        services: ReductionServices,
        options: StrategyOptions,
        wanted: str,
        *,
        prepared: "PreparedRun | None" = None,
    ) -> tuple[Body, ...]:
        """Return the bodies to append, in order. A `prepared` run is carried out if it still fits.

        Raises:
            CommandRefused: there is no such strategy, or it is switched off.
            CondenseRefused: no model was asked, and nothing can be gained.
            CondenseError: a model was asked without a usable result; the error's body has the cost.
        """
        strategy = self.choose(given, wanted)
        reply = await self.hooks.run_before(StrategyEvent("start", strategy.id, given))
        if reply.blocked:
            raise CondenseRefused(f"A hook stopped the condense: {reply.reason or 'it gave no reason.'}")
        instructions = "\n\n".join(part for part in (given.instructions.strip(), reply.instructions) if part)
        given = replace(given, instructions=instructions)
        options = self._resolved(given, options, strategy.id)
        self._tell(StrategyEvent("start", strategy.id, given))
        try:
            bodies, tokens = await self._reduced(strategy, given, services, options, prepared)
        except asyncio.CancelledError:
            self._tell(StrategyEvent("failure", strategy.id, given, message="Cancelled."))
            raise
        except (CondenseRefused, CondenseError) as error:
            bodies = (error.body,) if isinstance(error, CondenseError) else ()
            await self._ended(StrategyEvent("failure", strategy.id, given, bodies, message=str(error)))
            raise
        await self._ended(StrategyEvent("success", strategy.id, given, bodies, tokens))
        return bodies

    def fell_back(self, given: ReductionInput, strategy_id: str, next_rung: str, message: str) -> None:
        """Report to the listeners that a strategy did not help, why, and which rung is next."""
        self._tell(StrategyEvent("fallback", strategy_id, given, message=message, next_rung=next_rung))

    async def _reduced(
        self,
        strategy: Strategy,
        given: ReductionInput,
        services: ReductionServices,
        options: StrategyOptions,
        prepared: "PreparedRun | None",
    ) -> tuple[tuple[Body, ...], int]:
        """Return the bodies and the context tokens they leave."""
        if prepared is not None and prepared.fits(strategy, given, options):
            given, plan = prepared.given, prepared.plan
        else:
            plan = await _plan(strategy, given, options)
        if isinstance(strategy, Performs):
            bodies = await strategy.perform(plan, given, services, options)
        else:
            bodies = plan.bodies
        least = options.thresholds_of(strategy.id).min_gain_tokens
        tokens, objection = await asyncio.to_thread(_judged, given, services, bodies, least)
        verdict = Verdict() if objection else self._verdict(given, bodies)
        if not objection and not verdict.valid:
            objection = "A validator refused the result: " + ("; ".join(verdict.issues) or "it gave no reason") + "."
        if objection:
            if services.usage.context_tokens:
                raise CondenseError(failed(given, services, objection, tokens_after=tokens))
            raise CondenseRefused(objection)
        return _remarked(bodies, verdict.issues), tokens

    def _resolved(self, given: ReductionInput, options: StrategyOptions, strategy_id: str) -> StrategyOptions:
        """Return the options after the resolvers, generators and selectors of plug-ins changed them."""
        thresholds = options.thresholds_of(strategy_id)
        for resolver in self.extensions.threshold_resolvers:
            thresholds = resolver.resolve(given, strategy_id, thresholds)
        prompt = options.context.condense_prompt
        for generator in self.extensions.prompt_generators:
            prompt = generator.prompt(given, strategy_id, prompt)
        selectors = self.extensions.truncation_selectors
        return replace(
            options,
            thresholds=thresholds,
            per_strategy={},
            context=replace(options.context, condense_prompt=prompt),
            truncation_selector=selectors[-1] if selectors else options.truncation_selector,
        )

    def _verdict(self, given: ReductionInput, bodies: Sequence[Body]) -> Verdict:
        """Return the validators' joint verdict: valid if all agree, every issue, and the lowest score."""
        verdicts = [validator.check(given, bodies) for validator in self.extensions.validators]
        return Verdict(
            all(verdict.valid for verdict in verdicts),
            tuple(issue for verdict in verdicts for issue in verdict.issues),
            min((verdict.score for verdict in verdicts), default=1.0),
        )

    async def _ended(self, event: StrategyEvent) -> None:
        self._tell(event)
        await self.hooks.run_after(event)

    def _tell(self, event: StrategyEvent) -> None:
        for listener in self.extensions.listeners:
            try:
                listener.on_event(event)
            except Exception:  # A failing listener must not fail the run.
                _log.exception("listener failed at the event %s of strategy %s", event.kind, event.strategy)


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A strategy's plan, and the input and options it was made for."""

    strategy: Strategy
    given: ReductionInput
    options: StrategyOptions
    plan: StrategyPlan

    def fits(self, strategy: Strategy, given: ReductionInput, options: StrategyOptions) -> bool:
        """Return whether the plan would be the same now: same strategy, input and options, and the cache as warm."""
        return (
            strategy is self.strategy
            and options == self.options
            and replace(given, idle_s=None) == replace(self.given, idle_s=None)
            and is_warm(given) == is_warm(self.given)
        )


async def _plan(strategy: Strategy, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
    problems = strategy.validate(given, options)
    if problems:
        raise CondenseRefused("\n".join(problems))
    return await asyncio.to_thread(strategy.prepare, given, options)


def _judged(
    given: ReductionInput, services: ReductionServices, bodies: Sequence[Body], min_gain: int
) -> tuple[int, str]:
    """Return the context tokens that are left, and why the bodies may not be appended, empty if they may."""
    path = appended(given.path, *bodies)
    change = raw_change(effective_history(given.path), effective_history(path), services.counter)
    after = given.after(*change)
    before = given.context_tokens
    if not bodies or change[0] <= change[1]:
        return after, f"Nothing would be freed: {before:,} → {after:,} tokens. Nothing was changed."
    if before - after < min_gain:
        freed = plural(before - after, "token")
        return after, f"Only {freed} would be freed, fewer than the smallest gain of {min_gain:,}."
    return after, ""


def _remarked(bodies: tuple[Body, ...], issues: tuple[str, ...]) -> tuple[Body, ...]:
    last = bodies[-1]
    if not issues or not isinstance(last, Marker):
        return bodies
    figures = replace(last.figures, remarks=(*last.figures.remarks, *issues))
    return (*bodies[:-1], replace(last, figures=figures))
