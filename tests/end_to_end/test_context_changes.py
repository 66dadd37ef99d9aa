"""Forced, failing and cancelled condenses through the real client: what the provider is asked, and what stays."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roo_tui import paths, settings
from roo_tui.domain.errors import StoreError
from roo_tui.domain.events import CondenseEnded, CondenseText
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.domain.views import ToolRow
from roo_tui.engine import Engine
from tests.support.engines import Recorder, allow_all, path_of, without_waits
from tests.support.messages_server import MessagesServer, Step, answer, hang, refusal, text, tool_call
from tests.support.scripted_model import SUMMARY

LONG = answer(text("A long answer. " * 400), usage={"input_tokens": 4_000, "output_tokens": 1_600})
OTHER = answer(text("Another long answer. " * 400), usage={"input_tokens": 4_000, "output_tokens": 1_600})
SHORT = answer(text("Short."), usage={"input_tokens": 3_000, "output_tokens": 10})
SUMMARISED = answer(text(SUMMARY))
OVERLOADED = refusal(529, message="Overloaded")
SETTINGS = """
[profiles.default]
window = 20000
max_output = 1000

[context]
fallback = "truncation"
"""


def too_long(said: int, most: int) -> Step:
    return refusal(400, message=f"prompt is too long: {said} tokens > {most} maximum")


@asynccontextmanager
async def session(folder: Path, *steps: Step) -> AsyncIterator[tuple[Engine, Recorder, MessagesServer]]:
    """A new task of the real engine; the model's window is 20,000 tokens, of which 1,000 are kept for answers."""
    paths.settings_file().parent.mkdir(parents=True, exist_ok=True)
    paths.settings_file().write_text(SETTINGS)
    async with MessagesServer(steps) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BASE_URL", server.url)
            patch.setenv("ANTHROPIC_API_KEY", "sk-test")
            without_waits(patch)
            engine = Engine(folder, settings.load(workspace=folder))
            await engine.start()
            try:
                recorder = Recorder(engine, allow_all)
                await engine.new_task()
                yield engine, recorder, server
            finally:
                await engine.close()


def markers(engine: Engine) -> list[object]:
    """Return the kinds of the markers of the open task, oldest first."""
    assert engine.read.session is not None
    kinds = (Condense, CondenseFailed, Truncation)
    return [type(entry.body) for entry in path_of(engine) if isinstance(entry.body, kinds)]


async def condensed(engine: Engine, recorder: Recorder) -> CondenseEnded:
    await engine.condense()
    event = await recorder.until(lambda event: isinstance(event, CondenseEnded))
    assert isinstance(event, CondenseEnded)
    return event


@pytest.mark.line("C23")
async def test_a_window_the_provider_states_forces_a_condense_and_the_request_is_made_again(tmp_path: Path) -> None:
    steps: list[Step] = [LONG, OTHER, too_long(9_000, 8_000), SUMMARISED, SHORT]
    async with session(tmp_path, *steps) as (engine, recorder, server):
        await recorder.turn("one")
        await recorder.turn("two")
        end = await recorder.turn("three")
        assert (end.reason, markers(engine)) == ("completed", [Condense])
        assert engine.read.context_use().window == 8_000
        sent = str(server.requests[-1].body["messages"])
        assert "Conversation Summary" in sent and "three" in sent and "A long answer" not in sent


@pytest.mark.line("C23")
async def test_an_automatic_condense_that_fails_over_the_limit_ends_in_a_truncation(tmp_path: Path) -> None:
    nearly_full = answer(text("Another long answer. " * 400), usage={"input_tokens": 17_000, "output_tokens": 1_600})
    steps: list[Step] = [LONG, nearly_full, *[OVERLOADED] * 4, SHORT]
    async with session(tmp_path, *steps) as (engine, recorder, server):
        await recorder.turn("one")
        await recorder.turn("two")
        end = await recorder.turn("three")
        assert (end.reason, markers(engine)) == ("completed", [CondenseFailed, Truncation])
        assert len(server.requests) == 7
        assert engine.read.context_use().used < 18_600


@pytest.mark.line("C27")
async def test_a_manual_condense_that_fails_changes_nothing(tmp_path: Path) -> None:
    async with session(tmp_path, LONG, OTHER, *[OVERLOADED] * 4, SHORT) as (engine, recorder, server):
        await recorder.turn("one")
        await recorder.turn("two")
        before = await engine.read.export("effective", "json")
        end = await condensed(engine, recorder)
        assert (end.outcome, markers(engine)) == ("failed", [CondenseFailed])
        assert "529" in end.message
        assert await engine.read.export("effective", "json") == before
        assert (await recorder.turn("three")).reason == "completed"
        assert len(server.requests[-1].body["messages"]) == 5


@pytest.mark.line("D30")
async def test_escape_in_the_middle_of_a_condense_hangs_up_and_changes_nothing(tmp_path: Path) -> None:
    async with session(tmp_path, LONG, OTHER, hang(SUMMARISED), SHORT) as (engine, recorder, server):
        await recorder.turn("one")
        await recorder.turn("two")
        before = await engine.read.export("effective", "json")
        await engine.condense()
        await recorder.until(lambda event: isinstance(event, CondenseText))
        engine.cancel()
        engine.cancel()
        await engine.idle()
        await server.requests[2].left.wait()
        assert server.requests[2].abandoned
        (end,) = recorder.of(CondenseEnded)
        assert isinstance(end, CondenseEnded) and end.outcome == "cancelled"
        assert await engine.read.export("effective", "json") == before
        assert (await recorder.turn("three")).reason == "completed"


@pytest.mark.line("D33")
async def test_a_message_typed_during_a_condense_is_sent_once_after_it(tmp_path: Path) -> None:
    async with session(tmp_path, LONG, OTHER, SUMMARISED, SHORT) as (engine, recorder, server):
        await recorder.turn("one")
        await recorder.turn("two")
        await engine.condense()
        await engine.submit("typed meanwhile")
        await engine.idle()
        assert markers(engine) == [Condense]
        assert str(server.requests[-1].body["messages"]).count("typed meanwhile") == 1
        assert engine.read.queue() == ()


async def pages(engine: Engine, more: int) -> None:
    """Let the store grow by so many pages and no more, as on a disk that fills up."""

    def limit(connection: sqlite3.Connection) -> None:
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {now + more}")

    await engine._runtime.store._database.run(limit)


async def test_a_result_that_could_not_be_stored_is_reported_as_lost_and_the_call_is_not_made_again(
    tmp_path: Path,
) -> None:
    marking = tool_call("execute_command", {"command": "echo ran >> ran.txt; head -c 900000 /dev/urandom | base64"})
    async with session(tmp_path, answer(marking), SHORT) as (engine, recorder, server):
        await pages(engine, 60)
        end = await recorder.turn("run it")
        assert end.reason == "failed" and "disk is full" in end.message
        await pages(engine, 10_000)
        assert (await recorder.turn("and now?")).reason == "completed"
        (result, *_) = server.requests[1].body["messages"][2]["content"]
        assert "could not store" in str(result) and result["is_error"]
        states = [row.body.state for row in await engine.read.rows() if isinstance(row.body, ToolRow)]
        assert states == ["lost"]
    assert (tmp_path / "ran.txt").read_text() == "ran\n"


async def test_a_message_that_cannot_be_stored_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with session(tmp_path, SHORT) as (engine, recorder, server):
        await pages(engine, 0)
        with pytest.raises(StoreError, match="disk is full"):
            await engine.submit("precious words " * 2_000)
        await engine.idle()
        await pages(engine, 10_000)
        recorder.drain()
        assert (await recorder.turn("again")).reason == "completed"
        assert len(server.requests) == 1
