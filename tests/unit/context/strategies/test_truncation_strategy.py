"""Truncation by kind and age: results first, then duplicates, then whole units; first and last messages stay."""

from collections.abc import Iterable, Sequence

import pytest

from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies.lossless.lossless import lossless_items
from roo_tui.context.strategies.protocol import StrategyOptions
from roo_tui.context.strategies.truncation import TruncationStrategy
from roo_tui.context.window.thresholds import Thresholds
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Pinned, UserMessage
from roo_tui.domain.errors import CondenseRefused
from roo_tui.domain.markers import Mask, Truncation
from tests.support.histories import History
from tests.support.reductions import inputs

LONG = "some words of a long output, line after line\n" * 30


def steps(count: int, content: str = LONG, note: str = "") -> History:
    history = History()
    history.user("the task")
    for number in range(count):
        blocks = (Text(note), ToolUse(f"c{number}", "execute_command", {"command": f"make {number}"}))
        history.add(AssistantMessage(blocks if note else blocks[1:]))
        history.add(UserMessage((ToolResult(f"c{number}", f"{number} {content}"),), source="tools"))
    history.answer("done")
    return history


def until(tokens: int, counter: TokenCounter, **options: object) -> StrategyOptions:
    return StrategyOptions(counter, per_strategy={"truncation": Thresholds(stop_tokens=tokens)}, **options)  # type: ignore[arg-type]


def test_oldest_results_go_first_and_only_as_many_as_it_takes(counter: TokenCounter):
    history = steps(10)
    now = inputs(history.path, counter)
    plan = TruncationStrategy().prepare(now, until(now.context_tokens - 400, counter))
    (marker,) = plan.bodies
    assert isinstance(marker, Mask)
    assert [item.entry_id for item in marker.items] == [3, 5]
    assert now.context_tokens - 800 < plan.preview.tokens_after <= now.context_tokens - 400
    after = effective_history(appended(history.path, *plan.bodies))
    assert after[2].blocks == (ToolResult("c0", "[Hidden to save space. recall_history e3 returns it.]"),)


def test_by_hand_without_a_target_about_half_goes(counter: TokenCounter):
    history = steps(30)
    now = inputs(history.path, counter)
    plan = TruncationStrategy().prepare(now, StrategyOptions(counter))
    assert 0.4 * now.context_tokens < plan.preview.tokens_after <= 0.5 * now.context_tokens


def test_texts_that_stand_again_later_go_before_whole_units(counter: TokenCounter):
    history = steps(10, "short", note="the same long thought " * 30)
    now = inputs(history.path, counter)
    plan = TruncationStrategy().prepare(now, until(now.context_tokens - 150, counter))
    (marker,) = plan.bodies
    assert isinstance(marker, Mask)
    assert {item.placeholder for item in marker.items} <= {"[Same content as e20.0.]"}
    assert all(item.target == 20 for item in marker.items)


def test_whole_units_go_last_with_calls_and_results_together(counter: TokenCounter):
    history = steps(12)
    plan = TruncationStrategy().prepare(inputs(history.path, counter), until(1, counter))
    # What is hidden needs no mask any more.
    (truncation,) = plan.bodies
    assert isinstance(truncation, Truncation)
    visible = effective_history(appended(history.path, *plan.bodies))
    assert [message.entry_id for message in visible][:1] == [1]
    assert visible[1].source == "truncation"
    # The message before the last ten is a result; it stays, as its call would have to go with it.
    assert len(visible) - 2 in (10, 11)


def test_units_so_small_that_the_line_about_them_is_longer_stay(counter: TokenCounter):
    history = steps(6, "ok")
    with pytest.raises(CondenseRefused):
        TruncationStrategy().prepare(inputs(history.path, counter), until(1, counter))


def test_first_and_last_ten_messages_stay_as_they_are(counter: TokenCounter):
    history = steps(12)
    plan = TruncationStrategy().prepare(inputs(history.path, counter), until(1, counter))
    before, after = effective_history(history.path), effective_history(appended(history.path, *plan.bodies))
    assert after[0] == before[0]
    assert after[-10:] == before[-10:]


def test_the_summary_in_force_and_pinned_entries_stay(counter: TokenCounter):
    history = steps(4)
    history.condense("what was done so far")
    for number in range(10):
        history.call(f"d{number}")
        history.result(f"d{number}", content=LONG)
    history.add(Pinned(14))
    plan = TruncationStrategy().prepare(inputs(history.path, counter), until(1, counter))
    visible = effective_history(appended(history.path, *plan.bodies))
    assert visible[0].source == "summary"
    assert 14 in {message.entry_id for message in visible}


def test_ten_messages_and_the_first_are_too_few(counter: TokenCounter):
    history = steps(4)
    assert TruncationStrategy().validate(inputs(history.path, counter), StrategyOptions(counter))
    with pytest.raises(CondenseRefused):
        TruncationStrategy().prepare(inputs(history.path, counter), StrategyOptions(counter))


def test_a_selector_chooses_which_units_go(counter: TokenCounter):
    class Last:
        def order(self, inputs: ReductionInput, units: Sequence[tuple[Visible, ...]]) -> Iterable[int]:
            return [len(units) - 1]

    history = steps(12, "a few words " * 12)
    plan = TruncationStrategy().prepare(inputs(history.path, counter), until(1, counter, truncation_selector=Last()))
    (truncation,) = plan.bodies
    assert isinstance(truncation, Truncation)
    assert len(truncation.hides) == 2
    assert truncation.hides[0] > 10


def test_a_mask_that_points_to_what_goes_now_says_that_it_is_hidden(counter: TokenCounter):
    history = steps(0)
    for number in range(8):
        history.call(f"c{number}")
        history.result(f"c{number}", content=LONG if number < 2 else f"{number} {LONG}")
    history.answer("done")
    history.add(Mask(lossless_items(history.path)))
    now = inputs(history.path, counter)
    plan = TruncationStrategy().prepare(now, until(now.context_tokens - 200, counter))
    after = effective_history(appended(history.path, *plan.bodies))
    shown = [block.content for message in after for block in message.blocks if isinstance(block, ToolResult)]
    assert "[Same content as" not in str(shown[:2])
    assert plan.preview.tokens_after == now.context_tokens - counter.count_messages(
        effective_history(history.path)
    ) + counter.count_messages(after)
