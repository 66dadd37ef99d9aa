"""The chosen strategy on the real engine: by hand, by itself, by its own trigger, from the command line."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roo_tui import settings
from roo_tui.context.options import ContextOptions
from roo_tui.domain.events import CondenseEnded, Notice
from roo_tui.domain.markers import Condense, Mask, Truncation
from roo_tui.domain.previews import CondenseRequest
from roo_tui.engine import Engine
from roo_tui.headless.tasks import condense_task, preview_condense
from roo_tui.settings import HookOptions
from tests.support.engines import Recorder, allow_all, path_of
from tests.support.scripted_model import ScriptedModel, call

BIG = "".join(f"line {number} of a long file\n" for number in range(300))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "big.txt").write_text(BIG)
    return folder


def reads(count: int) -> list[Any]:
    """The same file read again and again, then an answer."""
    return [call("read_file", f"c{number}", path="big.txt") for number in range(count)] + ["Read."]


async def started(
    workspace: Path, model: ScriptedModel, hooks: HookOptions | None = None, **options: Any
) -> tuple[Engine, Recorder]:
    chosen = replace(
        settings.load(workspace=workspace), context=ContextOptions(**options), hooks=hooks or HookOptions()
    )
    engine = Engine(workspace, chosen, models=lambda _: model)
    await engine.start()
    recorder = Recorder(engine, allow_all)
    await engine.new_task()
    return engine, recorder


def markers(engine: Engine) -> list[Any]:
    bodies = [entry.body for entry in path_of(engine)]
    return [body for body in bodies if isinstance(body, Condense | Truncation | Mask)]


async def test_lossless_by_hand_masks_repeated_reads_without_asking_a_model(workspace: Path) -> None:
    model = ScriptedModel([*reads(3), "Later."])
    engine, recorder = await started(workspace, model)
    await recorder.turn("read it")
    asked = len(model.requests)
    await engine.condense(CondenseRequest(strategy="lossless"))
    await engine.idle()
    (mask,) = markers(engine)
    assert isinstance(mask, Mask) and mask.figures.tokens_after < mask.figures.tokens_before / 1.5
    assert engine.read.context_use().used == mask.figures.tokens_after
    assert len(model.requests) == asked
    await recorder.turn("go on")
    assert str(model.requests[-1].messages).count("line 150 of a long file") == 1
    await engine.close()


async def test_an_automatic_reduction_that_masks_can_do_asks_no_model(workspace: Path) -> None:
    model = ScriptedModel([*reads(4), "Later."])
    model.info = replace(model.info, window=24_000, max_output=2_000)
    model.tokens = lambda request: 20_500 if len(model.requests) == 5 else 9_000
    engine, recorder = await started(workspace, model)
    await recorder.turn("read it")
    await recorder.turn("and then?")
    assert [type(marker) for marker in markers(engine)] == [Mask]
    assert all(request.tools for request in model.requests)
    await engine.close()


async def test_a_strategys_own_trigger_is_one_besides_the_threshold(workspace: Path) -> None:
    model = ScriptedModel(["word " * 3_000, "ok", "Later."])
    engine, recorder = await started(
        workspace, model, strategy_thresholds='{"native": {"trigger_tokens": 5000, "min_gain_tokens": 100}}'
    )
    await recorder.turn("first")
    await recorder.turn("second")
    assert [type(marker) for marker in markers(engine)] == [Condense]
    await engine.close()


async def test_an_unknown_strategy_is_told_and_a_summary_made_instead(workspace: Path) -> None:
    model = ScriptedModel(["word " * 3_000, "ok", "Later."])
    model.info = replace(model.info, window=12_000, max_output=1_000)
    model.tokens = lambda request: 9_000 if len(model.requests) == 1 else 5_000
    engine, recorder = await started(workspace, model, strategy="nobody's")
    await recorder.turn("first")
    await recorder.turn("second")
    assert any("nobody's" in event.text for event in recorder.of(Notice))
    assert any(isinstance(marker, Condense) for marker in markers(engine))
    await engine.condense(CondenseRequest(strategy="nothing"))
    await engine.idle()
    ended = recorder.of(CondenseEnded)[-1]
    assert ended.outcome == "refused" and "nothing" in ended.message
    await engine.close()


async def test_a_hook_can_stop_a_condense_and_another_adds_instructions(workspace: Path) -> None:
    model = ScriptedModel(["word " * 500, "ok"])
    stop = HookOptions(before_condense=("""echo '{"block": true, "reason": "not now"}'""",))
    engine, recorder = await started(workspace, model, hooks=stop)
    await recorder.turn("first")
    await recorder.turn("second")
    await engine.condense()
    await engine.idle()
    assert markers(engine) == [] and "not now" in recorder.of(CondenseEnded)[-1].message
    await engine.close()


async def test_the_command_line_plans_and_runs_a_strategy(workspace: Path) -> None:
    model = ScriptedModel(reads(3))
    engine, recorder = await started(workspace, model)
    await recorder.turn("read it")
    task_id = engine.read.header().task_id
    await engine.close()

    def another() -> Engine:
        return Engine(workspace, settings.load(workspace=workspace), models=lambda _: model)

    out = io.StringIO()
    await preview_condense(another(), task_id, out, CondenseRequest(strategy="lossless"), as_json=True)
    planned = json.loads(out.getvalue())
    out = io.StringIO()
    await condense_task(another(), task_id, out, CondenseRequest(strategy="lossless"), as_json=True)
    done = json.loads(out.getvalue())
    assert planned["outcome"] == "previewed" and done["outcome"] == "condensed"
    assert planned["tokens_after"] == done["tokens_after"]
    assert done["strategy"] == "lossless" and done["hidden"] and done["cost_usd"] in (None, 0)


async def test_every_strategy_is_compared_on_a_stored_task_and_nothing_changes(workspace: Path) -> None:
    model = ScriptedModel([*reads(3), "Done. " * 200])
    engine, recorder = await started(workspace, model)
    await recorder.turn("read it, and never change [big.txt]")
    await recorder.turn("again")
    task_id, before = engine.read.header().task_id, path_of(engine)
    asked = len(model.requests)
    found = await engine.compare_strategies(task_id)
    assert [(row.strategy, row.preset) for row in found] == [
        ("lossless", ""),
        ("truncation", ""),
        ("smart", "conservative"),
        ("smart", "balanced"),
        ("smart", "aggressive"),
        ("native", ""),
    ]
    assert all(row.refusal or row.tokens_after < row.tokens_before for row in found)
    assert found[0].survived == found[0].artefacts > 0
    assert path_of(engine) == before and len(model.requests) == asked
    await engine.close()
