"""A model that the built-in table does not list: what the settings say of it is what the engine counts with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roo_tui import paths, settings
from roo_tui.engine import Engine
from tests.support.engines import Recorder, allow_all
from tests.support.messages_server import MessagesServer, answer, text

PROFILE = '[profiles.default]\nmodel = "house/model-4.5"\n'
FACTS = """
[models."house/model-4.5"]
window = 50_000
input_usd = 2.0
output_usd = 8.0
cache_read_usd = 0.5
"""
USAGE = {"input_tokens": 10_000, "cache_read_input_tokens": 4_000, "output_tokens": 500}


@asynccontextmanager
async def session(folder: Path, text_of_settings: str) -> AsyncIterator[tuple[Engine, Recorder]]:
    paths.settings_file().parent.mkdir(parents=True, exist_ok=True)
    paths.settings_file().write_text(text_of_settings)
    async with MessagesServer([answer(text("Done."), usage=USAGE), answer(text("Again."), usage=USAGE)]) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BASE_URL", server.url)
            patch.setenv("ANTHROPIC_API_KEY", "sk-test")
            engine = Engine(folder, settings.load(workspace=folder))
            await engine.start()
            try:
                recorder = Recorder(engine, allow_all)
                await engine.new_task()
                yield engine, recorder
            finally:
                await engine.close()


async def test_a_price_of_the_settings_gives_an_unlisted_model_its_cost(tmp_path: Path) -> None:
    async with session(tmp_path, PROFILE + FACTS) as (engine, recorder):
        await recorder.turn("hello")
        header = engine.read.header()
        assert header.price_known
        assert header.cost_usd == pytest.approx((10_000 * 2.0 + 4_000 * 0.5 + 500 * 8.0) / 1_000_000)
        assert engine.read.context_use().window == 50_000


async def test_without_a_price_the_cost_of_an_unlisted_model_is_not_known(tmp_path: Path) -> None:
    async with session(tmp_path, PROFILE) as (engine, recorder):
        await recorder.turn("hello")
        header = engine.read.header()
        assert (header.price_known, header.cost_usd) == (False, 0.0)


async def test_a_price_that_is_set_later_holds_from_the_next_request_on(tmp_path: Path) -> None:
    async with session(tmp_path, PROFILE) as (engine, recorder):
        await recorder.turn("hello")
        await engine.change_settings(
            {"models.house/model-4.5.input_usd": 2.0, "models.house/model-4.5.output_usd": 8.0}
        )
        assert engine.read.header().price_known
        await recorder.turn("again")
        assert engine.read.header().cost_usd == pytest.approx((14_000 * 2.0 + 500 * 8.0) / 1_000_000)
        assert settings.load().models["house/model-4.5"].output_usd == 8.0
