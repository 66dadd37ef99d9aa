"""The protocol of a model adapter."""

from collections.abc import AsyncIterator
from typing import Protocol

from roo_tui.domain.requests import ModelEvent, ModelInfo, Request


class Model(Protocol):
    """One model of one provider. An adapter imports its SDK at the first call, in a thread."""

    @property
    def info(self) -> ModelInfo:
        """The model's window, prices and capabilities, as far as they are known."""
        ...

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream one answer in exactly one attempt. Closing the iterator or cancelling its task ends the call.

        Raises:
            ModelError: the call was refused, failed, or ended without its last event. SDK errors are translated.
        """
        ...

    async def count_tokens(self, request: Request) -> int | None:
        """Return the provider's count of the prompt's tokens, None if it cannot be obtained. Never raises."""
        ...

    async def warm_up(self) -> None:
        """Load what the first call needs (the SDK) in a thread. Never raises."""
        ...

    async def close(self) -> None:
        """Close the connections. Never raises; the model can be used again afterwards."""
        ...
