"""The cached shape, what it may be used for, what it costs, and what happens when the model calls a tool."""

from dataclasses import replace
from typing import Any

import pytest

from roo_tui.context.condense.preview import preview_of_bodies, requests_per_turn, summary_tokens
from roo_tui.context.condense.request import begins_with, cached, prefix_hash
from roo_tui.context.condense.steps import condense, prepare
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.pairing import repair
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, Summariser
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Image, Message, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, UserMessage
from roo_tui.domain.errors import CondenseError, CondenseRefused, HistoryTooLong
from roo_tui.domain.markers import Condense, Mask, MaskItem, Reduction
from roo_tui.domain.requests import ModelInfo, Request, ToolSpec
from roo_tui.domain.usage import Usage
from tests.support.api_rules import violations
from tests.support.histories import History
from tests.support.reductions import MODEL, inputs, services_for, summariser
from tests.support.scripted_model import SUMMARY, hang

COUNTER = TokenCounter()
LONG = "Something that takes a good many words to say, so that there is something to be freed. " * 20
TOOLS = (ToolSpec("read_file", "Reads.", {"type": "object"}),)
PRICED = replace(MODEL, input_usd=3.0, output_usd=15.0, cache_read_usd=0.3, cache_write_usd=3.75)


def conversation() -> History:
    history = History()
    history.user(f"first {LONG}")
    for number in range(4):
        history.call(f"t{number}", text="looking")
        history.result(f"t{number}", content=LONG)
    return history


def sent(history: History, model: ModelInfo = PRICED) -> Request:
    """The request of the conversation as it stands."""
    messages = repair(effective_history(history.path), provider=model.provider, model=model.id)
    return Request(messages, ("You are an agent.",), TOOLS)


def warm(history: History, request: Request, **values: Any) -> ReductionInput:
    fields: dict[str, Any] = {"tools": TOOLS, "model": PRICED, "last_prefix": prefix_hash(request), "idle_s": 10.0}
    return inputs(history.path, COUNTER, **(fields | values))


def after_one_answer() -> tuple[History, Request]:
    history = conversation()
    request = sent(history)
    history.answer("All is done.")
    return history, request


def test_warm_conversation_is_asked_byte_for_byte_with_the_guard_before_the_instruction() -> None:
    history, request = after_one_answer()
    plan = prepare(warm(history, request, thinking="adaptive", temperature=0.5), COUNTER, ContextOptions())
    # Another thinking setting than the last request had is another prefix.
    assert plan.shape == "fresh"
    plan = prepare(warm(history, request), COUNTER, ContextOptions(condense_prompt="Be short."))
    ask = plan.ask
    assert plan.shape == "cached"
    assert ask is not None
    assert (ask.system, ask.tools, ask.thinking, ask.cache) == (request.system, request.tools, request.thinking, True)
    assert ask.messages[: len(request.messages)] == request.messages
    words = ask.messages[-1].blocks[-1]
    assert isinstance(words, Text)
    assert words.text.startswith("This is a system operation")
    assert words.text.endswith("Be short.")
    assert violations(ask.messages) == []


def test_instruction_extends_the_last_user_message_inside_a_tool_loop() -> None:
    history = conversation()
    request = sent(history)
    history.call("t9")
    history.result("t9", content=LONG)
    ask = prepare(warm(history, request), COUNTER, ContextOptions()).ask
    assert ask is not None
    assert [type(block) for block in ask.messages[-1].blocks] == [ToolResult, Text]
    assert violations(ask.messages) == []


def test_prefix_is_found_only_where_every_block_is_the_same() -> None:
    history, request = after_one_answer()
    longer = sent(history)
    count = sum(len(message.blocks) for message in request.messages)
    assert begins_with(longer, prefix_hash(request)) == count
    assert begins_with(request, prefix_hash(request)) == count
    assert begins_with(request, prefix_hash(longer)) is None
    assert begins_with(longer, "") is None
    for other in (
        replace(request, system=("Another.",)),
        replace(request, tools=()),
        replace(request, thinking="adaptive"),
        replace(request, messages=(Message("user", (Text("x"),)), *request.messages[1:])),
    ):
        assert begins_with(longer, prefix_hash(other)) is None
    assert begins_with(longer, prefix_hash(replace(request, max_output=1, temperature=1.0))) == count


@pytest.mark.parametrize(
    "change",
    [
        {"idle_s": 400.0},
        {"idle_s": None},
        {"last_prefix": ""},
        {"last_prefix": "0" * 64},
        {"summariser": Summariser(MODEL, 100_000, 1.0)},
    ],
)
def test_fresh_is_chosen_where_the_cache_is_cold_or_another_model_writes(change: dict[str, Any]) -> None:
    history, request = after_one_answer()
    assert prepare(warm(history, request, **change), COUNTER, ContextOptions()).shape == "fresh"


def test_cached_shape_must_fit_with_its_answer() -> None:
    history, request = after_one_answer()
    raw = COUNTER.count_request(request.system, TOOLS, effective_history(history.path))
    plan = prepare(warm(history, request, window=raw + 900), COUNTER, ContextOptions(condense_prompt="Be short."))
    assert plan.shape == "staged" or (plan.ask is not None and plan.ask.max_output < 900)


async def test_a_tool_call_is_refused_once_then_the_answer_counts() -> None:
    history, request = after_one_answer()
    model = summariser(ToolUse("t99", "read_file", {"path": "x"}), SUMMARY)
    marker = await condense(warm(history, request), services_for(model, COUNTER), ContextOptions())
    assert marker.figures.shape == "cached"
    assert len(model.requests) == 2
    refusal = model.requests[1].messages[-1].blocks[0]
    assert isinstance(refusal, ToolResult)
    assert refusal.is_error
    assert violations(model.requests[1].messages) == []


async def test_a_second_tool_call_leads_to_the_fresh_shape() -> None:
    history, request = after_one_answer()
    calls = [ToolUse(f"t9{number}", "read_file", {}) for number in range(2)]
    model = summariser(*calls, SUMMARY)
    marker = await condense(warm(history, request), services_for(model, COUNTER), ContextOptions())
    assert marker.figures.shape == "fresh"
    assert [bool(request.tools) for request in model.requests] == [True, True, False]
    assert any("called tools twice" in remark for remark in marker.figures.remarks)
    assert marker.figures.usage.input_tokens == 3_000
    with pytest.raises(CondenseError, match="called a tool"):
        await condense(warm(history, request), services_for(summariser(*calls, calls[0]), COUNTER), ContextOptions())


def test_forecasts_of_both_shapes_stand_in_the_order_of_their_cost() -> None:
    history, request = after_one_answer()
    plan = prepare(warm(history, request, summary_tokens=1_000), COUNTER, ContextOptions())
    first, (second,) = plan.preview, plan.preview.alternatives
    assert (first.shape, second.shape) == ("cached", "fresh")
    assert first.cost_usd is not None
    assert second.cost_usd is not None
    assert first.cost_usd < second.cost_usd
    assert first.usage.cache_read_tokens == COUNTER.count_request(request.system, TOOLS, request.messages)
    assert first.usage.output_tokens == 1_000
    assert first.tokens_before > first.tokens_after
    assert first.saving_per_turn_usd is not None
    assert first.turns_to_pay_back is not None
    assert first.turns_to_pay_back > 0


def test_without_a_price_the_warm_cache_is_still_preferred() -> None:
    history, request = after_one_answer()
    plan = prepare(
        warm(history, request, model=replace(PRICED, input_usd=None, output_usd=None)), COUNTER, ContextOptions()
    )
    assert plan.shape == "cached"
    assert plan.preview.cost_usd is None
    assert plan.preview.saving_per_turn_usd is None


async def test_the_previewed_cost_is_in_the_markers_figures() -> None:
    history, request = after_one_answer()
    marker = await condense(warm(history, request), services_for(summariser(), COUNTER), ContextOptions())
    assert marker.figures.forecast_usd == pytest.approx(
        prepare(warm(history, request), COUNTER, ContextOptions()).preview.cost_usd
    )


def test_length_of_earlier_summaries_is_what_is_expected() -> None:
    history, _ = after_one_answer()
    here = inputs(history.path, COUNTER)
    assert summary_tokens(here) == 1_500
    assert summary_tokens(replace(here, summary_tokens=700)) == 700
    history.add(Condense((1,), (Text("s"),), Reduction(shape="fresh", usage=Usage(output_tokens=900))))
    assert summary_tokens(inputs(history.path, COUNTER, summary_tokens=700)) == 900


def test_mask_is_charged_for_what_it_makes_the_cache_forget() -> None:
    history, request = after_one_answer()
    item = MaskItem(history.path[2].id, 0, "result", 0, len(LONG), "[the same again]")
    shown = preview_of_bodies(warm(history, request), "lossless", (Mask((item,)),), COUNTER)
    after = COUNTER.count_messages(effective_history(history.path)[3:]) + COUNTER.count_text("[the same again]")
    assert shown.saving_per_turn_usd is not None and shown.turns_to_pay_back is not None
    paid = shown.saving_per_turn_usd * shown.turns_to_pay_back
    assert paid == pytest.approx(after * (3.75 - 0.3) / 1e6, rel=0.01)
    assert (shown.cost_usd, shown.hidden) == (0.0, 1)
    assert shown.tokens_before - shown.tokens_after == COUNTER.count_text(LONG) - COUNTER.count_text("[the same again]")


def test_requests_per_turn() -> None:
    history, _ = after_one_answer()
    assert requests_per_turn(history.path) == 5.0
    assert requests_per_turn(()) == 1.0


# The model that writes summaries.


async def test_another_model_is_counted_and_charged_by_its_own_figures_and_named() -> None:
    history, _ = after_one_answer()
    small = replace(MODEL, id="small", input_usd=0.1, output_usd=1.0, supports_images=False)
    here = inputs(history.path, COUNTER, summariser=Summariser(small, 50_000, 1.2))
    marker = await condense(here, services_for(summariser(), COUNTER), ContextOptions())
    assert marker.figures.model == "small"
    assert marker.figures.cost_usd == pytest.approx((1_000 * 0.1 + 100 * 1.0) / 1e6)
    assert "Written by small" in marker.figures.remarks[0]


@pytest.mark.line("C24")
async def test_smaller_model_summarises_in_parts_or_refuses_before_any_call() -> None:
    history = conversation()
    for number in range(12):
        history.call(f"u{number}")
        history.result(f"u{number}", content=LONG)
    history.answer("Done.")
    small = Summariser(replace(MODEL, id="small"), 7_000, 1.0)
    model = summariser(*["notes"] * 2, SUMMARY)
    marker = await condense(
        inputs(history.path, COUNTER, summariser=small), services_for(model, COUNTER), ContextOptions()
    )
    assert marker.figures.shape == "staged"
    assert "parts" in " ".join(marker.figures.remarks)
    assert marker.figures.forecast_usd is not None
    due = inputs(history.path, COUNTER, summariser=small, trigger="automatic", percent=5)
    model = summariser()
    with pytest.raises(HistoryTooLong, match="Run /condense"):
        await condense(due, services_for(model, COUNTER), ContextOptions())
    tiny = inputs(history.path, COUNTER, summariser=replace(small, window=1_500))
    with pytest.raises(HistoryTooLong, match="has 1,500"):
        await condense(tiny, services_for(model, COUNTER), ContextOptions())
    assert model.requests == []


@pytest.mark.line("C22")
async def test_message_longer_than_the_window_is_summarised_in_pieces() -> None:
    history = History()
    history.user("read it all")
    history.call("t1")
    history.result("t1", content="".join(f"line {number} of a very long file\n" for number in range(6_000)))
    history.answer("Read.")
    model = summariser(*["notes"] * 9, SUMMARY)
    marker = await condense(
        inputs(history.path, COUNTER, window=12_000), services_for(model, COUNTER), ContextOptions()
    )
    assert marker.figures.shape == "staged"
    asked = "".join(str(request.messages) for request in model.requests)
    assert all(f"line {number} of" in asked for number in range(0, 6_000, 250))
    for request in model.requests:
        assert COUNTER.count_request(request.system, (), request.messages) + request.max_output <= 12_000
        assert violations(request.messages) == []


async def test_notes_too_long_together_are_summarised_again() -> None:
    history = History()
    for number in range(150):
        history.user(f"{number} {LONG}")
        history.answer(f"{number} {LONG}")
    notes = ("fact " * 700).strip()

    model = summariser(lambda request: SUMMARY if "nine of these" in str(request.messages[-1]) else notes)
    marker = await condense(
        inputs(history.path, COUNTER, window=12_000), services_for(model, COUNTER), ContextOptions()
    )
    assert marker.figures.shape == "staged"
    asked = [str(request.messages) for request in model.requests]
    assert sum("[Notes on part" in text and "nine of these" not in text for text in asked) > 0
    for request in model.requests:
        assert COUNTER.count_request(request.system, (), request.messages) + request.max_output <= 12_000


async def test_notes_that_get_no_shorter_end_in_a_failure() -> None:
    class Thirty(TokenCounter):
        """Every text is thirty tokens, so that notes are as long as what they are on."""

        def count_text(self, text: str) -> int:
            return 30 if text else 0

    counter, history = Thirty(), History()
    for number in range(6):
        history.user(f"asked {number}")
        history.answer(f"said {number}")
    terse = replace(MODEL, max_output=1_200)
    here = inputs(history.path, counter, model=terse, window=15_000, ratio=100.0)
    with pytest.raises(CondenseError, match="do not get shorter"):
        await condense(here, services_for(summariser("notes"), counter), ContextOptions(condense_prompt="Sum up."))


def test_pictures_and_documents_are_left_out_where_they_do_not_fit() -> None:
    history = History()
    picture = Image("image/png", "aGk=", 2_000, 2_000)
    for number in range(3):
        history.add(UserMessage((Text(f"{number} {LONG}"), picture), words="look"))
        history.answer(LONG)
    plan = prepare(inputs(history.path, COUNTER), COUNTER, ContextOptions())
    assert plan.ask is not None
    assert picture in [block for message in plan.ask.messages for block in message.blocks]
    plan = prepare(inputs(history.path, COUNTER, window=12_000), COUNTER, ContextOptions())
    assert plan.ask is not None
    assert Text("[Image]") in [block for message in plan.ask.messages for block in message.blocks]


# Limits of a run.


@pytest.mark.line("D30")
async def test_condense_that_takes_too_long_is_given_up_and_paid_for() -> None:
    history, _ = after_one_answer()
    # The shortest limit; nothing answers, so it is reached however slow the machine is.
    options = ContextOptions(condense_time_limit_s=1)
    with pytest.raises(CondenseError, match="took longer than 1 second and") as raised:
        await condense(inputs(history.path, COUNTER), services_for(summariser(hang()), COUNTER), options)
    assert raised.value.body.cost_usd


async def test_signed_thinking_of_the_refused_answer_goes_back_with_its_call() -> None:
    history, _ = after_one_answer()
    model = replace(PRICED, supports_thinking=True)
    thought = Thinking("hm", "signed", model.provider, model.id)
    from roo_tui.context.condense.request import without_tools

    here = inputs(history.path, COUNTER, model=model, tools=TOOLS)
    request = cached(effective_history(history.path), "words", here, 100)
    again = without_tools(request, (thought, ToolUse("t77", "read_file", {})), model)
    assert [block.type for block in again.messages[-2].blocks] == ["thinking", "tool_use"]
    assert violations(again.messages, provider=model.provider, model=model.id) == []


def test_nothing_is_refused_that_was_possible_before() -> None:
    history = History()
    history.add(AssistantMessage((Text("an imported log begins with an answer"),)))
    with pytest.raises(CondenseRefused, match="not enough messages"):
        prepare(inputs(history.path, COUNTER), COUNTER, ContextOptions())
