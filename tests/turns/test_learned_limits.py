"""Limits that a provider states in an error hold for that model at that address, until the user says otherwise."""

import asyncio
from pathlib import Path

import pytest

from roo_tui import paths, settings
from roo_tui.cli import main
from roo_tui.engine import Engine
from roo_tui.store import open_store
from tests.support.scripted_model import ScriptedModel, overflow


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


async def engine_that_learnt(workspace: Path) -> Engine:
    """Return an engine whose provider has stated a window of 50,000 tokens."""
    model = ScriptedModel(["word " * 2000, overflow(90_000, 50_000), "fits now"])
    model.tokens = lambda request: 40_000
    engine = Engine(workspace, settings.load(workspace=workspace), models=lambda _: model)
    await engine.start()
    await engine.new_task()
    for message in ("first", "second"):
        await engine.submit(message)
        await engine.idle()
    assert engine.read.context_use().window == 50_000
    return engine


async def test_a_window_the_user_sets_wins_over_what_the_provider_stated_before(workspace: Path) -> None:
    engine = await engine_that_learnt(workspace)
    await engine.change_settings({"profiles.default.window": 120_000})
    assert engine.read.context_use().window == 120_000
    await engine.close()


async def test_what_one_address_stated_is_not_believed_of_another(workspace: Path) -> None:
    engine = await engine_that_learnt(workspace)
    await engine.change_settings({"profiles.default.base_url": "http://127.0.0.1:9"})
    assert engine.read.context_use().window == 100_000
    await engine.change_settings({"profiles.default.base_url": ""})
    assert engine.read.context_use().window == 50_000
    await engine.close()


def test_doctor_shows_what_was_learnt_and_forgets_it(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def learn() -> None:
        await (await engine_that_learnt(workspace)).close()

    asyncio.run(learn())
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
    assert main(["doctor"]) == 0
    assert "scripted/scripted: context window 50,000 tokens" in capsys.readouterr().out
    assert main(["doctor", "--forget-limits"]) == 0
    assert "scripted/scripted" not in capsys.readouterr().out

    async def kept() -> object:
        store = open_store(paths.database_file())
        try:
            return await store.get_value("stated limits")
        finally:
            await store.close()

    assert "50000" not in str(asyncio.run(kept()))
