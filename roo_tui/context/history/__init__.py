"""The history of a task: its log, the effective history, undo, rewind and recall.

Start with `effective` (what the model gets) and `pairing` (what makes a request valid).
"""

from roo_tui.context.history.effective import Visible, active_markers, covering, effective_history, hidden_ids
from roo_tui.context.history.log import Log, appended
from roo_tui.context.history.log_facts import edited_files, last_failure, todos_of, typed_messages
from roo_tui.context.history.pairing import open_calls, repair
from roo_tui.context.history.pins import pin, pinned
from roo_tui.context.history.recall import found_entries, recall_hidden
from roo_tui.context.history.rewind import rewind_points, target_head
from roo_tui.context.history.undo import newest_switchable, redo_act, undo_act

__all__ = [
    "Log",
    "Visible",
    "active_markers",
    "appended",
    "covering",
    "edited_files",
    "effective_history",
    "found_entries",
    "hidden_ids",
    "last_failure",
    "newest_switchable",
    "open_calls",
    "pin",
    "pinned",
    "recall_hidden",
    "redo_act",
    "repair",
    "rewind_points",
    "target_head",
    "todos_of",
    "typed_messages",
    "undo_act",
]
