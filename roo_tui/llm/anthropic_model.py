"""Claude models through the official SDK.

The SDK handles the connection, headers and event decoding. Its own retries are off: `retry` does them, visibly. Bodies
are encoded in a thread, and events are read raw. So nothing large is processed on the event loop, and blocks of unknown
types stay exactly as they arrived.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from roo_tui.domain.requests import ModelEvent, ModelInfo, Request
from roo_tui.llm import anthropic_errors, keys
from roo_tui.llm.anthropic_stream import AnswerAssembler, Json
from roo_tui.llm.anthropic_wire import count_body, message_body

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

log = logging.getLogger(__name__)

IDLE_TIMEOUT_S = 120.0
_CONNECT_TIMEOUT_S = 10.0
_COUNT_TIMEOUT_S = 10.0
# How long to wait, after the answer's last event, for the response to end so that its connection can be reused.
_DRAIN_S = 0.5
_HEADERS = {"Content-Type": "application/json"}


class AnthropicModel:
    """One Claude model, or another model with the same API at `base_url`.

    A stream that sends nothing, not even a ping, for `idle_timeout_s` seconds fails with a retryable error.
    """

    def __init__(
        self, info: ModelInfo, *, key: str, base_url: str = "", idle_timeout_s: float = IDLE_TIMEOUT_S
    ) -> None:
        self._info = info
        self._key = key
        self._base_url = base_url
        self._idle_timeout_s = idle_timeout_s
        self._client: AsyncAnthropic | None = None
        self._connecting = asyncio.Lock()

    @property
    def info(self) -> ModelInfo:
        """The model's window, prices and capabilities, as far as they are known."""
        return self._info

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream one answer in exactly one attempt (see `protocol.Model`)."""
        body = await asyncio.to_thread(message_body, request, self._info)
        answer = AnswerAssembler(self._info.provider, self._info.id)
        try:
            client = await self._connected()
            async with aclosing(_raw_events(client, body)) as events:
                async for event in events:
                    for meaning in answer.take(event):
                        yield meaning
        except Exception as error:
            raise anthropic_errors.from_exception(error, idle_timeout_s=self._idle_timeout_s) from error
        yield answer.end()

    async def count_tokens(self, request: Request) -> int | None:
        """Return the provider's count of the prompt's tokens, None if it cannot be obtained. Never raises."""
        try:
            client = await self._connected()
            from anthropic.types import MessageTokensCount

            body = await asyncio.to_thread(count_body, request, self._info)
            counted = await client.post(
                "/v1/messages/count_tokens",
                cast_to=MessageTokensCount,
                content=body,
                options={"headers": _HEADERS, "timeout": _COUNT_TIMEOUT_S},
            )
            return int(counted.input_tokens)
        except Exception as error:
            log.info("the provider could not count the prompt: %r", error)
            return None

    async def warm_up(self) -> None:
        """Load the SDK in a thread. Never raises; the first request reports what is wrong."""
        with suppress(Exception):
            await self._connected()

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _connected(self) -> "AsyncAnthropic":
        if not self._key:
            raise keys.missing_key(self._info.provider)
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._new_client)
            return self._client

    def _new_client(self) -> "AsyncAnthropic":
        import anthropic
        import httpx2

        wait_s = self._idle_timeout_s
        timeout = httpx2.Timeout(wait_s, connect=min(wait_s, _CONNECT_TIMEOUT_S))
        return anthropic.AsyncAnthropic(
            api_key=self._key, base_url=self._base_url or None, max_retries=0, timeout=timeout
        )


async def _raw_events(client: "AsyncAnthropic", body: bytes) -> AsyncGenerator[Json, None]:
    """Yield the JSON of each event up to the last. The connection is always released or closed.

    Raises:
        ModelError: the provider sent an error event.
    """
    from anthropic import AsyncStream
    from anthropic.types import Message, RawMessageStreamEvent

    stream = await client.post(
        "/v1/messages",
        cast_to=Message,
        content=body,
        options={"headers": _HEADERS},
        stream=True,
        stream_cls=AsyncStream[RawMessageStreamEvent],
    )
    async with stream:
        incoming = AsyncStream.raw_events(stream.response)
        async for sent in incoming:
            if sent.event == "ping" or not sent.data:
                continue
            event = sent.json()
            if event["type"] == "error":
                raise anthropic_errors.from_event(event)
            yield event
            if event["type"] == "message_stop":
                break
        with suppress(Exception):
            async with asyncio.timeout(_DRAIN_S):
                async for _ in incoming:
                    pass
