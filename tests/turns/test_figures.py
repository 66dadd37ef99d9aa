"""`roo-tui context` and `roo-tui stats` on what a real engine stored."""

import io
import json
from pathlib import Path

from roo_tui import settings
from roo_tui.engine import Engine
from roo_tui.headless.figures import show_context, show_stats
from tests.support.engines import engine_on
from tests.support.scripted_model import ScriptedModel


async def condensed_task(workspace: Path, model: ScriptedModel) -> str:
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("tell me " * 300)
        await recorder.turn("more")
        await engine.condense()
        await engine.idle()
        await engine.undo()
        return engine.read.header().task_id


async def test_context_and_stats_speak_of_the_stored_task(tmp_path: Path) -> None:
    model = ScriptedModel(["A long answer. " * 200, "Short."])
    task_id = await condensed_task(tmp_path, model)

    def engine() -> Engine:
        return Engine(tmp_path, settings.load(workspace=tmp_path), models=lambda _: model)

    out = io.StringIO()
    await show_context(engine(), task_id, out, as_json=True)
    context = json.loads(out.getvalue())
    assert {share["kind"] for share in context["by_kind"]} >= {"system prompt", "tools", "answers", "your messages"}

    out = io.StringIO()
    await show_stats(engine(), out, as_json=True)
    (reduction,) = json.loads(out.getvalue())
    assert reduction["undone"] and reduction["body"]["figures"]["tokens_after"] > 0

    out = io.StringIO()
    await show_stats(engine(), out, as_json=False)
    assert "condense (native, fresh)" in out.getvalue()
