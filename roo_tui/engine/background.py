"""A condense in the background: it works on a frozen prefix of the path and is swapped in before a later request.

It is dropped if the user rewinds, undoes or condenses meanwhile, because the entries it hides must still be visible.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

from roo_tui.context.condense import swapped_in
from roo_tui.context.window import TokenCounter
from roo_tui.domain.entries import Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense


class BackgroundCondense:
    """At most one background condense of a task. `spend` records the cost of one that was not used."""

    def __init__(self, spend: Callable[[float], Awaitable[None]], counter: TokenCounter) -> None:
        self._spend = spend
        self._counter = counter
        self._running: asyncio.Task[Condense | None] | None = None
        self._until: EntryId = 0

    @property
    def running(self) -> bool:
        """Whether one was started and not taken yet."""
        return self._running is not None

    @property
    def ready(self) -> bool:
        """Whether one has ended, successfully or not, and can be taken without waiting."""
        return self._running is not None and self._running.done()

    def start(self, work: Coroutine[object, object, Condense | None], path: tuple[Entry, ...]) -> None:
        """Start on the current path; `work` returns None if it failed."""
        self._until = path[-1].id
        self._running = asyncio.create_task(work, name="background condense")

    async def drop(self) -> None:
        """Cancel it; the history does not change."""
        running, self._running = self._running, None
        if running is None:
            return
        running.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            await self._waste(running.result())

    async def take(self, path: tuple[Entry, ...], tokens_now: int, ratio: float) -> Condense | None:
        """Wait for it and return the marker to append to the path; None if it failed or no longer fits."""
        if self._running is None:
            return None
        marker = await asyncio.shield(self._running)
        self._running = None
        if marker is None or all(entry.id != self._until for entry in path):
            await self._waste(marker)
            return None
        swapped = await asyncio.to_thread(
            swapped_in, marker, path, self._counter, context_tokens=tokens_now, ratio=ratio
        )
        if swapped is None:
            await self._waste(marker)
        return swapped

    async def _waste(self, marker: Condense | None) -> None:
        if marker is not None and marker.figures.cost_usd:
            await self._spend(marker.figures.cost_usd)
