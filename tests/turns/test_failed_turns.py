"""What a turn that failed leaves behind: the queue, and what it cost."""

import asyncio
from pathlib import Path

import pytest

from roo_tui.domain.errors import ModelError
from roo_tui.domain.events import TurnEnded
from roo_tui.domain.views import AnswerRow, UserRow
from roo_tui.engine import Engine
from tests.support.engines import engine_on, without_waits
from tests.support.scripted_model import SCRIPTED, Answer, Reply, ScriptedModel, hang

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
    [("", ["second", "third"]), ("fourth", ["second", "third", "fourth"])],
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
        assert engine.read.header().cost_usd == pytest.approx(0.01 * attempts + 0.02, abs=0.0001)
        task_id = engine.read.header().task_id
    async with engine_on(tmp_path, model, task=task_id) as (engine, _):
        assert engine.read.header().cost_usd == pytest.approx(0.01 * attempts + 0.02, abs=0.0001)
        (task,) = await engine.read.tasks()
        assert task.cost_usd == pytest.approx(0.01 * attempts + 0.02, abs=0.0001)


async def test_what_a_request_cost_that_failed_for_good_is_in_the_tasks_cost(tmp_path: Path) -> None:
    model = ScriptedModel([Reply("Half", error=REFUSED)], tokens=lambda _: 10_000)
    async with engine_on(tmp_path, model) as (engine, recorder):
        assert (await recorder.turn("go")).reason == "failed"
        assert engine.read.header().cost_usd == pytest.approx(0.01, abs=0.0001)
        task_id = engine.read.header().task_id
    async with engine_on(tmp_path, model, task=task_id) as (engine, _):
        assert engine.read.header().cost_usd == pytest.approx(0.01, abs=0.0001)


async def test_escape_after_four_thousand_output_tokens_costs_them_too(tmp_path: Path) -> None:
    # A prompt costs a cent, a thousand words about half a cent.
    hanging = hang("word " * 4_000)
    model = ScriptedModel([hanging], tokens=lambda _: 10_000)
    async with engine_on(tmp_path, model) as (engine, _):
        await engine.submit("go")
        await hanging.reached.wait()
        engine.cancel()
        await engine.idle()
        assert engine.read.header().cost_usd == pytest.approx(0.01 + 0.02, abs=0.001)


async def test_a_failed_attempt_costs_what_it_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_waits(monkeypatch)
    answers: list[Answer] = [Reply("word " * 4_000, error=OVERLOADED), Reply("word " * 2_000, error=REFUSED)]
    async with engine_on(tmp_path, ScriptedModel(answers, tokens=lambda _: 10_000)) as (engine, recorder):
        assert (await recorder.turn("go")).reason == "failed"
        assert engine.read.header().cost_usd == pytest.approx(2 * 0.01 + 0.02 + 0.01, abs=0.001)


async def answered(engine: Engine) -> list[tuple[str, bool]]:
    """Return the answers on the screen, each with whether it was interrupted."""
    rows = [row.body for row in await engine.read.rows()]
    return [(row.text, row.interrupted) for row in rows if isinstance(row, AnswerRow)]


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        ([Reply("A long text that was read.", error=OVERLOADED), OVERLOADED, OVERLOADED, OVERLOADED], "A long"),
        ([Reply("A long text that was read.", error=OVERLOADED), Reply("I", error=REFUSED)], "A long"),
        ([Reply("Short.", error=OVERLOADED), Reply("A longer text than before.", error=REFUSED)], "A longer"),
    ],
    ids=["retries without an answer", "a retry that hardly began", "a retry that came further"],
)
async def test_text_streamed_before_a_connection_drops_for_good_stays_on_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[Answer], kept: str
) -> None:
    without_waits(monkeypatch)
    model = ScriptedModel([*answers, "Done."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        assert (await recorder.turn("go")).reason == "failed"
        ((text, interrupted),) = await answered(engine)
        assert text.startswith(kept) and interrupted
        task_id = engine.read.header().task_id
    async with engine_on(tmp_path, model, task=task_id) as (engine, recorder):
        assert len(await answered(engine)) == 1
        assert (await recorder.turn("")).reason == "completed"
    assert kept in str(model.requests[-1].messages)


async def test_escape_while_a_retry_waits_keeps_the_text_of_the_attempt_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_waits(monkeypatch)
    hanging = hang("")
    model = ScriptedModel([Reply("A long text that was read.", error=OVERLOADED), hanging])
    async with engine_on(tmp_path, model) as (engine, _):
        await engine.submit("go")
        await hanging.reached.wait()
        engine.cancel()
        await engine.idle()
        assert await answered(engine) == [("A long text that was read.", True)]


async def test_a_retry_that_succeeds_leaves_one_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_waits(monkeypatch)
    model = ScriptedModel([Reply("A long text that was read.", error=OVERLOADED), "Short."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        assert (await recorder.turn("go")).reason == "completed"
        assert await answered(engine) == [("Short.", False)]
