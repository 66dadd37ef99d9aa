"""The ladder and its guards: what is tried, in order, and what is left alone."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.history.effective import effective_history
from roo_tui.context.ladder import Guards, reduce, target_tokens
from roo_tui.context.options import ContextOptions
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text, ToolUse
from roo_tui.domain.entries import Body, Noted, UserMessage
from roo_tui.domain.errors import ModelError
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Reduction, Toggle, Truncation
from roo_tui.domain.requests import ToolSpec
from tests.support.histories import History
from tests.support.reductions import inputs, services_for, summariser
from tests.support.scripted_model import SUMMARY, Answer, ScriptedModel

COUNTER = TokenCounter()
OPTIONS = ContextOptions(fallback="truncation")
WORDS = "alpha beta gamma delta " * 50
BROKEN = ModelError("The service is down.", status=500)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def turns(count: int = 10, words: str = WORDS) -> History:
    history = History()
    for number in range(count):
        history.user(f"{number} {words}")
        history.answer(f"{number} {words}")
    history.user("go on")
    return history


def kinds(bodies: tuple[Body, ...]) -> list[str]:
    return [type(body).__name__ for body in bodies]


async def run(
    history: History,
    *answers: Answer,
    options: ContextOptions = OPTIONS,
    guards: Guards | None = None,
    model: ScriptedModel | None = None,
    **values: Any,
) -> tuple[Body, ...]:
    model = model or (summariser(*answers) if answers else summariser())
    fields = {"trigger": "automatic", "window": 10_000} | values
    return await reduce(inputs(history.path, COUNTER, **fields), services_for(model, COUNTER), options, guards)


async def test_nothing_happens_below_the_trigger() -> None:
    model = summariser()
    assert await run(turns(), model=model, window=100_000) == ()
    assert model.requests == []


async def test_condense_that_is_due_is_the_only_body() -> None:
    assert kinds(await run(turns(), percent=30)) == ["Condense"]


@pytest.mark.line("C29")
async def test_failure_when_due_by_percentage_alone_changes_nothing_else() -> None:
    bodies = await run(turns(), BROKEN, percent=30)
    assert kinds(bodies) == ["CondenseFailed"]
    assert isinstance(bodies[0], CondenseFailed)
    assert (bodies[0].trigger, bodies[0].status) == ("automatic", 500)


@pytest.mark.parametrize(
    "answer", [BROKEN, "", ToolUse("t", "read_file"), "far too long " * 20_000], ids=["error", "empty", "call", "long"]
)
@pytest.mark.line("C23")
async def test_failure_over_the_limit_falls_back_to_truncation(answer: Answer) -> None:
    history = turns(18)
    bodies = await run(history, answer)
    assert kinds(bodies) == ["CondenseFailed", "Truncation"]
    assert isinstance(bodies[0], CondenseFailed)
    assert isinstance(bodies[1], Truncation)
    assert bodies[1].reason == bodies[0].message
    history.add(bodies[0])
    history.add(bodies[1])
    now = COUNTER.count_request(("You are an agent.",), (), effective_history(history.path))
    assert now == bodies[1].figures.tokens_after


@pytest.mark.parametrize(
    ("fallback", "rungs"), [("outline", ["Condense"]), ("truncation", ["Truncation"]), ("error", [])]
)
async def test_setting_chooses_the_fallback(fallback: Any, rungs: list[str]) -> None:
    bodies = await run(turns(20), BROKEN, options=ContextOptions(fallback=fallback))
    assert kinds(bodies) == ["CondenseFailed", *rungs]


async def test_outline_is_honest_free_and_counted_exactly() -> None:
    history = turns(20)
    failure, outline = await run(history, BROKEN, options=ContextOptions(fallback="outline"))
    assert isinstance(outline, Condense)
    assert (outline.figures.shape, outline.figures.cost_usd) == ("outline", 0.0)
    assert "no model wrote it" in str(outline.summary[0])
    history.add(failure)
    history.add(outline)
    assert COUNTER.count_request(("You are an agent.",), (), effective_history(history.path)) == (
        outline.figures.tokens_after
    )


async def test_outline_that_is_not_enough_is_truncated() -> None:
    history = turns(20)
    for words in (WORDS * 40, WORDS * 20, "and now?"):
        history.user(words)
    bodies = await run(history, BROKEN, options=ContextOptions(fallback="outline"), trigger="forced")
    assert kinds(bodies) == ["CondenseFailed", "Condense", "Truncation"]


async def test_guard_blocks_the_outline_too_but_never_truncation() -> None:
    history, guards = turns(20), Guards(Clock())
    guards.wait_for_new_content(history.path)
    assert kinds(await run(history, guards=guards, options=ContextOptions())) == ["Noted", "Truncation"]


async def test_masks_are_kept_only_if_they_alone_reach_the_target() -> None:
    history, model = turns(20), summariser()
    enough, too_little = (Mask((), Reduction(tokens_before=9_000, tokens_after=after)) for after in (5_900, 6_100))
    assert target_tokens(inputs(history.path, COUNTER, window=10_000).limits) == 6_001
    options = ContextOptions()
    here = inputs(history.path, COUNTER, window=10_000, trigger="automatic")
    services = services_for(model, COUNTER)
    assert await reduce(here, services, options, prelude=lambda *_: enough) == (enough,)
    assert model.requests == []
    assert kinds(await reduce(here, services, options, prelude=lambda *_: too_little)) == ["Condense"]


def test_target_is_never_below_half_of_the_trigger() -> None:
    limits = inputs((), COUNTER, window=100_000, percent=5).limits
    assert target_tokens(limits) == 2_500
    limits = inputs((), COUNTER, window=100_000).limits
    assert target_tokens(limits) == limits.trigger_tokens - 10_000
    assert target_tokens(limits, min_gain=30_000) == limits.trigger_tokens - 30_000
    assert target_tokens(limits, "forced") == 72_001


@pytest.mark.line("C22")
async def test_history_too_long_for_one_request_is_condensed_in_parts() -> None:
    model = summariser("notes", "notes", "notes", "notes", "notes", SUMMARY)
    bodies = await run(turns(60), model=model)
    assert kinds(bodies) == ["Condense"]
    assert isinstance(bodies[0], Condense)
    assert bodies[0].figures.shape == "staged"
    assert len(model.requests) > 2
    for request in model.requests:
        assert COUNTER.count_request(request.system, (), request.messages) + request.max_output <= 10_000


@pytest.mark.line("B16")
async def test_three_automatic_condenses_with_hardly_anything_new_between_them_are_enough() -> None:
    history, guards = turns(10), Guards(Clock())
    figures = Reduction(trigger="automatic", tokens_before=4_000, tokens_after=3_500)
    for _ in range(3):
        history.add(Condense((), (), figures))
        history.answer("a little")
    here = replace(inputs(history.path, COUNTER, window=10_000, trigger="automatic"), context_tokens=4_000)
    assert "hardly anything new" in guards.objection(here, COUNTER)
    assert guards.objection(replace(here, context_tokens=4_600), COUNTER) == ""


async def test_what_a_truncation_took_away_after_a_condense_was_new_all_the_same() -> None:
    history, guards = turns(10), Guards(Clock())
    for _ in range(3):
        history.add(Condense((), (), Reduction(trigger="automatic", tokens_before=8_000, tokens_after=7_500)))
        history.add(Truncation((), Reduction(trigger="automatic", tokens_before=7_500, tokens_after=3_000)))
        history.answer("as much as was hidden")
    here = replace(inputs(history.path, COUNTER, window=10_000, trigger="automatic"), context_tokens=7_000)
    assert guards.objection(here, COUNTER) == ""


@pytest.mark.parametrize(("turn_count", "expected"), [(12, []), (20, ["Truncation"])])
@pytest.mark.line("B20")
async def test_switched_off_makes_no_call_and_truncates_only_over_the_limit(
    turn_count: int, expected: list[str]
) -> None:
    model = summariser()
    off = ContextOptions(auto_condense=False)
    for trigger in ("automatic", "forced"):
        bodies = await run(turns(turn_count), model=model, options=off, percent=20, trigger=trigger)
        assert kinds(bodies) == (expected if trigger == "automatic" else ["Truncation"])
    assert model.requests == []


async def test_truncation_goes_on_until_the_request_is_allowed() -> None:
    history = turns(60)
    here = inputs(history.path, COUNTER, window=10_000, trigger="automatic")
    bodies = await reduce(here, services_for(summariser(BROKEN), COUNTER), OPTIONS)
    assert isinstance(bodies[-1], Truncation)
    assert bodies[-1].figures.tokens_before == here.context_tokens
    assert bodies[-1].figures.tokens_after <= here.limits.allowed_tokens
    history.add(bodies[-1])
    now = COUNTER.count_request(("You are an agent.",), (), effective_history(history.path))
    # The line that says how many are hidden counts them: a digit more or less.
    assert abs(now - bodies[-1].figures.tokens_after) <= 4
    assert history.texts()[0].startswith("0 alpha")
    assert history.texts()[-1] == "go on"


async def test_forced_reduction_runs_whatever_the_counts_say() -> None:
    assert kinds(await run(turns(), window=1_000_000, trigger="forced")) == ["Condense"]
    assert kinds(await run(turns(), BROKEN, window=1_000_000, trigger="forced")) == ["CondenseFailed", "Truncation"]


async def test_forced_reduction_reaches_three_quarters_of_the_window() -> None:
    history = turns(18)
    bodies = await run(history, BROKEN, trigger="forced")
    assert isinstance(bodies[-1], Truncation)
    assert bodies[-1].figures.tokens_after <= 7_500


async def test_summary_that_is_not_enough_is_followed_by_a_truncation() -> None:
    history = turns(12)
    for number in range(5):
        history.user(f"{number} {WORDS * 8}")
    bodies = await run(history, trigger="forced", window=16_000)
    assert kinds(bodies) in (["Condense"], ["Condense", "Truncation"])
    for body in bodies:
        history.add(body)
    assert history.texts()[-1].startswith("4 alpha")


async def test_nothing_is_done_where_nothing_can_be_hidden() -> None:
    history = History()
    history.user(WORDS * 100)
    bodies = await run(history, trigger="forced")
    assert kinds(bodies) == ["CondenseFailed"]


@pytest.mark.line("B12")
async def test_guard_waits_for_new_content_but_never_blocks_truncation() -> None:
    history, guards = turns(20), Guards(Clock())
    assert kinds(await run(history, BROKEN, guards=guards)) == ["CondenseFailed", "Truncation"]
    model = summariser()
    bodies = await run(history, model=model, guards=guards)
    assert kinds(bodies) == ["Noted", "Truncation"]
    assert isinstance(bodies[0], Noted)
    assert "Nothing new" in bodies[0].detail
    assert kinds(await run(history, model=model, guards=guards)) == ["Truncation"]
    assert model.requests == []
    history.answer("new")
    assert kinds(await run(history, model=model, guards=guards)) == ["Condense"]


@pytest.mark.parametrize("body", [CondenseFailed("automatic", "no"), Toggle(5, False)])
@pytest.mark.line("B12")
async def test_what_the_log_tells_holds_for_new_guards(body: Body) -> None:
    history = turns(10)
    history.add(body)
    model = summariser()
    assert kinds(await run(history, model=model, percent=30)) == ["Noted"]
    assert model.requests == []
    history.answer("new")
    assert kinds(await run(history, model=model, percent=30)) == ["Condense"]


async def test_undo_lets_automatic_condensing_wait() -> None:
    history, guards = turns(10), Guards(Clock())
    guards.wait_for_new_content(history.path)
    assert kinds(await run(history, guards=guards, percent=30)) == ["Noted"]


async def test_fourth_attempt_within_a_minute_is_held_back() -> None:
    history, clock = turns(10), Clock()
    guards = Guards(clock)
    for _ in range(3):
        assert kinds(await run(history, BROKEN, guards=guards, percent=30)) == ["CondenseFailed"]
        history.answer("more")
        clock.now += 10
    bodies = await run(history, BROKEN, guards=guards, percent=30)
    assert isinstance(bodies[0], Noted)
    assert "3 automatic condenses in 60 seconds" in bodies[0].detail
    clock.now += 31
    assert kinds(await run(history, BROKEN, guards=guards, percent=30)) == ["CondenseFailed"]


async def test_real_success_forgets_the_attempts() -> None:
    history, guards = turns(10), Guards(Clock())
    for answer in (BROKEN, BROKEN):
        await run(history, answer, guards=guards, percent=30)
        history.answer("more")
    assert kinds(await run(history, guards=guards, percent=30)) == ["Condense"]
    for _ in range(3):
        history.answer("more")
        assert kinds(await run(history, BROKEN, guards=guards, percent=30)) == ["CondenseFailed"]


@pytest.mark.line("B15")
async def test_prompt_and_tools_over_the_limit_are_named_and_no_call_is_made() -> None:
    tool = ToolSpec("read_file", "Reads. " * 3_000, {"type": "object"})
    model, guards = summariser(), Guards(Clock())
    bodies = await run(turns(1), model=model, guards=guards, tools=(tool,), percent=30)
    assert kinds(bodies) == ["Noted"]
    assert isinstance(bodies[0], Noted)
    assert "System prompt and tools alone take 6,0" in bodies[0].detail
    assert "the limit is 3,000 of a context window of 10,000" in bodies[0].detail
    assert await run(turns(1), model=model, guards=guards, tools=(tool,), percent=30) == ()
    assert model.requests == []


async def test_same_refusal_is_told_once() -> None:
    history, guards = History(), Guards(Clock())
    history.user(WORDS * 20)
    assert kinds(await run(history, guards=guards, percent=30)) == ["CondenseFailed"]
    history.user("more")
    assert kinds(await run(history, guards=guards, percent=30)) == []


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["user", "answer", "loop"]), min_size=1, max_size=14),
    st.sampled_from(["automatic", "forced"]),
    st.sampled_from([BROKEN, "", None]),
    st.integers(2_000, 20_000),
    st.integers(5, 100),
)
async def test_any_reduction_lowers_the_count_and_keeps_the_log(
    steps: list[str], trigger: str, answer: Any, window: int, percent: int
) -> None:
    history = History()
    history.user(WORDS)
    for number, step in enumerate(steps):
        if step == "user":
            history.user(f"{number} {WORDS}")
        elif step == "answer":
            history.answer(f"{number} {WORDS * 2}")
        else:
            history.call(f"t{number}")
            history.result(f"t{number}", content=WORDS * 3)
    before = history.path
    model = summariser() if answer is None else summariser(answer)
    bodies = await run(history, model=model, trigger=trigger, window=window, percent=percent)
    assert history.path is before
    count = COUNTER.count_messages(effective_history(before))
    for body in bodies:
        history.add(body)
        now = COUNTER.count_messages(effective_history(history.path))
        if isinstance(body, Condense | Truncation):
            assert now < count
            assert body.figures.tokens_after < body.figures.tokens_before
        else:
            assert now == count
        count = now
    assert before == history.path[: len(before)]


def test_situation_counts_what_a_change_leaves() -> None:
    history = History()
    history.add(UserMessage((Text("a"),)))
    here = replace(inputs(history.path, COUNTER), context_tokens=1_000, ratio=1.5)
    assert here.after(raw_hidden=200, raw_shown=50) == 775
