"""Histories too long for one request, and five condenses in a row, on the real engine."""

import json
from pathlib import Path

import pytest

from roo_tui.domain.markers import Condense
from tests.support.engines import engine_on, path_of
from tests.support.scripted_model import SUMMARY, ScriptedModel

WORDS = "A sentence about the shards and the cursor that each of them keeps. "


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def condense_answer(request: object) -> str:
    return SUMMARY if "nine of these sections" in str(request) else "Notes on this part."


@pytest.mark.line("C22", "C23")
async def test_a_history_longer_than_the_window_is_condensed_in_parts_and_nothing_is_lost(
    workspace: Path, tmp_path: Path
) -> None:
    messages = []
    for number in range(120):
        messages.append({"role": "user", "content": f"question {number}: {WORDS * 40}"})
        messages.append({"role": "assistant", "content": f"answer {number}: {WORDS * 40}"})
    file = tmp_path / "long.json"
    file.write_text(json.dumps(messages))
    model = ScriptedModel(["Going on."], summary=condense_answer)
    async with engine_on(workspace, model) as (engine, recorder):
        await engine.open_task(await engine.import_file(file))
        before = len(path_of(engine))
        end = await recorder.turn("and now?")
        path = path_of(engine)
        (marker,) = [entry.body for entry in path if isinstance(entry.body, Condense)]
        assert end.reason == "completed"
        assert marker.figures.shape == "staged"
        assert marker.figures.tokens_before > model.info.window
        assert marker.figures.tokens_after < 10_000
        assert len(path) > before
        found = await engine.read.find("question 7")
        assert any("question 7:" in hit.excerpt for hit in found)
    assert [bool(request.tools) for request in model.requests].count(False) > 2
    assert "question 3:" not in str(model.requests[-1].messages)
    assert "and now?" in str(model.requests[-1].messages[-1])


@pytest.mark.line("A8")
async def test_the_command_of_the_first_request_is_there_after_five_condenses(workspace: Path) -> None:
    commands = workspace / ".roo" / "commands"
    commands.mkdir(parents=True)
    (commands / "plan.md").write_text("Follow docs/plan.md, step by step.")
    model = ScriptedModel([f"Done {number}. " * 300 for number in range(6)])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("/plan build the shed")
        for number in range(5):
            await engine.condense()
            await engine.idle()
            await recorder.turn(f"go on, part {number}")
        path = path_of(engine)
        assert sum(isinstance(entry.body, Condense) for entry in path) == 5
    assert "Follow docs/plan.md, step by step." in str(model.requests[-1].messages)
