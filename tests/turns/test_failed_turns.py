"""What a turn that failed leaves behind: the queue, and what it cost."""

import asyncio
from pathlib import Path

import pytest

from roo_tui.domain.errors import ModelError
from roo_tui.domain.events import TurnEnded
from roo_tui.domain.views import UserRow
from roo_tui.engine import Engine
from tests.support.engines import engine_on, without_waits
from tests.support.scripted_model import SCRIPTED, Answer, Reply, ScriptedModel

REFUSED = ModelError("Bad request", status=400, code="invalid_request_error")
OVERLOADED = ModelError("Overloaded", status=529, code="overloaded_error", retryable=True)


def queued(engine: Engine) -> list[str]:
    return [item.words for item in engine.read.queue()]


async def sent(engine: Engine) -> list[str]:
    return [row.body.words for row in await engine.read.rows() if isinstance(row.body, UserRow)]


async def failed_with_a_queue(engine: Engine, failing: Reply) -> None:
    """Send a message whose request fails while two more are typed."""
    await engine.submit("first")
    await failing.reached.wait()
    await engine.submit("second")
    await engine.submit("third")
    assert failing.until is not None
    failing.until.set()
    await engine.idle()


@pytest.mark.parametrize(
    ("next_message", "order"),
    [("", ["second", "third"]), ("fourth", ["fourth", "second", "third"])],
    ids=["nothing new", "a new message"],
)
async def test_queued_messages_wait_after_a_failed_turn_and_follow_the_next_submit_in_order(
    tmp_path: Path, next_message: str, order: list[str]
) -> None:
    failing = Reply("Half", until=asyncio.Event(), error=REFUSED)
    model = ScriptedModel([failing])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await failed_with_a_queue(engine, failing)
        assert [end.reason for end in recorder.of(TurnEnded)] == ["failed"]
        assert (await sent(engine), queued(engine), len(model.requests)) == (["first"], ["second", "third"], 1)
        await engine.submit(next_message)
        await engine.idle()
        assert (await sent(engine), queued(engine)) == (["first", *order], [])
        assert [end.reason for end in recorder.of(TurnEnded)][1:] == ["completed"] * len(order)


async def test_queued_messages_of_a_failed_turn_are_there_after_a_restart(tmp_path: Path) -> None:
    failing = Reply("Half", until=asyncio.Event(), error=REFUSED)
    model = ScriptedModel([failing])
    async with engine_on(tmp_path, model) as (engine, _):
        await failed_with_a_queue(engine, failing)
        task_id = engine.read.header().task_id
    async with engine_on(tmp_path, model, task=task_id) as (engine, _):
        assert queued(engine) == ["second", "third"]
        await engine.submit("")
        await engine.idle()
        assert (await sent(engine), queued(engine)) == (["first", "second", "third"], [])


@pytest.mark.parametrize(
    ("answers", "attempts"),
    [
        ([Reply("Half", error=OVERLOADED), "Done."], 2),
        ([Reply("Half", error=OVERLOADED), Reply("Half", error=OVERLOADED), "Done."], 3),
        ([OVERLOADED, "Done."], 1),
    ],
    ids=["once", "twice", "refused before it began"],
)
async def test_what_a_failed_attempt_cost_is_in_the_tasks_cost_and_survives_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[Answer], attempts: int
) -> None:
    without_waits(monkeypatch)
    # A prompt costs a cent, the answer two.
    model = ScriptedModel(answers, info=SCRIPTED, tokens=lambda _: 10_000, written=lambda _: 4_000)
    async with engine_on(tmp_path, model) as (engine, recorder):
        assert (await recorder.turn("go")).reason == "completed"
        assert engine.read.header().cost_usd == pytest.approx(0.01 * attempts + 0.02)
        task_id = engine.read.header().task_id
    async with engine_on(tmp_path, model, task=task_id) as (engine, _):
        assert engine.read.header().cost_usd == pytest.approx(0.01 * attempts + 0.02)
        assert [task.cost_usd for task in await engine.read.tasks()] == [pytest.approx(0.01 * attempts + 0.02)]


async def test_what_a_request_cost_that_failed_for_good_is_in_the_tasks_cost(tmp_path: Path) -> None:
    model = ScriptedModel([Reply("Half", error=REFUSED)], tokens=lambda _: 10_000)
    async with engine_on(tmp_path, model) as (engine, recorder):
        assert (await recorder.turn("go")).reason == "failed"
        assert engine.read.header().cost_usd == pytest.approx(0.01)
        task_id = engine.read.header().task_id
    async with engine_on(tmp_path, model, task=task_id) as (engine, _):
        assert engine.read.header().cost_usd == pytest.approx(0.01)
