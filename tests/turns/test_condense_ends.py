"""How a condense ends when something other than the model is in the way: sentence, cost and exit code."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from roo_tui import settings
from roo_tui.context.options import ContextOptions
from roo_tui.domain.errors import CondenseRefused, StoreError
from roo_tui.domain.events import CondenseEnded
from roo_tui.domain.previews import CondenseRequest
from roo_tui.engine import Engine
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.headless.stats import show_stats
from roo_tui.headless.tasks import condense_task
from roo_tui.store import Store
from tests.support.engines import engine_on
from tests.support.scripted_model import ScriptedModel, call

FULL = StoreError("roo-tui.sqlite cannot be used: the disk is full; free some space and try again.")


async def test_a_full_disk_in_a_condense_is_said_and_not_called_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(["Long. " * 400, "More."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("go")
        await recorder.turn("on")
        paid = engine.read.header().cost_usd

        async def full(*arguments: object, **options: object) -> None:
            raise FULL

        with monkeypatch.context() as patch:
            patch.setattr(Store, "append", full)
            await engine.condense()
            await engine.idle()
        (end,) = recorder.of(CondenseEnded)
        assert (end.outcome, end.message) == ("failed", str(FULL))
        assert engine.read.header().cost_usd > paid


@pytest.mark.parametrize(
    ("preset", "config", "code"),
    [
        ("custom", "", ExitCode.SETTINGS),
        ("custom", '{"passes": [oops', ExitCode.SETTINGS),
        ("custom", '{"passes": [{"id": 3}]}', ExitCode.SETTINGS),
        ("conservative", "", ExitCode.REFUSED),
    ],
)
async def test_smart_passes_that_cannot_be_used_end_with_the_exit_code_of_settings(
    tmp_path: Path, preset: Literal["custom", "conservative"], config: str, code: ExitCode
) -> None:
    model = ScriptedModel(["One.", "Two."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("go")
        await recorder.turn("on")
        task_id = engine.read.header().task_id
    options = ContextOptions(strategy="smart", smart_preset=preset, smart_config=config)
    chosen = replace(settings.load(workspace=tmp_path), context=options)
    out = io.StringIO()
    engine = Engine(tmp_path, chosen, models=lambda _: model)
    assert await condense_task(engine, task_id, out, CondenseRequest(), as_json=False) is code


@pytest.mark.parametrize("strategy", ["native", "smart", "lossless", "truncation"])
async def test_condensed_just_now_is_said_instead_of_not_enough_messages(tmp_path: Path, strategy: str) -> None:
    model = ScriptedModel(["Long. " * 400, "More."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("go")
        await recorder.turn("on")
        await engine.condense()
        await engine.idle()
        with pytest.raises(CondenseRefused, match="nothing new to summarise since the last condense"):
            await engine.preview_condense(CondenseRequest(strategy=strategy))


async def test_nan_in_a_tool_input_leaves_the_stats_of_the_whole_database_readable(tmp_path: Path) -> None:
    odd = call("read_file", "c1", path="a.txt", offset=float("nan"), limit=float("inf"))
    model = ScriptedModel(["Long. " * 400, odd, "More.", "Last."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("go")
        await recorder.turn("on")
        await engine.condense()
        await engine.idle()
        assert [found.body.kind for found in await engine.read.reductions()] == ["condense"]
    out = io.StringIO()
    engine = Engine(tmp_path, settings.load(workspace=tmp_path), models=lambda _: model)
    await show_stats(engine, out, as_json=False)
    assert "condense (native" in out.getvalue()
