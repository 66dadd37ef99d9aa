"""The chosen strategy: loads what is installed at the first need, and gives a run what the settings say."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from roo_tui.context.ladder import native
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices, Summariser
from roo_tui.context.window.policy import limits
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CommandRefused, CondenseRefused, SettingsError
from roo_tui.domain.markers import Mask
from roo_tui.engine.condense_inputs import asker
from roo_tui.engine.runtime import Runtime
from roo_tui.workspace.processes import SECRETS

if TYPE_CHECKING:  # pydantic comes with the configuration of `smart`: loaded at the first reduction, not at start
    from roo_tui.context.strategies.protocol import ProfileModel, StrategyOptions, StrategyPlan
    from roo_tui.context.strategies.runner import Runner


class Strategies:
    """Runs the strategy of the settings, or the one that is named."""

    def __init__(self, runtime: Runtime, tell: Callable[[str], None]) -> None:
        self._runtime = runtime
        self._tell = tell
        self._loaded: Runner | None = None

    async def run(
        self, given: ReductionInput, services: ReductionServices, options: ContextOptions, *, wanted: str = ""
    ) -> tuple[Body, ...]:
        """Return what the strategy comes to; raises as a condense does.

        An automatic run whose strategy or configuration cannot be used says so and makes a summary instead.

        Raises:
            CommandRefused: there is no strategy of this name.
            SettingsError: its configuration cannot be used.
        """
        runner = await self._runner()
        name = wanted or options.strategy
        try:
            chosen = self._options(options, in_turn=given.trigger == "automatic")
            return await runner.run(given, services, chosen, name)
        except (CommandRefused, SettingsError) as error:
            if isinstance(error, CondenseRefused) or given.trigger in ("manual", "switch"):
                raise
            self._tell(f"{error} A summary is made instead.")
            return await native(given, services, options)

    async def plan(self, given: ReductionInput, options: ContextOptions, *, wanted: str = "") -> "StrategyPlan":
        """Return what a run would do, without asking a model."""
        runner = await self._runner()
        return await runner.plan(given, self._options(options, in_turn=False), wanted or options.strategy)

    async def is_due(self, given: ReductionInput, options: ContextOptions) -> bool:
        """Say whether the strategy's own trigger is reached; without one nothing is loaded."""
        if not (options.trigger_tokens or options.strategy_thresholds.strip()):
            return False
        runner = await self._runner()
        try:
            chosen = self._options(options, in_turn=True)
        except SettingsError as error:
            self._tell(str(error))
            return False
        return runner.is_due(given, chosen, options.strategy)

    @staticmethod
    def prelude(given: ReductionInput, counter: TokenCounter) -> Mask | None:
        """The ladder's lossless rung. Runs in a thread."""
        from roo_tui.context.strategies.lossless.lossless import mask

        return mask(given, counter, in_turn=given.trigger == "automatic")

    async def _runner(self) -> "Runner":
        if self._loaded is None:
            self._loaded = await asyncio.to_thread(self._load)
        return self._loaded

    def _load(self) -> "Runner":
        from roo_tui.context.strategies.hooks import CondenseHooks
        from roo_tui.context.strategies.plugins import built_in, load_plugins
        from roo_tui.context.strategies.runner import Runner

        registry = built_in()
        extensions, problems = load_plugins(registry)
        for problem in problems:
            self._tell(problem)
        hooks = self._runtime.settings.hooks
        environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
        return Runner(
            registry,
            extensions,
            CondenseHooks(hooks.before_condense, hooks.after_condense, self._runtime.root, environment),
        )

    def _options(self, options: ContextOptions, *, in_turn: bool) -> "StrategyOptions":
        from roo_tui.context.strategies.protocol import StrategyOptions
        from roo_tui.context.strategies.thresholds import Thresholds, thresholds_of

        return StrategyOptions(
            self._runtime.counter,
            context=options,
            thresholds=Thresholds(options.trigger_tokens, options.stop_tokens, options.min_gain_tokens),
            per_strategy=thresholds_of(options.strategy_thresholds),
            preset=options.smart_preset,
            custom=options.smart_config,
            profiles=self._profile_model,
            in_turn=in_turn,
        )

    def _profile_model(self, name: str) -> "ProfileModel | None":
        """Return the model of a profile that a pass names."""
        from roo_tui.context.strategies.protocol import ProfileModel

        profile = self._runtime.settings.profiles.get(name)
        if profile is None:
            return None
        model = self._runtime.models.of(profile)
        window = limits(model.info, window=profile.window, max_output=profile.max_output).window
        return ProfileModel(asker(model), Summariser(model.info, window, self._runtime.calibration.ratio(model.info)))
