"""What the engine asks of a model adapter."""

from collections.abc import AsyncIterator
from typing import Protocol

from roo_tui.domain.requests import ModelEvent, ModelInfo, Request


class Model(Protocol):
    """One model of one provider. An adapter imports its SDK at the first call, in a thread, never at import."""

    @property
    def info(self) -> ModelInfo:
        """Window, prices and abilities as far as they are known."""
        ...

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream one answer; makes exactly one attempt. Closing the iterator or cancelling its task ends the call.

        Raises:
            ModelError: refused, failed, cut, or ended without its last event. Never an SDK's own error.
        """
        ...

    async def count_tokens(self, request: Request) -> int | None:
        """Return the provider's own count of the request's prompt, None where it cannot be had. Never raises."""
        ...

    async def warm_up(self) -> None:
        """Load what the first call needs (the SDK), off the event loop. Never raises."""
        ...

    async def close(self) -> None:
        """Give back connections. Never raises; the model can be used again afterwards."""
        ...
