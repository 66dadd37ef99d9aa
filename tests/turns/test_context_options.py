"""The ways a condense is made on the real engine: cached, by another model, in the background; receipt and pins."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roo_tui import settings
from roo_tui.context.options import ContextOptions
from roo_tui.domain.entries import UserMessage
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.events import CondenseEnded
from roo_tui.domain.markers import Condense
from roo_tui.domain.requests import ModelInfo
from roo_tui.engine import Engine
from roo_tui.llm.options import Profile
from tests.support.engines import Recorder, allow_all, bodies, engine_on, path_of, session_of
from tests.support.scripted_model import SUMMARY, ScriptedModel, call, hang

PRICED = ModelInfo(
    "scripted",
    "scripted",
    window=100_000,
    input_usd=3.0,
    output_usd=15.0,
    cache_write_usd=3.75,
    cache_read_usd=0.3,
    token_factor=1.0,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def condenses(engine: Engine) -> list[Condense]:
    return [entry.body for entry in path_of(engine) if isinstance(entry.body, Condense)]


async def test_while_a_condense_runs_another_one_is_refused_and_the_first_goes_on(workspace: Path) -> None:
    model = ScriptedModel(["An answer. " * 400, "And more. " * 400], summary=(hanging := hang("<summary>Half")))
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        await engine.condense()
        await hanging.reached.wait()
        with pytest.raises(CommandRefused, match="already running"):
            await engine.condense()
        assert engine.busy
        engine.cancel()
        await engine.idle()
        model.summary = SUMMARY
        await engine.condense()
        await engine.idle()
        assert [event.outcome for event in recorder.of(CondenseEnded)] == ["cancelled", "condensed"]


async def test_a_condense_right_after_a_request_extends_it_and_reads_the_cache(workspace: Path) -> None:
    model = ScriptedModel(["An answer. " * 400, "And more. " * 400], info=PRICED)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("first")
        await recorder.turn("second")
        sent = model.requests[-1]
        await engine.condense()
        await engine.idle()
        asked = model.requests[-1]
        assert condenses(engine)[0].figures.shape == "cached"
        assert (asked.system, asked.tools) == (sent.system, sent.tools)
        assert asked.messages[: len(sent.messages)] == sent.messages
        assert condenses(engine)[0].figures.forecast_usd is not None


@pytest.mark.line("E35")
async def test_the_condense_profile_writes_the_summary_and_the_chat_goes_on_with_its_own_model(workspace: Path) -> None:
    chat, writer = ScriptedModel(["Long. " * 500, "ok", "next"]), ScriptedModel()
    writer.info = replace(writer.info, id="writer")
    base = settings.load(workspace=workspace)
    chosen = replace(
        base,
        profiles={**base.profiles, "cheap": Profile(name="cheap", model="writer")},
        context=replace(base.context, condense_profile="cheap"),
    )
    engine = Engine(workspace, chosen, models=lambda profile: writer if profile.name == "cheap" else chat)
    await engine.start()
    recorder = Recorder(engine, allow_all)
    await engine.new_task()
    await recorder.turn("first " * 100)
    await recorder.turn("second")
    await engine.condense()
    await engine.idle()
    assert len(writer.requests) == 1 and len(chat.requests) == 2
    assert condenses(engine)[0].figures.model == "writer"
    await recorder.turn("third")
    assert len(writer.requests) == 1 and "Conversation Summary" in str(chat.requests[-1].messages)
    await engine.close()


def in_background(**changes: Any) -> ContextOptions:
    return ContextOptions(background_condense=True, **changes)


async def started(workspace: Path, model: ScriptedModel, options: ContextOptions) -> tuple[Engine, Recorder]:
    engine = Engine(workspace, replace(settings.load(workspace=workspace), context=options), models=lambda _: model)
    await engine.start()
    recorder = Recorder(engine, allow_all)
    await engine.new_task()
    return engine, recorder


async def test_a_background_condense_is_swapped_in_with_what_came_meanwhile_kept(workspace: Path) -> None:
    model = ScriptedModel(["word " * 700, "word " * 1_500, "short", "The end."])
    model.info = replace(model.info, window=20_000, max_output=2_000)
    model.tokens = lambda request: 14_500 if len(model.requests) == 3 else 8_000
    engine, recorder = await started(workspace, model, in_background())
    for words in ("one", "two", "three", "four"):
        await recorder.turn(words)
    running = session_of(engine).context._background._running
    if running is not None:
        await asyncio.wait([running])
    await recorder.turn("five")
    (found,) = condenses(engine)
    assert found.figures.trigger == "background"
    path = path_of(engine)
    typed = [entry for entry in path if isinstance(entry.body, UserMessage) and entry.body.words]
    assert typed[-1].id not in found.hides
    assert [event.outcome for event in recorder.of(CondenseEnded)] == ["condensed"]
    await engine.close()


async def near_the_trigger(workspace: Path, model: ScriptedModel, **changes: Any) -> tuple[Engine, Recorder]:
    """Return an engine that has begun a condense in the background and finished it."""
    model.info = replace(model.info, window=20_000, max_output=2_000)
    model.tokens = lambda request: 14_500 if len(model.requests) == 3 else 8_000
    given = replace(settings.load(workspace=workspace), context=in_background(), **changes)
    engine = Engine(workspace, given, models=lambda _: model)
    await engine.start()
    recorder = Recorder(engine, allow_all)
    await engine.new_task()
    for message in ("one", "two", "three", "four"):
        await recorder.turn(message)
    running = session_of(engine).context._background._running
    if running is not None:
        await asyncio.wait([running])
    return engine, recorder


async def test_a_background_condense_obeys_the_hooks(workspace: Path) -> None:
    model = ScriptedModel(["word " * 700, "word " * 1_500, "short", "The end."])
    hooks = settings.HookOptions(before_condense=('echo \'{"instructions": "Mention the cat."}\'',))
    engine, recorder = await near_the_trigger(workspace, model, hooks=hooks)
    await recorder.turn("five")
    (found,) = condenses(engine)
    assert found.figures.trigger == "background"
    assert any("Mention the cat." in str(request.messages[-1]) for request in model.requests)
    await engine.close()


async def test_a_background_condense_that_fails_unexpectedly_stops_no_later_turn(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(["word " * 700, "word " * 1_500, "short", "The end.", "And on."])

    async def broken(*_: Any, **__: Any) -> Any:
        raise OSError("the disk is full")

    monkeypatch.setattr("roo_tui.engine.context_control.Strategies.run", broken)
    engine, recorder = await near_the_trigger(workspace, model)
    assert (await recorder.turn("five")).reason == "completed"
    assert (await recorder.turn("six")).reason == "completed"
    await engine.close()


async def test_a_rewind_drops_what_is_condensed_in_the_background(workspace: Path) -> None:
    hanging = hang("<summary>")
    model = ScriptedModel(["word " * 700, "word " * 1_500, "short"])
    model.info = replace(model.info, window=20_000, max_output=2_000)
    model.tokens = lambda request: 14_500 if len(model.requests) >= 3 else 8_000
    model.summary = hanging
    engine, recorder = await started(workspace, model, in_background())
    for words in ("one", "two", "three", "four"):
        await recorder.turn(words)
    await hanging.reached.wait()
    points = [point for point in await engine.read.rewind_points() if point.kind == "user"]
    await engine.rewind(points[1].entry_id)
    assert not session_of(engine).context._background.running
    await recorder.turn("again")
    assert condenses(engine) == []
    await engine.close()


async def test_the_receipt_can_be_appended_and_reaches_the_model(workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 1\n")
    model = ScriptedModel([call("write_to_file", path="src/secret_plan.py", content="y = 2\n"), "Done. " * 300, "ok"])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("write it. Never touch a.py. " * 30)
        await recorder.turn("and?")
        await engine.condense()
        await engine.idle()
        (condense,) = bodies(engine, Condense)
        assert any("src/secret_plan.py" in line for line in condense.receipt)
        condense_id = next(entry.id for entry in path_of(engine) if entry.body is condense)
        await engine.append_receipt(condense_id)
        await recorder.turn("go on")
        for no_condense in (1, 999):
            with pytest.raises(CommandRefused, match=f"e{no_condense} is not a condense"):
                await engine.append_receipt(no_condense)
        await engine.rewind((await engine.read.rewind_points())[0].entry_id)
        with pytest.raises(CommandRefused, match="is not a condense in this conversation"):
            await engine.append_receipt(condense_id)
    assert "src/secret_plan.py" in str(model.requests[-1].messages[0])


async def test_a_pinned_message_survives_two_condenses_word_for_word(workspace: Path) -> None:
    pinned = "The password policy is: exactly [17] characters, never fewer."
    model = ScriptedModel(["Long. " * 400, "More. " * 400, "Again. " * 400, "ok"], summary=SUMMARY)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn(pinned)
        entry = next(e for e in path_of(engine) if isinstance(e.body, UserMessage))
        await engine.pin(entry.id)
        for words in ("one", "two"):
            await recorder.turn(words)
            await engine.condense()
            await engine.idle()
        await recorder.turn("three")
        assert len(condenses(engine)) == 2
    assert pinned in str(model.requests[-1].messages)


@pytest.mark.line("E35")
async def test_before_a_smaller_model_takes_over_the_one_that_holds_the_history_condenses(workspace: Path) -> None:
    large, small = ScriptedModel(["word " * 9_000, "ok"]), ScriptedModel(["next"])
    small.info = replace(small.info, id="small", window=10_000, max_output=1_000)
    base = settings.load(workspace=workspace)
    chosen = replace(base, profiles={**base.profiles, "small": Profile(name="small", model="small")})
    settings.save({"profiles.small.model": "small"})
    engine = Engine(workspace, chosen, models=lambda profile: small if profile.name == "small" else large)
    await engine.start()
    recorder = Recorder(engine, allow_all)
    await engine.new_task()
    await recorder.turn("first")
    await recorder.turn("second")
    await engine.choose_profile("small")
    (found,) = condenses(engine)
    assert (found.figures.trigger, found.figures.model) == ("switch", large.info.id)
    assert engine.read.header().model == "small"
    await recorder.turn("third")
    assert len(small.requests) == 1
    await engine.close()


async def test_the_forecast_is_what_the_condense_then_costs(workspace: Path) -> None:
    model = ScriptedModel(["An answer. " * 400, "And more. " * 400], info=PRICED)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("first")
        await recorder.turn("second")
        found = await engine.preview_condense()
        (dearer,) = found.alternatives
        assert (found.shape, dearer.shape) == ("cached", "fresh")
        assert (
            found.cost_usd
            and dearer.cost_usd
            and found.cost_usd < dearer.cost_usd
            and found.tokens_after < found.tokens_before
        )
        await engine.condense()
        await engine.idle()
        assert condenses(engine)[0].figures.forecast_usd == pytest.approx(found.cost_usd)


async def test_after_a_condense_in_the_middle_of_a_turn_the_rules_are_those_on_disk(workspace: Path) -> None:
    rules = workspace / "AGENTS.md"
    rules.write_text("Use tabs.\n")
    (workspace / "big.txt").write_text("line of text\n" * 3_000)

    def rewrite(request: Any) -> Any:
        rules.write_text("Use spaces.\n")
        return call("read_file", path="big.txt")

    model = ScriptedModel(["word " * 1_500, rewrite, "Read it."])
    model.info = replace(model.info, window=14_000, max_output=1_000)
    model.tokens = lambda request: 12_500 if len(model.requests) == 2 else 6_000
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("first")
        await recorder.turn("read the big file")
        assert any(found.figures.trigger == "automatic" for found in condenses(engine))
    assert "Use tabs." in model.requests[0].system[0]
    assert "Use spaces." in model.requests[-1].system[0] and "Use tabs." not in model.requests[-1].system[0]
