"""The engine's running job: a turn or a condense, at most one at a time. Nothing else tracks it."""

import asyncio
import logging
from collections.abc import Coroutine

log = logging.getLogger(__name__)

Job = asyncio.Task[None]


class Jobs:
    """Starts a job, interrupts it, and waits for it."""

    def __init__(self) -> None:
        self._running: Job | None = None
        self._cancelled = False

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._running is not None and not self._running.done()

    def start(self, work: Coroutine[object, object, None]) -> Job:
        """Start a job; the caller makes sure that none is running. An unexpected error goes to the log file."""
        self._cancelled = False
        self._running = asyncio.create_task(work)
        self._running.add_done_callback(_log_failure)
        return self._running

    def cancel(self) -> bool:
        """Interrupt the running job, once, without waiting for its end. Return whether one is running."""
        if self._running is None or not self.busy:
            return False
        if not self._cancelled:
            self._cancelled = True
            self._running.cancel()
        return True

    async def idle(self) -> None:
        """Wait until no job is running, including jobs that start meanwhile."""
        while self._running is not None and not self._running.done():
            await asyncio.wait([self._running])


def _log_failure(job: Job) -> None:
    if not job.cancelled() and (error := job.exception()) is not None:
        log.error("a job failed", exc_info=error)
