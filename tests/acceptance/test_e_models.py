"""Which model condenses, and by whose threshold, on the real engine."""

from dataclasses import replace
from pathlib import Path

import pytest

from roo_tui import settings
from roo_tui.domain.blocks import Text, Thinking
from roo_tui.domain.markers import Condense
from roo_tui.engine import Engine
from tests.support.engines import Recorder, allow_all, bodies, engine_on
from tests.support.scripted_model import ScriptedModel
from tests.support.talks import condensed, long, said, summarising


@pytest.mark.line("E35")
async def test_the_chosen_model_condenses_and_the_conversations_own_takes_the_next_request_it_accepts(
    workspace: Path,
) -> None:
    """Both models refuse what their API would: another model's reasoning, for one."""
    settings.save({"profiles.writer.model": "writer", "context.condense_profile": "writer"})
    thought = Thinking("Let me see.", "signed", "scripted", "scripted")
    chat = ScriptedModel([[thought, Text(long(0))], [thought, Text(long(1))], "next", "after"])
    writer = ScriptedModel()
    writer.info = replace(writer.info, id="writer", provider="another")
    engine = Engine(
        workspace,
        settings.load(workspace=workspace),
        models=lambda profile: writer if profile.name == "writer" else chat,
    )
    await engine.start()
    recorder = Recorder(engine, allow_all)
    await engine.new_task()
    await recorder.turn("one")
    await recorder.turn("two")
    await condensed(engine)
    assert (len(writer.requests), len(chat.requests)) == (1, 2)
    assert bodies(engine, Condense)[0].figures.model == "writer"
    assert (await recorder.turn("three")).reason == "completed"
    assert (len(writer.requests), len(chat.requests)) == (1, 3)
    assert "Conversation Summary" in said(chat.requests[-1])
    await engine.undo()
    assert (await recorder.turn("four")).reason == "completed"
    assert "signed" in str(chat.requests[-1].messages) and summarising(chat) == []
    await engine.close()


@pytest.mark.line("E36")
async def test_a_profiles_threshold_is_used_from_the_moment_it_is_chosen(workspace: Path) -> None:
    settings.save({"profiles.early.model": "claude-sonnet-5-5", "profiles.early.threshold_percent": 30})
    model = ScriptedModel([long(1), long(2), "ok"])
    model.tokens = lambda request: 40_000
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        assert summarising(model) == []
        await engine.choose_profile("early")
        assert engine.read.context_use().trigger_tokens == 30_000
        await recorder.turn("three")
        assert len(summarising(model)) == 1
        await engine.choose_profile("default")
        assert engine.read.context_use().trigger_tokens > 80_000
