"""Claude models through the official SDK.

The SDK does connection, headers and event decoding; its retries are off (`retry.py` does them, visibly). Bodies are
encoded by us in a thread and events are read raw, so that nothing large is handled on the event loop and blocks this
program does not know stay exactly as they came.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from roo_tui.domain.requests import ModelEvent, ModelInfo, Request
from roo_tui.llm import anthropic_errors, keys
from roo_tui.llm.anthropic_stream import AnswerAssembler
from roo_tui.llm.anthropic_wire import count_body, message_body

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

log = logging.getLogger(__name__)

IDLE_TIMEOUT_S = 120.0
_CONNECT_TIMEOUT_S = 10.0
_COUNT_TIMEOUT_S = 10.0
# How long the connection may take to end after the answer did, so that it can be used again.
_DRAIN_S = 0.5
_JSON = {"Content-Type": "application/json"}


class AnthropicModel:
    """One Claude model (or whatever answers at `base_url` in the same way).

    A stream that sends nothing, not even a ping, for `idle_timeout_s` seconds is given up as a retryable error.
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
        """Window, prices and abilities as far as they are known."""
        return self._info

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream one answer; makes exactly one attempt (see `protocol.Model`)."""
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
        """Return the provider's own count of the request's prompt, None where it cannot be had. Never raises."""
        try:
            client = await self._connected()
            from anthropic.types import MessageTokensCount

            body = await asyncio.to_thread(count_body, request, self._info)
            counted = await client.post(
                "/v1/messages/count_tokens",
                cast_to=MessageTokensCount,
                content=body,
                options={"headers": _JSON, "timeout": _COUNT_TIMEOUT_S},
            )
            return int(counted.input_tokens)
        except Exception as error:
            log.info("the provider did not count: %r", error)
            return None

    async def warm_up(self) -> None:
        """Load the SDK, off the event loop. Never raises: what is wrong is told by the first request."""
        with suppress(Exception):
            await self._connected()

    async def close(self) -> None:
        """Give back the connections; the next call opens new ones."""
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


async def _raw_events(client: "AsyncAnthropic", body: bytes) -> AsyncGenerator[dict[str, Any], None]:
    """Yield each event's JSON up to the last; the connection is given back or closed whatever happens.

    Raises:
        ModelError: the provider sent an error instead of going on.
    """
    from anthropic import AsyncStream
    from anthropic.types import Message, RawMessageStreamEvent

    stream = await client.post(
        "/v1/messages",
        cast_to=Message,
        content=body,
        options={"headers": _JSON},
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
