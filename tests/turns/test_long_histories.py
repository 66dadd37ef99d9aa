"""Histories too long for one request, and five condenses in a row, on the real engine."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.markers import Condense, Truncation
from roo_tui.domain.requests import ModelEvent, Request
from tests.support.engines import engine_on, path_of
from tests.support.scripted_model import SCRIPTED, SUMMARY, ScriptedModel, overflow

COUNTER = TokenCounter()
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


class StrictModel(ScriptedModel):
    """Refuses what its own tokenizer counts as longer than its window; it makes `factor` tokens of each of ours."""

    def __init__(self, factor: float, window: int) -> None:
        super().__init__(["Going on."] * 9, replace(SCRIPTED, window=window), condense_answer)
        self.window, count = window, COUNTER.count_request
        self.sent: list[int] = []
        self.tokens = lambda request: round(factor * count(request.system, request.tools, request.messages))

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        tokens = self.tokens(request)
        self.sent.append(tokens)
        if tokens > self.window:
            raise overflow(tokens, self.window)
        async for event in super().stream(request):
            yield event


async def test_a_history_the_provider_counts_twice_as_long_is_condensed_in_parts_that_fit(
    workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "long.json"
    messages = [{"role": ("user", "assistant")[at % 2], "content": f"{at}: {WORDS * 60}"} for at in range(170)]
    file.write_text(json.dumps(messages))
    model = StrictModel(2.1, 200_000)
    async with engine_on(workspace, model) as (engine, recorder):
        await engine.open_task(await engine.import_file(file))
        assert engine.read.context_use().used < 200_000
        end = await recorder.turn("and now?")
        bodies = [entry.body for entry in path_of(engine)]
        assert end.reason == "completed"
        assert not any(isinstance(body, Truncation) for body in bodies)
        (marker,) = [body for body in bodies if isinstance(body, Condense)]
        assert marker.figures.shape == "staged"
    assert sum(tokens > model.window for tokens in model.sent) == 1, "only the first request was too long"


async def test_a_part_that_the_provider_refuses_is_halved(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    dense = "0x7f3a9c,0xb2e41d,0x55aa00;" * 400
    messages = [
        {"role": ("user", "assistant")[at % 2], "content": f"{at}: {dense if at > 150 else WORDS * 60}"}
        for at in range(240)
    ]
    file.write_text(json.dumps(messages))
    model = StrictModel(1.0, 200_000)
    plain = model.tokens
    model.tokens = lambda request: round(plain(request) * (1.6 if "0x7f3a9c" in str(request.messages) else 1.0))
    async with engine_on(workspace, model) as (engine, recorder):
        await engine.open_task(await engine.import_file(file))
        assert (await recorder.turn("and now?")).reason == "completed"
        bodies = [entry.body for entry in path_of(engine)]
        assert not any(isinstance(body, Truncation) for body in bodies)
        assert [body.figures.shape for body in bodies if isinstance(body, Condense)] == ["staged"]


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
