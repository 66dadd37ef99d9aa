"""A condense that fails, on the real engine: nothing is lost, the user is never stuck, the figures are right."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from roo_tui import settings
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block
from roo_tui.domain.errors import ModelError
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Truncation
from roo_tui.domain.previews import CondenseRequest
from roo_tui.domain.requests import Request
from roo_tui.domain.views import FailureRow
from roo_tui.tui.widgets.rows import kind_of
from tests.support.engines import bodies, engine_on, path_of
from tests.support.scripted_model import SUMMARY, Answer, ScriptedModel, call, overflow
from tests.support.talks import condensed, effective, long, said, small, summarising, talking

COUNTER = TokenCounter()
BROKEN = ModelError("Internal server error", status=500, code="api_error", body='{"type": "error"}')


@pytest.mark.line("C22", "C23")
@pytest.mark.parametrize("times", [2, 12])
async def test_after_an_overflow_by_any_amount_the_turn_goes_on_without_a_step_by_hand(
    workspace: Path, times: int
) -> None:
    """The provider finds out that its window is this many times smaller than the history."""
    model = ScriptedModel(
        list(map(long, range(12))),
        info=small(60_000),
        summary=lambda r: SUMMARY if "nine of these" in str(r) else "Notes.",
    )
    async with engine_on(workspace, model) as (engine, recorder):
        for number in range(12):
            await recorder.turn(f"message {number}")
        entries = path_of(engine)
        used = engine.read.context_use().used
        window = max(used // times, 12_000)
        model.answers[:] = [overflow(used + 200, window), "Going on."]
        model.info = small(60_000)
        end = await recorder.turn("and now?")
        assert end.reason == "completed" and engine.read.context_use().window == window
        (marker,) = bodies(engine, Condense)
        assert marker.figures.trigger == "forced"
        assert path_of(engine)[: len(entries)] == entries
        await engine.undo()
        assert "message 0" in str(effective(engine))


@pytest.mark.line("C25")
async def test_a_summary_that_is_not_smaller_changes_nothing_and_its_row_shows_both_counts(workspace: Path) -> None:
    model = ScriptedModel(["short", "short"], summary=SUMMARY + long(1))
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        seen, used = effective(engine), engine.read.context_use().used
        await condensed(engine)
        assert effective(engine) == seen and engine.read.context_use().used == used
        (failure,) = bodies(engine, CondenseFailed)
        assert failure.tokens_before == used < failure.tokens_after
        row = next(row.body for row in await engine.read.rows() if isinstance(row.body, FailureRow))
        assert f"{used:,} → {failure.tokens_after:,} tokens" in row.message


@pytest.mark.line("C26")
@pytest.mark.parametrize("factor", [0.8, 1.0, 1.37])
async def test_the_figure_after_a_condense_is_what_the_provider_counts_next(workspace: Path, factor: float) -> None:
    """The provider's tokenizer makes `factor` as many tokens of a request as ours."""

    def counted(request: Request) -> int:
        return round(factor * COUNTER.count_request(request.system, request.tools, request.messages))

    def written(blocks: Sequence[Block]) -> int:
        return round(factor * COUNTER.count_blocks(blocks))

    model = ScriptedModel([long(1), long(2), "ok"], tokens=counted, written=written)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        await condensed(engine)
        (marker,) = bodies(engine, Condense)
        assert engine.read.context_use().used == marker.figures.tokens_after
        await recorder.turn("three")
    billed, words = counted(model.requests[-1]), model.requests[-1].messages[-1].blocks[-2:]
    expected = billed - factor * COUNTER.count_blocks(words)
    assert abs(marker.figures.tokens_after - expected) <= 0.05 * expected


@pytest.mark.line("C27")
@pytest.mark.parametrize(
    "answer", [BROKEN, "  \n", call("read_file", "c9", path="a.txt")], ids=["raises", "nothing", "tool call"]
)
async def test_after_a_failed_summary_the_history_is_as_it_was_and_is_sent_whole(
    workspace: Path, answer: Answer
) -> None:
    model = ScriptedModel([long(1), long(2), "ok"], summary=answer)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("message 0")
        await recorder.turn("message 1")
        seen, used = effective(engine), engine.read.context_use().used
        await condensed(engine)
        assert len(bodies(engine, CondenseFailed)) == 1
        assert effective(engine) == seen and engine.read.context_use().used == used
        await recorder.turn("message 2")
    sent = said(model.requests[-1])
    assert (
        all(f"message {number}" in sent for number in range(3)) and long(1).strip() in sent and long(2).strip() in sent
    )


@pytest.mark.line("C28")
async def test_after_a_failed_automatic_condense_every_way_out_by_hand_works(workspace: Path) -> None:
    settings.save({"context.threshold_percent": 50, "context.fallback": "error"})
    model = ScriptedModel([long(1), long(1), "three.", "four."], summary=BROKEN)
    model.tokens = lambda request: 60_000 if len(talking(model)) == 2 else 20_000
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("message 0 " + long(0))
        await recorder.turn("message 1")
        await recorder.turn("message 2")
        assert [failure.trigger for failure in bodies(engine, CondenseFailed)] == ["automatic"]
        seen = effective(engine)
        model.summary = SUMMARY
        await condensed(engine)
        assert len(bodies(engine, Condense)) == 1
        await engine.undo()
        assert effective(engine) == seen
        await engine.condense(CondenseRequest(strategy="lossless"))
        await engine.idle()
        assert len(bodies(engine, Mask)) == 1 and str(effective(engine)).count(long(1)) == 1
        await engine.undo()
        assert effective(engine) == seen
        await engine.truncate()
        assert len(bodies(engine, Truncation)) == 1 and long(1) not in str(effective(engine)[1:3])
        await engine.undo()
        assert effective(engine) == seen
        point = [point for point in await engine.read.rewind_points() if point.kind == "user"][1]
        await engine.rewind(point.entry_id)
        assert len(effective(engine)) == 2
        assert (await recorder.turn("another way")).reason == "completed"


@pytest.mark.line("C29")
async def test_after_a_server_error_its_row_offers_a_retry_and_another_model_and_the_turn_goes_on(
    workspace: Path,
) -> None:
    """Due by percentage alone: there is room for the request."""
    settings.save({"context.threshold_percent": 50})
    model = ScriptedModel([long(1), "two.", "three."], summary=BROKEN)
    model.tokens = lambda request: 60_000 if len(talking(model)) == 2 else 20_000
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("message 0 " + long(0))
        await recorder.turn("message 1")
        end = await recorder.turn("message 2")
        assert end.reason == "completed" and len(summarising(model)) == 1
        assert "message 0" in said(talking(model)[-1])
        row = next(row.body for row in await engine.read.rows() if isinstance(row.body, FailureRow))
        assert "HTTP status: 500" in row.body and '{"type": "error"}' in row.body
        title = kind_of(row).view(row, False, "").title
        assert title is not None and {"retry", "other model"} <= {hint.label for hint in title.hints}
        model.summary = SUMMARY
        await condensed(engine)
        assert len(bodies(engine, Condense)) == 1
