"""Persistence: tasks and their entries in one SQLite file, task locks, checkpoints of the workspace, exchange formats.

Start with `tasks` (the store's methods). `database` owns the connection; `codec` converts entries to JSON and back.
"""

from roo_tui.store.lock import TaskLock
from roo_tui.store.tasks import Store, StoredTask, open_store

__all__ = ["Store", "StoredTask", "TaskLock", "open_store"]
