"""While a condense runs: it can be ended, and nothing typed meanwhile is late, lost or sent twice."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from roo_tui import settings
from roo_tui.domain.entries import UserMessage
from roo_tui.domain.events import CondenseEnded, CondenseStarted, CondenseText
from roo_tui.domain.markers import Condense, CondenseFailed
from roo_tui.domain.views import UserRow
from tests.support.engines import bodies, engine_on
from tests.support.scripted_model import SUMMARY, Reply, ScriptedModel, call, hang
from tests.support.talks import (
    effective,
    long,
    said,
    scripted_app,
    small,
    summarising,
    talking,
)


def waits_for(gate: asyncio.Event, then: str = SUMMARY) -> ScriptedModel:
    """Return a model whose summaries wait until a gate is opened."""
    return ScriptedModel([long(1), long(2), "ok", "ok", "ok", "ok"], summary=Reply(then, until=gate))


@pytest.mark.line("D30")
@pytest.mark.parametrize("by", ["escape", "the time limit"])
async def test_a_condense_that_does_not_answer_is_ended_and_nothing_is_changed(
    workspace: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary never ends: that the engine is idle again is what is to be shown."""
    hanging = hang("<summary>Half of a")
    if by == "the time limit":
        settings.save({"context.condense_time_limit_s": 1})
        at_once, patient = asyncio.timeout, 1
        monkeypatch.setattr(asyncio, "timeout", lambda seconds: at_once(0.05 if seconds == patient else seconds))
    model = ScriptedModel([long(1), long(2), "ok"], summary=hanging)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        seen, used = effective(engine), engine.read.context_use().used
        await engine.condense()
        await hanging.reached.wait()
        if by == "escape":
            engine.cancel()
        await engine.idle()
        (ended,) = recorder.of(CondenseEnded)
        assert isinstance(ended, CondenseEnded)
        assert ended.outcome == ("cancelled" if by == "escape" else "failed")
        assert effective(engine) == seen and engine.read.context_use().used == used
        assert bodies(engine, Condense) == [] and len(bodies(engine, CondenseFailed)) == 1
        await recorder.turn("three")
    assert all(long(number).strip() in said(model.requests[-1]) for number in (1, 2))


@pytest.mark.line("D31")
async def test_one_types_and_queues_while_a_condense_runs(workspace: Path) -> None:
    gate = asyncio.Event()
    model = waits_for(gate)
    async with scripted_app(workspace, model) as screen:
        engine = screen.engine
        for words in ("one", "two"):
            await screen.type(words)
            await screen.press("enter")
            await screen.until(lambda: model.requests and not engine.busy, "the answer")
        await screen.press("ctrl+t")
        await screen.until(lambda: summarising(model), "the request for a summary")
        await screen.type("typed meanwhile")
        assert screen.app.chat.prompt.text == "typed meanwhile"
        await screen.press("enter")
        await screen.until(lambda: [item.words for item in engine.read.queue()] == ["typed meanwhile"], "the queue")
        assert screen.app.chat.prompt.text == "" and bodies(engine, Condense) == []
        gate.set()
        await screen.until(lambda: not engine.read.queue(), "the sending")
        await screen.until(lambda: not engine.busy, "the answer")
        assert said(model.requests[-1]).count("typed meanwhile") == 1


@pytest.mark.line("D31")
async def test_the_event_loop_keeps_turning_while_a_long_history_is_prepared_for_its_summary(
    workspace: Path, tmp_path: Path
) -> None:
    """Measured is the time of the processor that the loop's own thread uses in one go, which load does not change."""
    messages = [
        {"role": role, "content": "".join(f"{role} {turn} says {word}. " for word in range(1_500))}
        for turn in range(12)
        for role in ("user", "assistant")
    ]
    file = tmp_path / "long.json"
    file.write_text(json.dumps(messages))
    model = ScriptedModel(["ok"], info=small(2_000_000))
    longest = 0.0

    async def turning() -> None:
        nonlocal longest
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - begun)

    async with engine_on(workspace, model) as (engine, recorder):
        await engine.open_task(await engine.import_file(file))
        # What was counted once is known: a counter of its own has everything before it.
        engine._runtime.counter = type(engine._runtime.counter)()
        ticker = asyncio.create_task(turning())
        await engine.condense()
        await recorder.until(lambda event: isinstance(event, CondenseText))
        await engine.idle()
        ticker.cancel()
        assert len(bodies(engine, Condense)) == 1
    assert longest < 0.05


@pytest.mark.line("D32")
async def test_after_a_cancelled_condense_and_a_restart_no_file_and_no_message_differs(workspace: Path) -> None:
    (workspace / "a.txt").write_text("as found\n")
    hanging = hang("<summary>Half of a")
    written = call("write_to_file", path="a.txt", content="as written\n")
    model = ScriptedModel([written, long(1), long(2), "ok"], summary=hanging)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("write it")
        await recorder.turn("and then?")
        task = engine.read.header().task_id
        seen, used = effective(engine), engine.read.context_use().used
        await engine.condense()
        await hanging.reached.wait()
        engine.cancel()
        await engine.idle()
    (workspace / "mine.txt").write_text("made between\n")
    async with engine_on(workspace, model, task=task) as (engine, recorder):
        assert effective(engine) == seen and engine.read.context_use().used == used
        await recorder.turn("go on")
        assert bodies(engine, Condense) == []
    files = {path.name: path.read_text() for path in workspace.iterdir()}
    assert files == {"a.txt": "as written\n", "mine.txt": "made between\n"}


@pytest.mark.line("D33")
@pytest.mark.parametrize("then", ["it ends", "it fails", "it is cancelled", "the program ends"])
async def test_messages_queued_during_a_condense_are_sent_once_in_order_and_are_on_disk(
    workspace: Path, then: str
) -> None:
    gate = asyncio.Event()
    model = waits_for(gate, "" if then == "it fails" else SUMMARY)
    texts = ["queued first", "queued second", "queued third"]
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        task = engine.read.header().task_id
        await engine.condense()
        await recorder.until(lambda event: isinstance(event, CondenseStarted))
        for words in texts:
            await engine.submit(words)
        stored = await engine._runtime.store.load(task)
        assert [item.words for item in stored.queue] == texts
        if then in ("it ends", "it fails"):
            gate.set()
            await engine.idle()
            assert len(bodies(engine, Condense)) == (then == "it ends")
        else:
            engine.cancel()
            await engine.idle()
            assert [item.words for item in engine.read.queue()] == texts
            if then == "it is cancelled":
                await recorder.turn("")
                await engine.idle()
    if then == "the program ends":
        async with engine_on(workspace, model, task=task) as (engine, recorder):
            assert [item.words for item in engine.read.queue()] == texts
            await recorder.turn("")
            await engine.idle()
    async with engine_on(workspace, model, task=task) as (engine, _):
        assert engine.read.queue() == ()
        asked = [row.body.words for row in await engine.read.rows() if isinstance(row.body, UserRow)]
        assert asked == ["one", "two", *texts]
        assert sum(body.words in texts for body in bodies(engine, UserMessage)) == 3
    for number, request in enumerate(talking(model)[-3:]):
        assert [said(request).count(words) for words in texts] == [1] * (number + 1) + [0] * (2 - number)
