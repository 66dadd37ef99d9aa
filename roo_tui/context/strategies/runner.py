"""A run of a strategy: what happens around it, whichever it is.

    choose → thresholds → before-hooks → prompt → validate → prepare → perform → judge → after-hooks

Nothing is appended here: the caller gets bodies, or an error and an unchanged history.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from roo_tui.context.condense.summary_call import CondenseError
from roo_tui.context.history.effective import effective_history
from roo_tui.context.reduction_input import Services, Situation, failed
from roo_tui.context.strategies.hooks import Hooks
from roo_tui.context.strategies.plugins import Extensions
from roo_tui.context.strategies.protocol import Happening, Performs, Plan, Strategy, StrategyOptions, Verdict
from roo_tui.context.strategies.reduction_math import raw_change, with_bodies
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CommandRefused, CondenseRefused, SettingsError
from roo_tui.domain.markers import Condense, Mask, Truncation


class Registry:
    """Strategies by id. Objects of the same id replace each other only on request."""

    def __init__(self, strategies: Iterable[Strategy] = ()) -> None:
        self._strategies: dict[str, Strategy] = {}
        for strategy in strategies:
            self.register(strategy)

    def register(self, strategy: Strategy, *, replace: bool = False) -> None:
        """Add a strategy.

        Raises:
            SettingsError: another one has this id, and `replace` is not set.
        """
        if strategy.id in self._strategies and not replace:
            raise SettingsError(f"There is a strategy “{strategy.id}” already; give the new one another id.")
        self._strategies[strategy.id] = strategy

    def unregister(self, strategy_id: str) -> None:
        """Take a strategy out.

        Raises:
            CommandRefused: there is none of this id.
        """
        self._known(strategy_id)
        del self._strategies[strategy_id]

    def enable(self, strategy_id: str, on: bool = True) -> None:
        """Switch a strategy on or off.

        Raises:
            CommandRefused: there is none of this id.
        """
        self._known(strategy_id).enabled = on

    def all(self) -> tuple[Strategy, ...]:
        """Return every strategy, lowest priority number first."""
        return tuple(sorted(self._strategies.values(), key=lambda strategy: (strategy.priority, strategy.id)))

    def enabled(self) -> tuple[Strategy, ...]:
        """Return the strategies that are switched on, in the same order."""
        return tuple(strategy for strategy in self.all() if strategy.enabled)

    def get(self, strategy_id: str) -> Strategy:
        """Return a strategy that can be used.

        Raises:
            CommandRefused: there is none of this id, or it is switched off.
        """
        strategy = self._known(strategy_id)
        if not strategy.enabled:
            raise CommandRefused(f"The strategy “{strategy_id}” is switched off; choose one of {self._choices()}.")
        return strategy

    def _known(self, strategy_id: str) -> Strategy:
        if strategy_id not in self._strategies:
            raise CommandRefused(f"There is no strategy “{strategy_id}”; choose one of {self._choices()}.")
        return self._strategies[strategy_id]

    def _choices(self) -> str:
        return ", ".join(strategy.id for strategy in self.enabled()) or "none, as all are switched off"


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs strategies of a registry with the extensions and hooks there are."""

    registry: Registry
    extensions: Extensions = field(default_factory=Extensions)
    hooks: Hooks = field(default_factory=Hooks)

    def choose(self, situation: Situation, wanted: str) -> Strategy:
        """Return the strategy that will run: the wanted one, unless a selector chooses another.

        Raises:
            CommandRefused: there is no such strategy, or it is switched off.
        """
        for selector in self.extensions.strategy_selectors:
            wanted = selector.select(situation, self.registry.enabled(), wanted)
        return self.registry.get(wanted)

    def is_due(self, situation: Situation, options: StrategyOptions, wanted: str) -> bool:
        """Say whether the strategy's own trigger is reached; the policy's counts besides."""
        thresholds = self._resolved(situation, options, wanted).thresholds_of(wanted)
        return 0 < thresholds.trigger_tokens <= situation.context_tokens

    async def plan(self, situation: Situation, options: StrategyOptions, wanted: str) -> Plan:
        """Return what a run would do, without hooks and without asking a model.

        Raises:
            CommandRefused: there is no such strategy, or nothing to do for it.
        """
        strategy = self.choose(situation, wanted)
        options = self._resolved(situation, options, strategy.id)
        _refuse(strategy.validate(situation, options))
        return await asyncio.to_thread(strategy.prepare, situation, options)

    async def run(
        self,
        situation: Situation,
        services: Services,
        options: StrategyOptions,
        wanted: str,
        *,
        fallbacks: Sequence[str] = (),
    ) -> tuple[Body, ...]:
        """Return the bodies to append, in order. `fallbacks` are tried in turn where a strategy does not help.

        Raises:
            CommandRefused: there is no such strategy, or it is switched off.
            CondenseRefused: no model was asked, and nothing can be gained.
            CondenseError: a model was asked in vain; `body` says what it cost.
        """
        names = (wanted, *fallbacks)
        for name, following in zip(names, (*fallbacks, ""), strict=True):
            strategy = self.choose(situation, name)
            try:
                return await self._run(strategy, situation, services, options)
            except (CondenseRefused, CondenseError) as error:
                if not following:
                    raise
                self._tell(Happening("fallback", strategy.id, situation, message=str(error), next_strategy=following))
        raise CondenseRefused("No strategy was named.")

    async def _run(
        self, strategy: Strategy, situation: Situation, services: Services, options: StrategyOptions
    ) -> tuple[Body, ...]:
        reply = await self.hooks.run_before(Happening("start", strategy.id, situation))
        if reply.blocked:
            raise CondenseRefused(f"A hook stopped the condense: {reply.reason or 'it gave no reason'}")
        words = "\n\n".join(part for part in (situation.instructions.strip(), reply.instructions) if part)
        situation = replace(situation, instructions=words)
        options = self._resolved(situation, options, strategy.id)
        self._tell(Happening("start", strategy.id, situation))
        try:
            bodies, tokens = await self._reduced(strategy, situation, services, options)
        except asyncio.CancelledError:
            self._tell(Happening("failure", strategy.id, situation, message="Cancelled."))
            raise
        except (CondenseRefused, CondenseError) as error:
            bodies = (error.body,) if isinstance(error, CondenseError) else ()
            await self._ended(Happening("failure", strategy.id, situation, bodies, message=str(error)))
            raise
        await self._ended(Happening("success", strategy.id, situation, bodies, tokens))
        return bodies

    async def _reduced(
        self, strategy: Strategy, situation: Situation, services: Services, options: StrategyOptions
    ) -> tuple[tuple[Body, ...], int]:
        """Return the bodies and the context tokens they leave."""
        _refuse(strategy.validate(situation, options))
        plan = await asyncio.to_thread(strategy.prepare, situation, options)
        if isinstance(strategy, Performs):
            bodies = await strategy.perform(plan, situation, services, options)
        else:
            bodies = plan.bodies
        least = options.thresholds_of(strategy.id).min_gain_tokens
        tokens, objection = await asyncio.to_thread(_judged, situation, services, bodies, least)
        verdict = Verdict() if objection else self._verdict(situation, bodies)
        if not objection and not verdict.valid:
            objection = "The result was refused: " + ("; ".join(verdict.issues) or "a validator did not say why") + "."
        if objection:
            if services.usage.context_tokens:
                raise CondenseError(failed(situation, services, objection, tokens_after=tokens))
            raise CondenseRefused(objection)
        return _remarked(bodies, verdict.issues), tokens

    def _resolved(self, situation: Situation, options: StrategyOptions, strategy_id: str) -> StrategyOptions:
        """Return the options with what resolvers, generators and selectors of plug-ins make of them."""
        thresholds = options.thresholds_of(strategy_id)
        for resolver in self.extensions.threshold_resolvers:
            thresholds = resolver.resolve(situation, strategy_id, thresholds)
        prompt = options.context.condense_prompt
        for generator in self.extensions.prompt_generators:
            prompt = generator.prompt(situation, strategy_id, prompt)
        selectors = self.extensions.truncation_selectors
        return replace(
            options,
            thresholds=thresholds,
            per_strategy={},
            context=replace(options.context, condense_prompt=prompt),
            truncation_selector=selectors[-1] if selectors else options.truncation_selector,
        )

    def _verdict(self, situation: Situation, bodies: Sequence[Body]) -> Verdict:
        """Return what all validators think together: valid if all say so, the lowest score."""
        verdicts = [validator.check(situation, bodies) for validator in self.extensions.validators]
        return Verdict(
            all(verdict.valid for verdict in verdicts),
            tuple(issue for verdict in verdicts for issue in verdict.issues),
            min((verdict.score for verdict in verdicts), default=1.0),
        )

    async def _ended(self, happening: Happening) -> None:
        self._tell(happening)
        await self.hooks.run_after(happening)

    def _tell(self, happening: Happening) -> None:
        for listener in self.extensions.listeners:
            try:
                listener.happened(happening)
            except Exception:  # A listener's defect is not the run's.
                _log.exception("a listener failed at %s of %s", happening.event, happening.strategy)


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise CondenseRefused("\n".join(problems))


def _judged(situation: Situation, services: Services, bodies: Sequence[Body], min_gain: int) -> tuple[int, str]:
    """Return the context tokens that are left, and why the bodies may not be appended (law 4, least gain)."""
    path = with_bodies(situation.path, bodies)
    change = raw_change(effective_history(situation.path), effective_history(path), services.counter)
    after = situation.after(*change)
    before = situation.context_tokens
    if not bodies or change[0] <= change[1]:
        return after, f"Nothing would be freed: {before:,} → {after:,} tokens. Nothing was changed."
    if before - after < min_gain:
        return after, f"Only {before - after:,} tokens would be freed, and at least {min_gain:,} are asked for."
    return after, ""


def _remarked(bodies: tuple[Body, ...], issues: tuple[str, ...]) -> tuple[Body, ...]:
    last = bodies[-1]
    if not issues or not isinstance(last, Condense | Truncation | Mask):
        return bodies
    figures = replace(last.figures, remarks=(*last.figures.remarks, *issues))
    return (*bodies[:-1], replace(last, figures=figures))
