"""Plug-ins: installed packages that add or extend strategies, found by their entry points.

    [project.entry-points."roo_tui.strategies"]
    newest = "my_package:Newest"

An entry point names an object, or a class or function that is called without arguments and returns one. A plug-in that
cannot be loaded or lacks an attribute its group requires is skipped and reported; nothing else fails.
"""

import logging
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from roo_tui.context.strategies.lossless.lossless import LosslessStrategy
from roo_tui.context.strategies.native import NativeStrategy
from roo_tui.context.strategies.runner import Extensions, Registry
from roo_tui.context.strategies.smart.smart import SmartStrategy
from roo_tui.context.strategies.truncation import TruncationStrategy
from roo_tui.domain.errors import SettingsError

_log = logging.getLogger(__name__)

GROUPS: dict[str, tuple[str, ...]] = {
    "roo_tui.strategies": ("id", "name", "description", "enabled", "priority", "validate", "prepare"),
    "roo_tui.threshold_resolvers": ("resolve",),
    "roo_tui.prompt_generators": ("prompt",),
    "roo_tui.truncation_selectors": ("order",),
    "roo_tui.strategy_selectors": ("select",),
    "roo_tui.validators": ("check",),
    "roo_tui.listeners": ("on_event",),
}
"""Every entry-point group, and the attributes that its objects must have."""


def built_in() -> Registry:
    """Return a registry with the built-in strategies."""
    return Registry([NativeStrategy(), SmartStrategy(), LosslessStrategy(), TruncationStrategy()])


def load_plugins(
    registry: Registry, *, found: Iterable[EntryPoint] | None = None
) -> tuple[Extensions, tuple[str, ...]]:
    """Register the strategies of plug-ins; return their extensions, and a sentence for each plug-in that was skipped.

    Imports foreign packages, so call it once and in a thread. `found` are the entry points to use, by default those of
    all installed packages.
    """
    loaded: dict[str, list[Any]] = {group: [] for group in GROUPS}
    problems: list[str] = []
    points = _installed() if found is None else [point for point in found if point.group in GROUPS]
    for point in sorted(points, key=lambda point: (point.group, point.name)):
        try:
            value = point.load()
            plugin = value() if isinstance(value, type) or not _fits(value, point.group) else value
            if not _fits(plugin, point.group):
                raise SettingsError(f"it lacks {', '.join(_missing(plugin, point.group))}")
            if point.group == "roo_tui.strategies":
                registry.register(plugin)
            else:
                loaded[point.group].append(plugin)
        except Exception as error:  # A foreign package may fail in any way; the program goes on without it.
            _log.warning("skipped plug-in %s of group %s", point.name, point.group, exc_info=True)
            problems.append(f"The plug-in “{point.name}” ({point.group}) was skipped: {error}")
    groups = [group for group in GROUPS if group != "roo_tui.strategies"]
    extensions = Extensions(**{group.partition(".")[2]: tuple(loaded[group]) for group in groups})
    return extensions, tuple(problems)


def _installed() -> list[EntryPoint]:
    # Each call reads the metadata of every installed package.
    every = entry_points()
    return [point for group in GROUPS for point in every.select(group=group)]


def _fits(value: object, group: str) -> bool:
    return not _missing(value, group)


def _missing(value: object, group: str) -> list[str]:
    return [name for name in GROUPS[group] if not hasattr(value, name)]
