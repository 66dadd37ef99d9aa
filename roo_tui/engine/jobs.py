"""What the engine is doing: at most one job (a turn, a condense) at a time, and the only place that knows of it."""

import asyncio
import logging
from collections.abc import Coroutine

log = logging.getLogger(__name__)

Job = asyncio.Task[None]


class Jobs:
    """Starts a job, interrupts it, waits for it."""

    def __init__(self) -> None:
        self._running: Job | None = None
        self._cancelled = False

    @property
    def busy(self) -> bool:
        """Whether a job runs."""
        return self._running is not None and not self._running.done()

    def start(self, work: Coroutine[object, object, None]) -> Job:
        """Begin a job; the caller makes sure that none runs. A failure nobody expected goes to the log file."""
        self._cancelled = False
        self._running = asyncio.create_task(work)
        self._running.add_done_callback(_log_failure)
        return self._running

    def cancel(self) -> bool:
        """Interrupt what runs, once, without waiting for its end. Return whether anything runs."""
        if self._running is None or not self.busy:
            return False
        if not self._cancelled:
            self._cancelled = True
            self._running.cancel()
        return True

    async def idle(self) -> None:
        """Wait until nothing runs, what begins meanwhile included."""
        while self._running is not None and not self._running.done():
            await asyncio.wait([self._running])


def _log_failure(job: Job) -> None:
    if not job.cancelled() and (error := job.exception()) is not None:
        log.error("a job failed", exc_info=error)
