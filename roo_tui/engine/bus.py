"""Pass events from the engine to its consumers; each has its own queue, so a slow one delays no other."""

import asyncio
from collections.abc import AsyncIterator

from roo_tui.domain.events import Event


class EventStream:
    """One consumer's events, in order. Iterate over it, or take all waiting events with `batch`."""

    def __init__(self, bus: "Bus") -> None:
        self._bus = bus
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._ended = False

    def put(self, event: Event | None) -> None:
        """Add an event; None ends the stream."""
        self._queue.put_nowait(event)

    async def batch(self) -> list[Event]:
        """Wait for at least one event and return all waiting ones; an empty list means that the stream has ended."""
        events: list[Event] = []
        while not self._ended and (not events or not self._queue.empty()):
            event = await self._queue.get()
            if event is None:
                self._ended = True
            else:
                events.append(event)
        return events

    async def __aiter__(self) -> AsyncIterator[Event]:
        while events := await self.batch():
            for event in events:
                yield event

    def close(self) -> None:
        """Stop listening; a waiting reader gets the events still in the queue, then the end."""
        self._bus.drop(self)
        self.put(None)


class Bus:
    """Passes each event to every open stream."""

    def __init__(self) -> None:
        self._streams: list[EventStream] = []

    def subscribe(self) -> EventStream:
        """Return a new stream of every event from now on."""
        stream = EventStream(self)
        self._streams.append(stream)
        return stream

    def drop(self, stream: EventStream) -> None:
        """Send nothing more to a stream."""
        if stream in self._streams:
            self._streams.remove(stream)

    def emit(self, event: Event) -> None:
        """Put an event into every open stream; returns without waiting for the consumers."""
        for stream in self._streams:
            stream.put(event)

    def close(self) -> None:
        """End every stream."""
        for stream in list(self._streams):
            stream.close()
