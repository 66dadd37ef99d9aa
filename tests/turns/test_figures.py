"""`roo-tui context` and `roo-tui stats` on what a real engine stored."""

import io
import json
from pathlib import Path

from roo_tui import settings
from roo_tui.domain.events import CondenseEnded
from roo_tui.domain.markers import Condense
from roo_tui.engine import Engine
from roo_tui.headless.stats import show_context, show_stats
from tests.support.engines import bodies, engine_on, session_of
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


async def test_what_is_left_is_a_share_of_what_there_was(tmp_path: Path) -> None:
    """The provider counts half as many tokens from the third request on, as when prose takes the place of code."""
    model = ScriptedModel([*("A different answer. " * 900 for _ in range(4)), "Short."])
    model.tokens = lambda request: len(str(request)) // (8 if len(model.requests) > 2 else 4)
    async with engine_on(tmp_path, model) as (engine, recorder):
        for words in ("one", "two", "three", "four", "five"):
            await recorder.turn(words)
        overhead = await session_of(engine).gauge.overhead()
        await engine.condense()
        await engine.idle()
        ended = recorder.of(CondenseEnded)[-1]
        assert ended.outcome == "condensed"
        (marker,) = bodies(engine, Condense)
        figures = marker.figures
        assert figures.tokens_before > figures.tokens_after > overhead // 2
        assert engine.read.context_use().used == figures.tokens_after


async def test_a_plan_says_how_many_messages_a_summary_would_hide(tmp_path: Path) -> None:
    model = ScriptedModel(["A long answer. " * 900, "Short."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        plan = await engine.preview_condense()
        assert (plan.strategy, plan.model_calls, plan.hidden) == ("native", 1, 4)
        assert 0 < plan.tokens_after < plan.tokens_before
