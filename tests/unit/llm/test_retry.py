"""Retries of whole streams, with a clock that only counts."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from roo_tui.domain.blocks import Message, Text
from roo_tui.domain.errors import ModelError
from roo_tui.domain.requests import BlockClosed, BlockDelta, ModelEvent, ModelInfo, Request
from roo_tui.llm.anthropic_model import AnthropicModel
from roo_tui.llm.retry import Restarted, with_retries
from tests.support.messages_server import MessagesServer, Step, answer, broken_off, cut, hang, refusal, text

HELLO = Request(messages=(Message("user", (Text("hello"),)),))


class Run:
    """One request with retries against a script; `slept` and `told` are what the waits were."""

    def __init__(self, *steps: Step) -> None:
        self._steps = steps
        self.slept: list[float] = []
        self.told: list[tuple[int, int, float]] = []
        self.reasons: set[str] = set()
        self.events: list[ModelEvent | Restarted] = []
        self.asked = 0

    async def __call__(self) -> None:
        async with MessagesServer(self._steps) as server:
            model = AnthropicModel(ModelInfo("m", "anthropic"), key="k", base_url=server.url)
            try:
                async for event in self.stream(model):
                    self.events.append(event)
            finally:
                self.asked = len(server.requests)
                await model.close()

    def stream(self, model: AnthropicModel) -> AsyncIterator[ModelEvent | Restarted]:
        return with_retries(model, HELLO, self._told, sleep=self._sleep)

    def _told(self, attempt: int, of: int, seconds: float, reason: str) -> None:
        self.told.append((attempt, of, seconds))
        self.reasons.add(reason)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.mark.line("B21")
async def test_passing_failures_are_tried_again_after_one_two_and_four_seconds() -> None:
    run = Run(refusal(529), cut(answer(text("Half"))), broken_off(answer(text("Hal"))), answer(text("Whole")))
    await run()
    assert sum(run.slept) == 7
    assert run.told == [
        *((2, 4, 1.0), (2, 4, 0.0)),
        *((3, 4, 2.0), (3, 4, 1.0), (3, 4, 0.0)),
        *((4, 4, 4.0), (4, 4, 3.0), (4, 4, 2.0), (4, 4, 1.0), (4, 4, 0.0)),
    ]
    assert len(run.reasons) == 3


async def test_what_was_said_before_a_failure_is_declared_void() -> None:
    run = Run(cut(answer(text("Half"))), answer(text("Whole")))
    await run()
    (restarted,) = [event for event in run.events if isinstance(event, Restarted)]
    at = run.events.index(restarted)
    assert restarted.attempt == 2
    assert "connection" in restarted.reason
    assert "".join(event.text for event in run.events[:at] if isinstance(event, BlockDelta)) == "Half"
    assert [event.block for event in run.events[at:] if isinstance(event, BlockClosed)] == [Text("Whole")]


async def test_the_last_attempts_failure_is_the_callers() -> None:
    run = Run(*[refusal(529)] * 4)
    with pytest.raises(ModelError) as raised:
        await run()
    assert (raised.value.status, run.asked, sum(run.slept)) == (529, 4, 7)


async def test_a_failure_that_will_not_pass_is_raised_at_once() -> None:
    run = Run(refusal(400))
    with pytest.raises(ModelError):
        await run()
    assert (run.asked, run.slept, run.events) == (1, [], [])


@pytest.mark.parametrize(("wish", "seconds"), [("2.5", 2.5), ("0", 1.0), ("3600", 60.0)])
async def test_a_longer_wish_of_the_provider_is_kept_within_bounds(wish: str, seconds: float) -> None:
    run = Run(refusal(429, headers={"retry-after": wish}), answer(text("ok")))
    await run()
    assert sum(run.slept) == seconds


async def test_closing_the_retries_closes_the_call() -> None:
    async with MessagesServer([hang(answer(text("On and on")))]) as server:
        model = AnthropicModel(ModelInfo("m", "anthropic"), key="k", base_url=server.url)
        async with aclosing(Run().stream(model)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, BlockDelta):
                    break
        await server.requests[0].left.wait()
        assert server.requests[0].abandoned
        await model.close()
