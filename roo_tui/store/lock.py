"""Task locks: only one process writes a task at a time. A lock is a file lock, so it ends with its process."""

from pathlib import Path

from filelock import FileLock, Timeout

from roo_tui.domain.errors import StoreError, TaskLocked
from roo_tui.domain.ids import TaskId


class TaskLock:
    """A lock on a task for writing, held until `release` or the end of the process."""

    def __init__(self, folder: Path, task_id: TaskId) -> None:
        """Take the lock at once.

        Raises:
            TaskLocked: another process (or another part of this one) holds it.
            StoreError: the lock file cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / f"{task_id}.lock", thread_local=False)
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise TaskLocked(
                f"Task {task_id} is open in another roo-tui. Close it there, open it here read-only, or start a new "
                "task."
            ) from error
        except OSError as error:
            raise StoreError(
                f"{folder} cannot be written ({error.strerror or error}). Make it writable, or set ROO_TUI_HOME."
            ) from error

    def release(self) -> None:
        """Release the lock. Releasing twice does nothing."""
        self._lock.release()
