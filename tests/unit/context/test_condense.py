"""A condense from cut to marker, with a scripted summariser."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.condense.attachments import MOST_CHARACTERS, allowance, answer_block
from roo_tui.context.condense.cut_point import command_blocks, cut, standing_commands
from roo_tui.context.condense.steps import condense, prepare
from roo_tui.context.history.effective import effective_history
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import failed
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, CallFacts, CallRecord, UserMessage
from roo_tui.domain.errors import CondenseError, CondenseRefused, HistoryTooLong, ModelError
from roo_tui.domain.markers import Condense
from roo_tui.domain.usage import Usage
from tests.support.histories import History
from tests.support.reductions import inputs, outlines, services_for, summariser
from tests.support.scripted_model import SUMMARY, Reply, ScriptedModel, hang

COUNTER = TokenCounter()
OPTIONS = ContextOptions()
LONG = "Something that takes a good many words to say, so that there is something to be freed. " * 20
COMMAND = '<command name="review">\n  Check  every\tfile.\n</command>'


def two_turns() -> History:
    history = History()
    history.user(f"first {LONG}")
    history.answer(f"one {LONG}")
    history.user(f"second {LONG}")
    history.answer(f"two {LONG}")
    return history


def in_tool_loop(request: str = "Fix the failing date test") -> History:
    history = History()
    history.user(request)
    for number in range(3):
        history.call(f"t{number}", text="looking")
        history.result(f"t{number}", content=LONG)
    return history


async def run(history: History, model: ScriptedModel | None = None, **values: Any) -> Condense:
    model = model or summariser()
    options = values.pop("options", OPTIONS)
    folds = {"fold": values.pop("fold")} if "fold" in values else {}
    return await condense(inputs(history.path, COUNTER, **values), services_for(model, COUNTER, **folds), options)


def shown(marker: Condense) -> list[str]:
    return [block.text for block in marker.summary if isinstance(block, Text)]


async def test_whole_history_is_hidden_behind_the_answer() -> None:
    history = two_turns()
    ids = tuple(entry.id for entry in history.path)
    marker = await run(history)
    assert marker.hides == ids
    assert shown(marker) == [f"## Conversation Summary\n{SUMMARY}"]
    history.add(marker)
    assert [(message.role, message.source) for message in effective_history(history.path)] == [("user", "summary")]


async def test_unanswered_message_stays_after_the_summary() -> None:
    history = two_turns()
    question = history.user("third")
    marker = await run(history)
    assert question not in marker.hides
    history.add(marker)
    assert [message.entry_id for message in effective_history(history.path)] == [history.path[-1].id, question]
    assert not any("third" in text for text in shown(marker))


@pytest.mark.line("A7")
async def test_request_of_a_running_tool_loop_is_carried_word_for_word() -> None:
    request = "Fix it.\n\n  Keep\ttwo  blanks — and never touch `main`."
    marker = await run(in_tool_loop(request))
    block = shown(marker)[-1]
    assert block.startswith("<system-reminder>\n")
    assert block.endswith("\n</system-reminder>")
    assert request in block


async def test_request_is_carried_again_by_the_next_condense_of_the_same_loop() -> None:
    history = in_tool_loop("Fix it, please")
    for number in range(5):
        history.add(await run(history))
        history.call(f"later{number}")
        history.result(f"later{number}", content=LONG)
    history.add(await run(history))
    assert "Fix it, please" in history.texts()[0]
    assert len(history.texts()) == 1


async def test_environment_details_of_the_request_are_not_carried() -> None:
    history = History()
    details = "<environment_details>\nTime: now\n</environment_details>"
    history.add(UserMessage((Text("Do it"), Text(details)), words=""))
    history.call("t1")
    history.result("t1", content=LONG)
    assert cut(history.path).request == "Do it"


@pytest.mark.line("A10")
async def test_answered_request_is_not_carried() -> None:
    assert cut(two_turns().path).request == ""


@pytest.mark.line("A7", "A10")
async def test_open_todos_are_attached_word_for_word_and_done_ones_are_not() -> None:
    todos = (("write the <b>test</b>", "pending"), ("read the code", "done"), ("fix it", "in_progress"))
    block = shown(await run(two_turns(), todos=todos))[-1]
    assert "write the <b>test</b>" in block
    assert "fix it" in block
    assert "read the code" not in block


async def test_blocks_stand_in_their_order_and_the_environment_is_last_and_unwrapped() -> None:
    history = in_tool_loop(f"{COMMAND}\nDo it")
    environment = "<environment_details>\nTime: now\n</environment_details>"
    marker = await run(
        history,
        trigger="automatic",
        environment=environment,
        todos=(("fix it", "pending"),),
        read_files=("a.py", "b.py"),
        fold=outlines({"a.py": "# a.py\n1--4 | def a():\n", "b.py": "# b.py\n1--9 | def b():\n"}),
    )
    texts = shown(marker)
    wanted = ["## Conversation Summary", COMMAND, "def a()", "def b()", "Do it", "fix it", environment]
    assert [next(at for at, text in enumerate(texts) if word in text) for word in wanted] == [0, 1, 2, 3, 4, 5, 6]
    assert all(text.startswith("<system-reminder>\n") and text.endswith("</system-reminder>") for text in texts[1:-1])
    assert texts[-1] == environment


@pytest.mark.parametrize(("trigger", "there"), [("manual", False), ("automatic", True), ("forced", True)])
async def test_environment_is_for_automatic_and_forced_condenses(trigger: str, there: bool) -> None:
    marker = await run(two_turns(), trigger=trigger, environment="Time: now")
    assert ("Time: now" in shown(marker)) is there


async def test_answer_is_asked_for_without_tools_and_with_the_guard() -> None:
    model = summariser()
    await run(in_tool_loop(), model)
    request = model.requests[0]
    assert request.tools == ()
    assert "system operation" in request.system[0]
    assert [message.role for message in request.messages] == ["user", "assistant"] * 3 + ["user"]
    texts = [block.text for message in request.messages for block in message.blocks if isinstance(block, Text)]
    assert "[Tool Use: read_file]\npath: a.py" in texts
    assert f"[Tool Result]\n{LONG}" in texts
    assert "All user messages" in texts[-1]
    assert "{{" not in "".join(texts)


@pytest.mark.parametrize(("prompt", "own"), [("  Only the file names.\n", False), ("   \n", True)])
async def test_custom_prompt_replaces_ours_unless_blank(prompt: str, own: bool) -> None:
    model = summariser()
    await run(two_turns(), model, options=ContextOptions(condense_prompt=prompt), instructions=" keep the paths ")
    last = model.requests[0].messages[-1].blocks[-1]
    assert isinstance(last, Text)
    assert ("All user messages" in last.text) is own
    assert last.text.startswith("Only the file names.") is not own
    assert last.text.endswith("keep the paths")


async def test_hidden_messages_are_not_sent_and_an_earlier_summary_is() -> None:
    history = two_turns()
    history.condense("what was done before")
    history.user(f"third {LONG}")
    history.answer(f"three {LONG}")
    model = summariser()
    await run(history, model)
    sent = "\n".join(
        block.text for message in model.requests[0].messages for block in message.blocks if isinstance(block, Text)
    )
    assert "what was done before" in sent
    assert "first Something" not in sent


async def test_figures_name_cost_usage_model_and_counts() -> None:
    history = two_turns()
    marker = await run(history)
    figures = marker.figures
    assert (figures.strategy, figures.shape, figures.model, figures.trigger) == (
        "native",
        "fresh",
        "summariser",
        "manual",
    )
    assert figures.usage == Usage(input_tokens=1_000, output_tokens=100)
    assert figures.cost_usd == pytest.approx(0.002)
    assert figures.tokens_before == COUNTER.count_request(("You are an agent.",), (), effective_history(history.path))
    history.add(marker)
    assert figures.tokens_after == COUNTER.count_request(("You are an agent.",), (), effective_history(history.path))


async def test_summary_is_streamed() -> None:
    heard: list[str] = []
    model = summariser()
    history = two_turns()
    await condense(inputs(history.path, COUNTER), services_for(model, COUNTER, on_text=heard.append), OPTIONS)
    assert "".join(heard) == SUMMARY


async def test_retried_attempt_is_paid_for_and_its_text_is_void() -> None:
    marker = await run(two_turns(), summariser(Reply(SUMMARY, void="void")))
    assert shown(marker) == [f"## Conversation Summary\n{SUMMARY}"]
    assert marker.figures.usage.input_tokens == 2_000


async def test_missing_section_is_asked_for_once() -> None:
    lacking = SUMMARY.replace("7. Pending tasks: none.\n", "")
    model = summariser(lacking, SUMMARY)
    marker = await run(two_turns(), model)
    assert len(model.requests) == 2
    assert [message.role for message in model.requests[1].messages[-2:]] == ["assistant", "user"]
    assert "Pending tasks" in str(model.requests[1].messages[-1].blocks)
    assert marker.figures.remarks == ()
    assert marker.figures.usage.input_tokens == 2_000
    assert "Pending tasks" in shown(marker)[0]


@pytest.mark.parametrize(
    "second", ["", ModelError("overloaded", status=529), ToolUse("t", "read_file"), "Nothing more."]
)
async def test_summary_that_stays_incomplete_is_accepted_with_a_remark(second: Any) -> None:
    lacking = SUMMARY.replace("7. Pending tasks: none.\n", "")
    marker = await run(two_turns(), summariser(lacking, second))
    assert shown(marker)[0].endswith(lacking)
    assert marker.figures.remarks == ("The summary lacks these sections: Pending tasks.",)


async def test_text_that_is_no_summary_at_all_is_not_taken_for_one() -> None:
    with pytest.raises(CondenseError) as raised:
        await run(two_turns(), summariser("Recovered after an error.", "Done."))
    assert "did not return a summary" in raised.value.body.message
    assert raised.value.body.body == "Recovered after an error."
    tagged = await run(two_turns(), summariser("<summary>All in prose.</summary>"))
    assert "All in prose." in shown(tagged)[0]


async def test_custom_prompt_needs_no_sections() -> None:
    model = summariser("Short and good.")
    marker = await run(two_turns(), model, options=ContextOptions(condense_prompt="Be short."))
    assert len(model.requests) == 1
    assert marker.figures.remarks == ()


async def test_summary_cut_at_the_output_limit_has_a_remark() -> None:
    marker = await run(two_turns(), summariser(Reply(SUMMARY, stop_reason="max_tokens")))
    assert marker.figures.remarks == ("The output limit cut the summary off.",)


@pytest.mark.parametrize(
    ("answer", "word"),
    [("  \n", "empty"), (ToolUse("t1", "read_file"), "tool"), ("longer than all of it " * 2_000, "not smaller")],
)
@pytest.mark.line("C27")
async def test_useless_answer_is_an_error_that_keeps_its_cost(answer: Any, word: str) -> None:
    with pytest.raises(CondenseError, match=word) as caught:
        await run(two_turns(), summariser(answer), options=ContextOptions(condense_prompt="Be short."))
    assert caught.value.body.cost_usd == pytest.approx(0.002)
    assert caught.value.body.tokens_before > 0
    assert not caught.value.body.cancelled


@pytest.mark.line("C25")
async def test_grown_result_names_both_counts() -> None:
    with pytest.raises(CondenseError) as caught:
        await run(two_turns(), summariser(SUMMARY + "again " * 3_000))
    body = caught.value.body
    assert body.tokens_after > body.tokens_before
    assert f"{body.tokens_before:,} → {body.tokens_after:,}" in body.message


async def test_refusing_model_is_an_error() -> None:
    with pytest.raises(CondenseError, match="refused"):
        await run(two_turns(), summariser(Reply(SUMMARY, stop_reason="refusal")))


async def test_provider_error_keeps_status_code_and_body() -> None:
    error = ModelError("The service is overloaded.", status=529, code="overloaded_error", body='{"a": 1}')
    with pytest.raises(CondenseError) as caught:
        await run(two_turns(), summariser(error))
    body = caught.value.body
    assert (body.message, body.status, body.code, body.body) == (
        "The service is overloaded.",
        529,
        "overloaded_error",
        '{"a": 1}',
    )
    assert "Traceback" not in str(body)


@pytest.mark.line("D30")
async def test_cancelled_condense_tells_what_it_cost() -> None:
    model = summariser(hanging := hang())
    history = two_turns()
    here = inputs(history.path, COUNTER)
    services = services_for(model, COUNTER)
    task = asyncio.create_task(condense(here, services, OPTIONS))
    await hanging.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    body = failed(here, services, "Cancelled.", cancelled=True)
    assert body.cancelled
    assert body.cost_usd is not None
    assert body.cost_usd > 0.001


async def test_too_few_messages_are_refused_without_a_call() -> None:
    history = History()
    model = summariser()
    with pytest.raises(CondenseRefused, match="not enough messages"):
        await run(history, model)
    history.user(LONG)
    with pytest.raises(CondenseRefused, match="not enough messages"):
        await run(history, model)
    assert model.requests == []


async def test_condensing_again_at_once_is_refused_without_a_call() -> None:
    history = two_turns()
    history.add(await run(history))
    model = summariser()
    for _ in range(2):
        with pytest.raises(CondenseRefused, match="nothing new to summarise"):
            await run(history, model)
        history.user("one more")
    assert model.requests == []


async def test_nothing_to_gain_is_refused_without_a_call() -> None:
    history = History()
    history.user("A request with many words that must stay as it is, whatever happens to the rest.")
    history.call("t1")
    history.result("t1", content="ok")
    model = summariser()
    with pytest.raises(CondenseRefused, match="Nothing would be freed"):
        await run(history, model)
    assert model.requests == []


async def test_history_longer_than_the_window_is_refused_without_a_call() -> None:
    model = summariser()
    with pytest.raises(HistoryTooLong, match="too long to summarise"):
        await run(two_turns(), model, window=1_000)
    assert model.requests == []


async def test_answer_gets_the_room_that_is_left() -> None:
    history = two_turns()
    plan = prepare(inputs(history.path, COUNTER, window=5_000), COUNTER, OPTIONS)
    assert plan.ask is not None
    prompt = COUNTER.count_request(plan.ask.system, (), plan.ask.messages)
    assert 0 < plan.ask.max_output <= 5_000 - prompt


async def test_file_outlines_give_way_first() -> None:
    files = {f"f{number}.py": f"# f{number}.py\n1--9 | {'x' * 150}\n" for number in range(200)}
    history = in_tool_loop("Do it")
    marker = await run(
        history,
        trigger="automatic",
        environment="Time: now",
        read_files=("gone.py", *files),
        fold=outlines(files),
        window=1_000_000,
    )
    texts = shown(marker)
    assert texts[1].startswith("<system-reminder>\n## File outline: f0.py")
    assert texts[-1] == "Time: now"
    assert "Do it" in texts[-2]
    assert any("1 file could not be read" in remark for remark in marker.figures.remarks)
    answer = COUNTER.count_block(answer_block(SUMMARY))
    freed = COUNTER.count_messages(cut(history.path).hidden) - answer
    assert COUNTER.count_blocks(marker.summary[1:]) <= freed // 2


async def test_receipt_lists_what_the_summary_does_not_say_and_is_attached_if_wanted() -> None:
    history = two_turns()
    history.call("t1")
    facts = CallFacts("edit", "src/dates.py", changed=("src/dates.py",))
    history.add(UserMessage((ToolResult("t1", "ok"),), source="tools", calls=(CallRecord("t1", "apply_diff", facts),)))
    history.answer("done")
    assert (await run(history)).receipt == ("Edited: src/dates.py",)
    attached = shown(await run(history, options=ContextOptions(append_receipt=True)))[-1]
    assert "Edited: src/dates.py" in attached


async def test_condense_leaves_the_path_as_it_was() -> None:
    history = two_turns()
    before = history.path
    await run(history)
    assert history.path is before


COMMANDS = st.builds(
    lambda name, text: f'<command name="{name}">{text}</command>',
    st.sampled_from(["init", "review", "x y"]),
    st.text(max_size=60).filter(
        lambda text: "</command" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
    ),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(COMMANDS, max_size=3), st.integers(1, 4), st.text(max_size=30))
@pytest.mark.line("A8")
async def test_commands_survive_any_number_of_condenses(commands: list[str], times: int, words: str) -> None:
    history = History()
    history.user("\n".join([f"Do it {LONG}", *commands]) + words)
    expected = tuple(dict.fromkeys(command_blocks(history.path[0].body.blocks[0].text)))
    for _ in range(times):
        history.answer(LONG)
        history.user(LONG)
        history.answer(LONG)
        history.add(await run(history, todos=(("<command>no</command>", "pending"),)))
        kept = [text for text in history.texts() if all(command in text for command in expected)]
        assert len(kept) == 1
    assert standing_commands(history.path) == expected
    imported = History()
    imported.add(UserMessage((Text("an imported log that begins with its summary"),), source="import"))
    imported.add(history.path[-1].body)
    assert standing_commands(imported.path) == expected


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(max_size=400), min_size=2, max_size=6),
    st.floats(0.5, 4.0),
    st.lists(st.integers(0, 3_000), max_size=6),
    st.text(max_size=500),
    st.sampled_from(["manual", "automatic", "forced"]),
    st.booleans(),
)
async def test_attached_blocks_keep_to_their_budget_and_the_figures_to_their_formula(
    texts: list[str], ratio: float, files: list[int], environment: str, trigger: str, ends_with_question: bool
) -> None:
    history = History()
    for number, text in enumerate(texts):
        history.add(UserMessage((Text(LONG + text),), words="", source="typed"))
        blocks: tuple[Block, ...] = (Text(f"{text} {number}."),)
        history.add(AssistantMessage(blocks))
    if ends_with_question:
        history.user("And now?")
    folded = {f"f{number}.py": f"# f\n1--9 | {'y ' * size}\n" for number, size in enumerate(files)}
    before = history.path
    marker = await run(
        history,
        trigger=trigger,
        ratio=ratio,
        environment=environment,
        read_files=tuple(folded),
        fold=outlines(folded),
        window=60_000,
    )
    hidden = [message for message in effective_history(before) if message.entry_id in set(marker.hides)]
    raw_hidden, raw_shown = COUNTER.count_messages(hidden), COUNTER.count_blocks(marker.summary)
    figures = marker.figures
    assert figures.tokens_after == figures.tokens_before - round(ratio * (raw_hidden - raw_shown))
    assert raw_shown < raw_hidden
    extras = marker.summary[1:]
    budget = allowance(60_000, raw_hidden - COUNTER.count_block(marker.summary[0]))
    assert sum(len(text) for text in shown(marker)[1:]) <= budget.characters <= min(MOST_CHARACTERS, 24_000)
    assert COUNTER.count_blocks(extras) <= budget.tokens
    assert history.path is before
