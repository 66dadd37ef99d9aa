"""A condense in the background: it works on a frozen prefix of the path and is swapped in before a later request.

It is dropped if the user rewinds, undoes or condenses meanwhile, because the entries it hides must still be visible.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine

from roo_tui.context.condense import swapped_in
from roo_tui.context.window import TokenCounter
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Marker

log = logging.getLogger(__name__)

Reduced = tuple[Body, ...]


class BackgroundCondense:
    """At most one background condense of a task. `spend` records the cost of one that was not used."""

    def __init__(self, spend: Callable[[float], Awaitable[None]], counter: TokenCounter) -> None:
        self._spend = spend
        self._counter = counter
        self._running: asyncio.Task[Reduced | None] | None = None
        self._until: EntryId = 0

    @property
    def running(self) -> bool:
        """Whether one was started and not taken yet."""
        return self._running is not None

    @property
    def ready(self) -> bool:
        """Whether one has ended, successfully or not, and can be taken without waiting."""
        return self._running is not None and self._running.done()

    def start(self, work: Coroutine[object, object, Reduced | None], path: tuple[Entry, ...]) -> None:
        """Start on the current path; `work` returns None if it failed."""
        self._until = path[-1].id
        self._running = asyncio.create_task(work, name="background condense")

    async def drop(self) -> None:
        """Give up the background condense; the history stays as it is."""
        running, self._running = self._running, None
        if running is None:
            return
        running.cancel()
        await asyncio.wait([running])
        await self._waste(_result(running))

    async def take(self, path: tuple[Entry, ...], tokens_now: int, ratio: float) -> Reduced | None:
        """Wait for the condense and return what may be appended to the path now; None if it failed or does not fit.

        Cancelling this leaves it running.
        """
        running = self._running
        if running is None:
            return None
        await asyncio.wait([running])
        self._running = None
        bodies = _result(running)
        swapped = None
        if bodies and any(entry.id == self._until for entry in path):
            swapped = await asyncio.to_thread(
                swapped_in, bodies, path, self._counter, context_tokens=tokens_now, ratio=ratio
            )
        if swapped is None:
            await self._waste(bodies)
        return swapped

    async def _waste(self, bodies: Reduced | None) -> None:
        cost = sum(body.figures.cost_usd or 0.0 for body in bodies or () if isinstance(body, Marker))
        if cost:
            await self._spend(cost)


def _result(ended: "asyncio.Task[Reduced | None]") -> Reduced | None:
    """Return what a condense came to, None if it was cancelled or failed in a way that nobody expected."""
    if ended.cancelled():
        return None
    if (error := ended.exception()) is not None:
        log.error("a background condense failed", exc_info=error)
        return None
    return ended.result()
