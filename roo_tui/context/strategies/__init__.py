"""Strategies: the ways to reduce the context, and the extension points for plug-ins.

Start with `protocol.py` (what a strategy is), then `runner.py` (how one runs). Built in are `native` (a summary),
`smart` (passes), `lossless` (keeps one copy of what repeats) and `truncation` (shortens old tool results, then hides
old turns). A strategy only returns markers, so order, pairs and undo are ensured by the log.
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
