"""What a turn does when the provider refuses a content, or ends an answer before the model does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from roo_tui import settings
from roo_tui.domain.blocks import Block, Image, Text, Thinking
from roo_tui.domain.entries import UserMessage
from roo_tui.domain.errors import ModelError
from roo_tui.domain.events import RequestStarted
from roo_tui.domain.markers import Condense, Mask
from roo_tui.domain.requests import Request
from roo_tui.domain.views import ReductionRow
from tests.support.engines import bodies, engine_on, session_of
from tests.support.scripted_model import Answer, Reply, ScriptedModel, hang
from tests.support.talks import condensed, effective, long

BAD_THINKING = "messages.{}.content.{}: Invalid `signature` in `thinking` block"


def refusing(wanted: Callable[[Block], bool], message: str, answer: Answer = "Done.") -> Callable[[Request], Answer]:
    """Return an answer that refuses every request with such a block, naming its place."""

    def answered(request: Request) -> Answer:
        for number, sent in enumerate(request.messages):
            for index, block in enumerate(sent.blocks):
                if wanted(block):
                    return ModelError(message.format(number, index), status=400, code="invalid_request_error")
        return answer

    return answered


async def test_a_block_the_provider_names_is_hidden_and_the_turn_goes_on(tmp_path: Path) -> None:
    thought = Thinking("Well.", "bad", "scripted", "scripted")
    refuses = refusing(lambda block: isinstance(block, Thinking), BAD_THINKING)
    model = ScriptedModel([[thought, Text("Hello.")], refuses, refuses])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("one")
        assert (await recorder.turn("two")).reason == "completed"
        (marker,) = bodies(engine, Mask)
        row = next(row.body for row in await engine.read.rows() if isinstance(row.body, ReductionRow))
        assert row.title == "Refused content hidden" and "Invalid `signature`" in marker.reason
        assert engine.read.context_use().used > 0
        await engine.undo()
        assert thought in effective(engine)[1].blocks


async def test_a_provider_that_always_names_a_block_hides_only_a_few(tmp_path: Path) -> None:
    model = ScriptedModel(["One.", *[refusing(lambda _: True, "messages.{}.content.{}: no")] * 20])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("one")
        assert (await recorder.turn("two")).reason == "failed"
        assert len(bodies(engine, Mask)) <= 3
        assert len(recorder.of(RequestStarted)) <= 5


async def test_a_model_that_sees_no_pictures_gets_none(tmp_path: Path) -> None:
    refuses = refusing(lambda block: isinstance(block, Image), "This model does not support image input.")
    model = ScriptedModel([refuses] * 10)
    async with engine_on(tmp_path, model) as (engine, recorder):
        picture = Image("image/png", "aGk=", 100, 100)
        await session_of(engine).task.record(*[UserMessage((picture,), words="look")] * 5)
        assert (await recorder.turn("what is it?")).reason == "completed"
        assert len(bodies(engine, Mask)) == 3  # the older half each time
        assert not any(isinstance(block, Image) for message in effective(engine) for block in message.blocks)


@pytest.mark.parametrize("stop_reason", ["model_context_window_exceeded", "pause_turn"])
async def test_an_answer_the_provider_ended_early_is_continued_in_the_same_turn(
    tmp_path: Path, stop_reason: str
) -> None:
    model = ScriptedModel([long(1), long(2), Reply("The first half,", stop_reason), "and the second."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        assert (await recorder.turn("three")).reason == "completed"
        texts = [message.blocks[-1] for message in effective(engine)]
        assert texts[-1] == Text("and the second.")
        assert len(bodies(engine, Condense)) == (stop_reason != "pause_turn")


@pytest.mark.parametrize("stop_reason", ["model_context_window_exceeded", "pause_turn"])
async def test_an_answer_that_never_gets_longer_ends_the_turn_with_a_reason(tmp_path: Path, stop_reason: str) -> None:
    model = ScriptedModel([long(1), long(2), *[Reply("Half", stop_reason)] * 50])
    async with engine_on(tmp_path, model) as (_, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        end = await recorder.turn("three")
        assert end.reason in ("failed", "context_full") and end.message
        assert len(model.requests) < 20


async def test_a_retry_after_the_undo_of_a_condense_ends_with_the_user(tmp_path: Path) -> None:
    """The scripted model refuses a request that ends with the assistant, as the rules of the API say."""
    model = ScriptedModel([long(1), long(2), "Done."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        await condensed(engine)
        await engine.undo()
        assert effective(engine)[-1].role == "assistant"
        assert (await recorder.turn("")).reason == "completed"


async def test_an_interrupted_answer_that_a_condense_keeps_is_followed_by_the_user(tmp_path: Path) -> None:
    settings.save({"context.keep_newest_turns": 1})
    hanging = hang("Half of an answer")
    model = ScriptedModel([long(1), long(2), hanging, "Done."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        await engine.submit("three")
        await hanging.reached.wait()
        engine.cancel()
        await engine.idle()
        await condensed(engine)
        recorder.drain()
        assert effective(engine)[0].source == "summary" and effective(engine)[-1].role == "assistant"
        assert (await recorder.turn("")).reason == "completed"


async def test_nothing_typed_in_an_empty_task_sends_nothing(tmp_path: Path) -> None:
    model = ScriptedModel()
    async with engine_on(tmp_path, model) as (engine, _):
        await engine.submit("")
        await engine.submit("  \n")
        await engine.idle()
        assert model.requests == [] and not bodies(engine, UserMessage) and not engine.busy
