"""Strategies: ways to reduce the context, and the points where others can take part.

Start reading at `protocol.py` (what a strategy is), then `runner.py` (what happens around it). Built in are `native`
(a summary), `smart` (passes), `lossless` (what stands twice is shown once) and `truncation` (by kind and age). A
strategy returns markers and changes nothing itself, so order, pairs and undo are the log's matter, not its own.
"""

from roo_tui.context.strategies.hooks import CondenseHooks
from roo_tui.context.strategies.lossless.lossless import hide_duplicates
from roo_tui.context.strategies.plugins import built_in, load_plugins
from roo_tui.context.strategies.protocol import ProfileModel, StrategyOptions
from roo_tui.context.strategies.runner import Extensions, PreparedRun, Runner

__all__ = [
    "CondenseHooks",
    "Extensions",
    "PreparedRun",
    "ProfileModel",
    "Runner",
    "StrategyOptions",
    "built_in",
    "hide_duplicates",
    "load_plugins",
]
