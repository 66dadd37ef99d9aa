"""A condense that runs while the conversation goes on: on a frozen prefix, swapped in at a turn's boundary.

It is dropped if the person rewound, undid or condensed meanwhile: what it hides must still be visible where it was.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from roo_tui.context.condense import swapped_in
from roo_tui.context.window import TokenCounter
from roo_tui.domain.entries import Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense


class BackgroundCondense:
    """At most one condense in the background of a task. `spend` counts what one cost that was not used."""

    def __init__(self, spend: Callable[[float], Awaitable[None]], counter: TokenCounter) -> None:
        self._spend = spend
        self._counter = counter
        self._running: asyncio.Task[Condense | None] | None = None
        self._until: EntryId = 0

    @property
    def running(self) -> bool:
        """Whether one was begun and not taken yet."""
        return self._running is not None

    @property
    def ready(self) -> bool:
        return self._running is not None and self._running.done()

    def start(self, work: Coroutine[Any, Any, Condense | None], path: tuple[Entry, ...]) -> None:
        """Begin on the path as it is now; `work` returns None where it failed."""
        self._until = path[-1].id
        self._running = asyncio.create_task(work, name="background condense")

    async def drop(self) -> None:
        """Give it up; the history stays as it is."""
        running, self._running = self._running, None
        if running is None:
            return
        running.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            await self._waste(running.result())

    async def take(self, path: tuple[Entry, ...], tokens_now: int, ratio: float) -> Condense | None:
        """Wait for it and return what may be appended to the path now; None if it failed or no longer fits."""
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
