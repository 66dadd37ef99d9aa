"""The engine: runs turns over a task's log, without any screen.

Start with `engine.Engine` (its commands), then read `turn` (one turn), `request` (one request to the model) and
`context_control` (when the context is reduced). It reports everything as `domain.events`.
"""

from roo_tui.engine.bus import EventStream
from roo_tui.engine.engine import Engine
from roo_tui.engine.model_limits import learned_limits
from roo_tui.engine.models import sample_workspace

__all__ = ["Engine", "EventStream", "learned_limits", "sample_workspace"]
