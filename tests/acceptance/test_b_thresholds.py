"""When a condense fires, and what keeps it from running in circles, on the real engine."""

from pathlib import Path

import pytest

from roo_tui import settings
from roo_tui.domain.entries import Noted
from roo_tui.domain.errors import ModelError
from roo_tui.domain.events import CondenseStarted, RetryWaiting, TurnEnded
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.domain.views import FailureRow, ReductionRow
from roo_tui.engine import Engine
from roo_tui.llm import retry
from roo_tui.tui.widgets.rows import kind_of
from tests.support.engines import bodies, engine_on
from tests.support.scripted_model import SUMMARY, ScriptedModel, call, overflow
from tests.support.talks import condensed, long, said, small, summarising, talking


def reductions(engine: Engine) -> list[object]:
    return [type(body) for body in bodies(engine, Condense | CondenseFailed | Truncation)]  # type: ignore[arg-type]


@pytest.mark.line("B12")
@pytest.mark.parametrize("summary", [SUMMARY, ""], ids=["too little", "failed"])
async def test_a_condense_that_does_not_help_is_not_repeated_before_a_new_message(
    workspace: Path, summary: str
) -> None:
    """The provider counts 70,000 tokens that no condense can lower; the threshold is at 50,000."""
    settings.save({"context.threshold_percent": 50})
    broken = ModelError("Bad request", status=400, code="invalid_request_error")
    model = ScriptedModel([long(1), long(2), broken, broken, "at last", "ok"], summary=summary)
    model.tokens = lambda request: 70_000 if len(talking(model)) > 1 else 20_000
    async with engine_on(workspace, model) as (engine, recorder):
        for words, asked in (("one", 0), ("two", 0), ("three", 1), ("", 1), ("", 1), ("four", 2)):
            await recorder.turn(words)
            assert len(summarising(model)) == asked, words
        assert engine.read.context_use().used > 50_000
        assert len(talking(model)) == 6


@pytest.mark.line("B13")
@pytest.mark.parametrize(
    "error",
    [
        overflow(19_474, 200_000),
        overflow(19_474, 190_000),
        ModelError("The context window is exceeded", status=400, code="invalid_request_error"),
        ModelError("messages.3: a tool result has no call", status=400, code="invalid_request_error"),
    ],
    ids=["fits as stated", "stated too small by far", "unbelievable", "something else"],
)
async def test_an_error_that_cannot_be_an_overflow_is_shown_as_it_is(workspace: Path, error: ModelError) -> None:
    model = ScriptedModel([long(1), error])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        end = await recorder.turn("two")
        assert (end.reason, end.message) == ("failed", str(error))
        assert reductions(engine) == [] and len(model.requests) == 2
        shown = [row.body for row in await engine.read.rows() if isinstance(row.body, FailureRow)]
        assert [str(error) in row.message for row in shown] == [True]


@pytest.mark.line("B14")
async def test_a_result_larger_than_the_free_space_is_kept_whole_shown_cut_and_condenses_nothing(
    workspace: Path,
) -> None:
    whole = "".join(f"line {number} of many\n" for number in range(1_900))
    (workspace / "big.txt").write_text(whole)
    model = ScriptedModel([long(1), call("read_file", "c1", path="big.txt"), "Seen.", "Fine."], info=small(14_000))
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        assert (await recorder.turn("read it")).reason == "completed"
        assert reductions(engine) == []
        assert "1900 | line 1899 of many" in await engine.read.output("c1")
        assert (await recorder.turn("and now?")).reason == "completed"
        assert reductions(engine) == []
    sent = said(talking(model)[2])
    assert "line 3 of many" in sent and "line 900 of many" not in sent and "left out here" in sent


@pytest.mark.line("B15")
@pytest.mark.parametrize("auto", [True, False])
async def test_rules_that_alone_fill_the_window_are_one_error_and_no_call(workspace: Path, auto: bool) -> None:
    settings.save({"context.auto_condense": auto})
    (workspace / "AGENTS.md").write_text("Never do this, always do that. " * 1_500)
    model = ScriptedModel(info=small(12_000))
    async with engine_on(workspace, model) as (engine, recorder):
        end = await recorder.turn("hello")
        assert end.reason == "context_full"
        (row,) = [row.body for row in await engine.read.rows() if isinstance(row.body, FailureRow)]
        assert "System prompt and tools alone take" in row.message and row.level == "error"
        assert reductions(engine) == [] and not recorder.of(CondenseStarted)
    assert model.requests == []


@pytest.mark.line("B15")
async def test_rules_that_alone_reach_the_threshold_are_named_once_and_nothing_is_condensed(workspace: Path) -> None:
    settings.save({"context.threshold_percent": 5})
    model = ScriptedModel([long(1), long(2), long(3)], info=small(40_000))
    async with engine_on(workspace, model) as (engine, recorder):
        for words in ("one", "two", "three"):
            assert (await recorder.turn(words)).reason == "completed"
        (row,) = [row.body for row in await engine.read.rows() if isinstance(row.body, FailureRow)]
        assert "System prompt and tools alone take" in row.message
    assert summarising(model) == []


@pytest.mark.line("B16")
async def test_after_three_condenses_with_hardly_anything_between_them_it_stops_and_asks(workspace: Path) -> None:
    settings.save({"context.threshold_percent": 50})
    model = ScriptedModel([long(9), *["short"] * 8])
    model.tokens = lambda request: 70_000
    async with engine_on(workspace, model) as (engine, recorder):
        for number in range(8):
            await recorder.turn(f"{number} {long(number) if number < 2 else 'a little'}")
        assert len(summarising(model)) == 3
        (asked,) = [note for note in bodies(engine, Noted) if "hardly anything new" in note.detail]
        assert "Condense with instructions" in asked.detail
        await condensed(engine)
        assert len(summarising(model)) == 4


@pytest.mark.line("B17")
@pytest.mark.parametrize(("reported", "marked"), [(60_000, True), (5_000, False)])
async def test_a_condense_that_leaves_more_than_half_of_the_threshold_is_marked_in_its_row(
    workspace: Path, reported: int, marked: bool
) -> None:
    model = ScriptedModel([long(1), long(2)])
    model.tokens = lambda request: reported
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        await condensed(engine)
        (row,) = [row.body for row in await engine.read.rows() if isinstance(row.body, ReductionRow)]
        assert (row.tokens_after * 2 > engine.read.context_use().trigger_tokens) == marked
        assert ("low yield" in row.how) == marked


@pytest.mark.line("B19")
@pytest.mark.parametrize(
    ("general", "own", "trigger"),
    [
        (5, -1, 50_000),
        (37, -1, 370_000),
        (80, -1, 800_000),
        (100, -1, 891_809),
        (100, 30, 300_000),
        (20, 90, 891_809),
        (50, 5, 50_000),
    ],
)
async def test_the_first_condense_fires_at_the_first_request_that_reaches_the_figure_of_the_bar(
    workspace: Path, general: int, own: int, trigger: int
) -> None:
    settings.save({"context.threshold_percent": general, "profiles.default.threshold_percent": own})
    model = ScriptedModel([long(1), "short", "short", "short"], info=small(1_000_000, 8_192))
    reported = [20_000, trigger - 900, trigger - 50, 1_000]
    model.tokens = lambda request: reported[min(len(talking(model)), 4) - 1]
    async with engine_on(workspace, model) as (engine, recorder):
        assert engine.read.context_use().trigger_tokens == trigger
        await recorder.turn("one")
        await recorder.turn("two " + long(2))
        await recorder.turn("three")
        assert trigger * 0.99 < engine.read.context_use().used < trigger
        assert summarising(model) == []
        await recorder.turn("four, which is a little more than was left: " + "words " * 60)
        (marker,) = bodies(engine, Condense)
        assert trigger <= marker.figures.tokens_before <= trigger * 1.01
        assert len(summarising(model)) == 1


@pytest.mark.line("B20")
@pytest.mark.parametrize("said_by", ["our own count", "the provider"])
async def test_switched_off_no_model_is_asked_and_a_truncation_that_offers_a_condense_makes_room(
    workspace: Path, said_by: str
) -> None:
    settings.save({"context.auto_condense": False})
    model = ScriptedModel([*map(long, range(5)), "Done."], info=small(12_000))
    if said_by == "the provider":
        model.answers.insert(3, overflow(13_000, 12_000))
    async with engine_on(workspace, model) as (engine, recorder):
        for number in range(6):
            assert (await recorder.turn(f"message {number}")).reason == "completed"
        assert set(reductions(engine)) == {Truncation} and not recorder.of(CondenseStarted)
        row = next(row.body for row in await engine.read.rows() if isinstance(row.body, ReductionRow))
        offered = kind_of(row).view(row, False, "").title
        assert offered is not None and "condense instead" in [hint.label for hint in offered.hints]
        await engine.undo()
        assert "message 1" in str(await engine.read.export("effective", "json"))
    assert summarising(model) == []


@pytest.mark.line("B21")
@pytest.mark.parametrize("of", ["request", "condense"])
async def test_a_retry_that_waits_is_cancelled_at_once(
    workspace: Path, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait would take an hour: that the engine is idle again means that the cancel did not wait for it."""
    _, *others = retry.with_retries.__defaults__ or ()
    monkeypatch.setattr(retry.with_retries, "__defaults__", ((3_600.0,), *others))
    monkeypatch.setattr(retry, "LONGEST_WAIT_S", 3_600.0)
    busy = ModelError("Overloaded", status=529, retryable=True)
    model = ScriptedModel([long(1), long(2), busy], summary=busy)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        asked = len(model.requests)
        await (engine.submit("three") if of == "request" else engine.condense())
        waiting = await recorder.until(lambda event: isinstance(event, RetryWaiting))
        assert isinstance(waiting, RetryWaiting) and waiting.what == of
        engine.cancel()
        await engine.idle()
        assert len(model.requests) == asked + 1
        ended = recorder.of(TurnEnded)[-1]
        assert isinstance(ended, TurnEnded) and ended.reason == ("cancelled" if of == "request" else "completed")


@pytest.mark.line("B21")
@pytest.mark.parametrize("of", ["request", "condense"])
async def test_nothing_is_tried_again_more_than_three_times(
    workspace: Path, of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, *rest = retry.with_retries.__defaults__ or ()
    monkeypatch.setattr(retry.with_retries, "__defaults__", ((0.0,) * len(retry.WAITS_S), *rest))
    busy = ModelError("Overloaded", status=529, retryable=True)
    model = ScriptedModel([long(1), long(2), *[busy] * 20], summary=busy)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        await recorder.turn("two")
        asked = len(model.requests)
        if of == "request":
            assert (await recorder.turn("three")).reason == "failed"
        else:
            await condensed(engine)
        assert len(model.requests) == asked + 4


@pytest.mark.line("B21")
async def test_a_request_the_provider_keeps_finding_too_long_is_reduced_at_most_three_times(workspace: Path) -> None:
    """Each time the provider names a smaller window, which a truncation would reach."""
    settings.save({"context.auto_condense": False})
    refusals = [overflow(window + 1, window) for window in (40_000, 30_000, 16_000, 10_000, 8_000, 7_000)]
    model = ScriptedModel([*map(long, range(20)), *refusals])
    async with engine_on(workspace, model) as (engine, recorder):
        for number in range(20):
            await recorder.turn(f"message {number}")
        before = len(model.requests)
        end = await recorder.turn("and now?")
        assert (end.reason, len(model.requests) - before) == ("failed", 4)
        assert reductions(engine) == [Truncation] * 3
