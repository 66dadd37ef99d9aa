"""Retry after transient failures, and report each wait."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from roo_tui.domain.errors import ModelError
from roo_tui.domain.requests import ModelEvent, Request
from roo_tui.llm.protocol import Model

WAITS_S = (1.0, 2.0, 4.0)
LONGEST_WAIT_S = 60.0

OnWait = Callable[[int, int, float, str], None]


@dataclass(frozen=True, slots=True)
class Restarted:
    """An attempt failed; discard what it streamed. `attempt` is the number of the next one, from 2."""

    attempt: int
    reason: str


async def with_retries(
    model: Model,
    request: Request,
    on_wait: OnWait,
    waits: Sequence[float] = WAITS_S,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[ModelEvent | Restarted, None]:
    """Stream one answer, starting over after each retryable failure.

    There is one attempt more than there are `waits` (seconds). A longer wait that the provider asks for is respected up
    to `LONGEST_WAIT_S`. During a wait, `on_wait(attempt, attempts, seconds, reason)` is called about once a second
    with the number of the next attempt, the number of all attempts and the seconds left; the last call has 0.

    Raises:
        ModelError: the failure is not retryable, or the last attempt failed too.
    """
    attempts = len(waits) + 1
    for attempt, wait_s in enumerate((*waits, None), start=1):
        try:
            # An adapter's stream is an async generator; closing it ends the call.
            async with aclosing(model.stream(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    yield event
            return
        except ModelError as error:
            if not error.retryable or wait_s is None:
                raise
            reason, requested_s = str(error), error.retry_after_s or 0.0
        yield Restarted(attempt + 1, reason)
        left_s = min(max(wait_s, requested_s), LONGEST_WAIT_S)
        while left_s > 0:
            on_wait(attempt + 1, attempts, left_s, reason)
            step_s = min(1.0, left_s)
            await sleep(step_s)
            left_s -= step_s
        on_wait(attempt + 1, attempts, 0.0, reason)
