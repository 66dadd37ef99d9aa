"""The strategies there are: list, find, enable, register, unregister."""

from collections.abc import Iterable

from roo_tui.context.strategies.protocol import Strategy
from roo_tui.domain.errors import CommandRefused, SettingsError


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
