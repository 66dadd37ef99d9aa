"""Run the chosen strategy: load installed ones at first use, and pass the settings to each run."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from roo_tui.context import ContextOptions, ReductionInput, ReductionServices, Summariser, native
from roo_tui.context.window import Thresholds, TokenCounter, limits, thresholds_of
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CommandRefused, CondenseRefused, SettingsError
from roo_tui.domain.markers import Mask
from roo_tui.domain.previews import CondensePreview
from roo_tui.engine.condense_inputs import asker
from roo_tui.engine.runtime import Runtime
from roo_tui.workspace.processes import SECRETS

if TYPE_CHECKING:  # pydantic comes with the configuration of `smart`: loaded at the first reduction, not at start
    from roo_tui.context.strategies import PreparedRun, ProfileModel, Runner, StrategyOptions


class Strategies:
    """Runs the strategy of the settings, or a named one. `tell` shows a warning to the user."""

    def __init__(self, runtime: Runtime, tell: Callable[[str], None]) -> None:
        self._runtime = runtime
        self._tell = tell
        self._loaded: Runner | None = None
        self._previewed: PreparedRun | None = None

    async def run(
        self, given: ReductionInput, services: ReductionServices, options: ContextOptions, *, wanted: str = ""
    ) -> tuple[Body, ...]:
        """Run the strategy and return the bodies to append; raises as a condense does.

        If the strategy or its configuration cannot be used, an automatic run warns and makes a summary instead.

        Raises:
            CommandRefused: there is no strategy with this name.
            SettingsError: the strategy's configuration is not valid.
        """
        runner = await self._runner()
        name = wanted or options.strategy
        try:
            chosen = self._options(options, in_turn=given.trigger in ("automatic", "background"))
            prepared = None
            if given.trigger == "manual":
                prepared, self._previewed = self._previewed, None
            return await runner.run(given, services, chosen, name, prepared=prepared)
        except (CommandRefused, SettingsError) as error:
            if isinstance(error, CondenseRefused) or given.trigger in ("manual", "switch"):
                raise
            self._tell(f"{error} A summary is made instead.")
            return await native(given, services, options)

    async def preview(self, given: ReductionInput, options: ContextOptions, *, wanted: str = "") -> CondensePreview:
        """Return what a run would do, without asking a model; the next `run` does exactly that if it still fits.

        Raises:
            CommandRefused: there is no strategy with this name, or it has nothing to do.
            SettingsError: the strategy's configuration is not valid.
        """
        runner = await self._runner()
        name = wanted or options.strategy
        self._previewed = await runner.prepare(given, self._options(options, in_turn=False), name)
        shown = self._previewed.plan.preview
        return replace(shown, preset=options.smart_preset) if shown.strategy == "smart" else shown

    async def fell_back(self, given: ReductionInput, options: ContextOptions, message: str, next_rung: str) -> None:
        """Tell listeners of plug-ins that the strategy did not help, and what is done instead."""
        (await self._runner()).fell_back(given, options.strategy, next_rung, message)

    async def is_due(self, given: ReductionInput, options: ContextOptions) -> bool:
        """Return whether the strategy's own trigger is reached; loads nothing if none is set."""
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
        """Return a mask of duplicates, the ladder's lossless rung; None if there are none. Call it in a thread."""
        from roo_tui.context.strategies import hide_duplicates

        return hide_duplicates(given, counter, in_turn=given.trigger == "automatic")

    async def _runner(self) -> "Runner":
        if self._loaded is None:
            self._loaded = await asyncio.to_thread(self._load)
        return self._loaded

    def _load(self) -> "Runner":
        from roo_tui.context.strategies import CondenseHooks, Runner, built_in, load_plugins

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
        from roo_tui.context.strategies import StrategyOptions

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
        """Return the model of a profile that a pass names, None if there is no such profile."""
        from roo_tui.context.strategies import ProfileModel

        profile = self._runtime.settings.profiles.get(name)
        if profile is None:
            return None
        model = self._runtime.models.of(profile)
        window = limits(model.info, window=profile.window, max_output=profile.max_output).window
        return ProfileModel(asker(model), Summariser(model.info, window, self._runtime.calibration.ratio(model.info)))
