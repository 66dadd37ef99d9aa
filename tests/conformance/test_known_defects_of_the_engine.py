"""Known defects that only show with a whole engine. These need no conformance data."""

import json
from dataclasses import replace
from pathlib import Path

from roo_tui.domain.markers import Truncation
from tests.support.engines import engine_on
from tests.support.scripted_model import SCRIPTED, ScriptedModel


def _conversation(tmp_path: Path) -> Path:
    roles = ("user", "assistant") * 6
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([{"role": role, "content": f"{role} {'word ' * 300}"} for role in roles]))
    return file


async def test_after_a_truncation_its_count_is_the_size_in_use_until_a_request_tells_its_own(tmp_path: Path) -> None:
    async with engine_on(tmp_path, ScriptedModel()) as (engine, recorder):
        task = await engine.import_file(_conversation(tmp_path))
        await engine.open_task(task)
        await engine.measure()
        before = engine.read.context_use().used
        await engine.truncate()
        assert engine.read.session is not None
        marker = next(one.body for one in engine.read.session.task.log.path() if isinstance(one.body, Truncation))
        assert engine.read.context_use().used == marker.figures.tokens_after < before
        await recorder.turn("go on")
        assert engine.read.context_use().used < before


async def test_the_first_request_is_checked_too(tmp_path: Path) -> None:
    model = ScriptedModel(info=replace(SCRIPTED, window=8_000))
    async with engine_on(tmp_path, model) as (_, recorder):
        end = await recorder.turn("word " * 20_000)
    assert end.reason != "completed" and "context window" in end.message
    assert not model.requests
