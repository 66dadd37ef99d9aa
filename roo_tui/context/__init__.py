"""The context window: what the model gets, how full the window is, and when and how it is reduced.

Values and functions over a task's entries; no screen, store or model. Start reading at `ladder` (what is tried when the
context must shrink), then the packages `history` (what the model gets), `window` (when to reduce), `condense` (how) and
`strategies` (other ways). Code outside `context` imports from these packages, not from their modules.
"""

from roo_tui.context.guards import Guards, overhead_objection
from roo_tui.context.history import Log, effective_history, repair
from roo_tui.context.ladder import native, reduce
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import Digests, Fold, ReductionInput, ReductionServices, Summariser, failed
from roo_tui.context.refused_content import hide_refused
from roo_tui.context.sliding_window import slide_window
from roo_tui.context.window import Limits, TokenCounter, decide, limits

__all__ = [
    "ContextOptions",
    "Digests",
    "Fold",
    "Guards",
    "Limits",
    "Log",
    "ReductionInput",
    "ReductionServices",
    "Summariser",
    "TokenCounter",
    "decide",
    "effective_history",
    "failed",
    "hide_refused",
    "limits",
    "native",
    "overhead_objection",
    "reduce",
    "repair",
    "slide_window",
]
