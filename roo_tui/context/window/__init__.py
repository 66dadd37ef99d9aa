"""The size of the context window: how full it is, when a condense is due, and what providers report about limits.

Start with `policy` (when a condense is due) and `tokens` (how full the window is).
"""

from roo_tui.context.window.breakdown import break_down
from roo_tui.context.window.overflow import Overflow, RefusedContent, recognise, refused_content, stated_output_limit
from roo_tui.context.window.policy import (
    HIGHEST_THRESHOLD,
    AutoThreshold,
    Decision,
    Limits,
    auto_threshold,
    decide,
    left_by_condense,
    limits,
    notice_at,
    recent_growth,
)
from roo_tui.context.window.thresholds import Thresholds, thresholds_of
from roo_tui.context.window.tokens import Calibration, TokenCounter, context_tokens, cost

__all__ = [
    "HIGHEST_THRESHOLD",
    "AutoThreshold",
    "Calibration",
    "Decision",
    "Limits",
    "Overflow",
    "RefusedContent",
    "Thresholds",
    "TokenCounter",
    "auto_threshold",
    "break_down",
    "context_tokens",
    "cost",
    "decide",
    "left_by_condense",
    "limits",
    "notice_at",
    "recent_growth",
    "recognise",
    "refused_content",
    "stated_output_limit",
    "thresholds_of",
]
