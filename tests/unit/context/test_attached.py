"""What is attached to a summary: facts ledger, pins, what stays, the receipt, and the outline without a model."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.condense.ledger import MOST_TOKENS, ledger, ledger_block
from roo_tui.context.condense.marker import swapped_in
from roo_tui.context.condense.outline import outline_summary
from roo_tui.context.condense.receipt import constraints, identifiers, receipt
from roo_tui.context.condense.steps import condense, outlined
from roo_tui.context.condense.summary_call import missing_sections
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log_facts import edited_files, last_failure, todos_of, typed_messages
from roo_tui.context.history.pins import pin, pin_blocks, pinned
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, CallFacts, CallRecord, Pinned, TodosChanged, UserMessage
from roo_tui.domain.errors import CommandRefused, CondenseError
from roo_tui.domain.markers import Condense, Reduction
from tests.support.histories import History
from tests.support.reductions import inputs, services_for, summariser
from tests.support.scripted_model import SUMMARY

COUNTER = TokenCounter()
LONG = "Something that takes a good many words to say, so that there is something to be freed. " * 20


def done(history: History, facts: CallFacts, output: str = "ok", *, tool: str = "tool", is_error: bool = False) -> int:
    call_id = f"t{len(history.path)}"
    history.add(AssistantMessage((ToolUse(call_id, tool, {}),)))
    record = CallRecord(call_id, tool, facts)
    return history.add(UserMessage((ToolResult(call_id, output, is_error),), source="tools", calls=(record,)))


def worked() -> History:
    history = History()
    history.user(f"Fix the date test. Never touch `main`. {LONG}")
    done(history, CallFacts("read", "src/dates.py", full_content=True, digest="aaaa1111"), LONG)
    done(history, CallFacts("edit", "src/dates.py", changed=("src/dates.py",), digest="bbbb2222"), LONG)
    done(history, CallFacts("command", query="pytest -q", exit_code=1), f"{LONG}\nE   AssertionError: 3 != 4")
    history.answer(f"Half done. {LONG}")
    return history


async def run(history: History, *, options: ContextOptions | None = None, **values: Any) -> Condense:
    model = values.pop("model", None) or summariser()
    services = {name: values.pop(name) for name in ("digests", "fold") if name in values}
    here = inputs(history.path, COUNTER, **values)
    return await condense(here, services_for(model, COUNTER, **services), options or ContextOptions())


def shown(marker: Condense) -> str:
    return "\n".join(block.text for block in marker.summary if isinstance(block, Text))


# Facts ledger.


@pytest.mark.parametrize(
    ("now", "words"),
    [("bbbb2222", "as on disk"), ("cccc", "changed on disk since"), ("", "gone from disk"), (None, "bbbb2222")],
)
async def test_ledger_tells_whether_the_disk_still_has_what_the_agent_knows(now: str | None, words: str) -> None:
    async def digests(paths: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(path, now) for path in paths if now is not None]

    marker = await run(worked(), digests=digests)
    (line,) = [line for line in shown(marker).splitlines() if line.startswith("- src/dates.py: edited (e5)")]
    assert words in line
    assert "Last test command (e7): pytest -q → exit 1: E AssertionError: 3 != 4" in shown(marker)


def test_ledger_is_rebuilt_from_the_log_newest_and_edited_files_first() -> None:
    history = worked()
    done(history, CallFacts("read", "b.py", digest="b1"))
    done(history, CallFacts("write", "c.py", changed=("c.py",), digest="c1"))
    done(history, CallFacts("read", "src/dates.py", digest="dddd"))
    done(history, CallFacts("command", query="sed -i s/a/b/ d.py", exit_code=0, changed=("d.py",)))
    facts = ledger(history.path)
    assert [(fact.path, fact.what, fact.digest) for fact in facts.files] == [
        ("d.py", "edited", ""),
        ("c.py", "edited", "c1"),
        ("src/dates.py", "edited", "dddd"),
        ("b.py", "read", "b1"),
    ]
    assert ledger_block(ledger((), (("a", "done"),)), (), COUNTER) is None


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 300), st.floats(0.5, 4.0), st.text(min_size=1, max_size=400))
def test_ledger_never_takes_more_than_its_tokens(count: int, ratio: float, name: str) -> None:
    history = History()
    for number in range(count):
        done(history, CallFacts("edit", f"{name}{number}", changed=(f"{name}{number}",)))
    block = ledger_block(ledger(history.path), (), COUNTER, ratio)
    assert block is not None
    assert COUNTER.count_block(block) * ratio <= MOST_TOKENS + 8 * ratio


# Pins.


@settings(max_examples=15, deadline=None)
@given(st.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip())), st.integers(1, 4))
async def test_pins_survive_any_number_of_condenses_byte_for_byte(words: str, times: int) -> None:
    history = worked()
    entry = history.user(words)
    history.answer(LONG)
    history.add(pin(history.path, entry))
    blocks = None
    for _ in range(times):
        history.add(await run(history))
        kept = [block for message in effective_history(history.path) for block in message.blocks]
        (block,) = pin_blocks(history.path, ())
        assert block in kept
        assert words in block.text
        assert blocks in (None, block)
        blocks = block
        history.user(LONG)
        history.answer(LONG)
    assert words in "".join(history.texts())


def test_pin_comes_off_and_is_checked() -> None:
    history = worked()
    history.add(pin(history.path, 1))
    assert pinned(history.path) == (1,)
    with pytest.raises(CommandRefused, match="already pinned"):
        pin(history.path, 1)
    history.add(pin(history.path, 1, on=False))
    assert pinned(history.path) == ()
    with pytest.raises(CommandRefused, match="not pinned"):
        pin(history.path, 1, on=False)
    with pytest.raises(CommandRefused, match="not a message"):
        pin(history.path, 99)


async def test_pin_of_a_message_that_stays_is_not_repeated() -> None:
    history = worked()
    entry = history.user("the question")
    history.add(Pinned(entry))
    assert "the question" not in shown(await run(history))


# What stays.


async def test_newest_turns_stay_word_for_word_if_wanted() -> None:
    history = worked()
    second = history.user(f"second {LONG}")
    history.answer(f"two {LONG}")
    fresh = await run(history)
    assert second in fresh.hides
    marker = await run(history, options=ContextOptions(keep_newest_turns=1))
    assert second not in marker.hides
    history.add(marker)
    assert [message.source for message in effective_history(history.path)] == ["summary", "entry", "entry"]
    assert marker.figures.remarks == ()
    # The kept turn has the request, so the summary does not repeat it.
    assert "second Something" not in shown(marker)


async def test_more_turns_than_there_are_leave_something_to_condense() -> None:
    history = worked()
    marker = await run(history, options=ContextOptions(keep_newest_turns=5))
    assert any("Fewer turns were kept" in remark for remark in marker.figures.remarks)


@pytest.mark.parametrize("least", [300, 1_000])
@pytest.mark.line("A11")
async def test_smallest_size_to_keep_is_kept(least: int) -> None:
    history = worked()
    marker = await run(history, options=ContextOptions(min_kept_tokens=least))
    kept = [message for message in effective_history(history.path) if message.entry_id not in marker.hides]
    assert COUNTER.count_messages(kept) >= least
    assert marker.figures.remarks == ()


@pytest.mark.line("A11")
async def test_the_smallest_size_that_cannot_be_kept_is_reported() -> None:
    marker = await run(worked(), options=ContextOptions(min_kept_tokens=400_000))
    assert any("of at least 400,000 tokens" in remark for remark in marker.figures.remarks)


async def test_automatic_condense_keeps_less_rather_than_be_due_again() -> None:
    history = worked()
    for number in range(6):
        history.user(f"{number} {LONG}")
        history.answer(LONG * 3)
    values: dict[str, Any] = {"trigger": "automatic", "window": 10_000, "percent": 30}
    marker = await run(history, options=ContextOptions(keep_newest_turns=6), **values)
    assert marker.figures.tokens_after < inputs(history.path, COUNTER, **values).limits.trigger_tokens
    assert any("Fewer" in remark for remark in marker.figures.remarks)


@pytest.mark.line("B17")
async def test_low_yield_is_reported() -> None:
    history = worked()
    marker = await run(history, window=100_000)
    assert marker.figures.remarks == ()
    marker = await run(history, percent=5, window=6_000)
    assert any(remark.startswith("Low yield") for remark in marker.figures.remarks)


# Receipt.


def test_receipt_names_limits_and_identifiers_the_summary_left_out() -> None:
    history = History()
    history.user("Please never push to origin.\nUse `make lint` and src/app/cli.py. You must not use eval. Thanks!")
    lines = receipt(history.path, "The person wants cli.py changed; YOU MUST NOT USE EVAL.")
    assert lines == (
        "You said: Please never push to origin.",
        "Named in the last request: make lint",
        "Named in the last request: src/app/cli.py",
    )


def test_limits_and_identifiers() -> None:
    assert constraints(["Don’t. Do it! I mustn't\nfine"]) == ["Don’t.", "I mustn't"]
    assert identifiers("call read_file or fooBar in a.b.c with --dry-run, not the word or e.g. this") == [
        "read_file",
        "fooBar",
        "a.b.c",
        "--dry-run",
        "e.g",
    ]


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=300))
def test_receipt_takes_any_text(words: str) -> None:
    history = History()
    history.user(words)
    receipt(history.path, words)


# The log.


def test_todos_of_an_imported_log_are_those_of_the_last_call() -> None:
    history = History()
    plan = [{"step": "new", "status": "in_progress"}, {"step": "x", "status": "completed"}]
    for call in (
        ToolUse("a", "TodoWrite", {"todos": [{"content": "old", "status": "pending"}]}),
        ToolUse(
            "b",
            "update_plan",
            {"plan": plan},
        ),
    ):
        history.add(AssistantMessage((call,)))
        record = CallRecord(call.id, call.name, CallFacts("todo"))
        history.add(UserMessage((ToolResult(call.id, "ok"),), source="import", calls=(record,)))
    assert todos_of(history.path) == (("new", "in_progress"), ("x", "done"))
    history.add(TodosChanged((("mine", "pending"),)))
    assert todos_of(history.path) == (("mine", "pending"),)


# Outline.


def outline_of(history: History, budget: int = 8_000) -> str:
    return outline_summary(history.path, COUNTER, budget=budget, todos=(("write it", "pending"), ("read", "done")))


def test_outline_has_nine_sections_and_says_what_it_is() -> None:
    answer = outline_of(worked())
    assert missing_sections(answer) == ()
    assert "no model wrote it" in answer
    for words in (
        "Fix the date test. Never touch `main`.",
        "src/dates.py: edited (e5)",
        "pytest -q (exit 1): E AssertionError: 3 != 4",
        "[pending] write it",
        "Half done.",
    ):
        assert words in answer
    assert "] read" not in answer


def test_outline_carries_the_newest_summary_a_model_wrote_but_not_its_own() -> None:
    history = worked()
    history.add(Condense((1,), (Text(f"## Conversation Summary\n{SUMMARY}"),), Reduction(shape="fresh")))
    history.answer("more")
    assert "> 1. Primary request and intent: the work asked for." in outline_of(history)
    own = worked()
    own.add(Condense((1,), (Text(outline_of(own)),), Reduction(shape="outline")))
    assert "From the last summary" not in outline_of(own)


async def test_outline_made_again_and_again_loses_nothing_it_lists() -> None:
    history = worked()
    for number in range(4):
        done(history, CallFacts("edit", f"f{number}.py", changed=(f"f{number}.py",)), LONG)
        here = inputs(history.path, COUNTER)
        history.add(await outlined(here, services_for(summariser(), COUNTER), ContextOptions()))
    (seen,) = history.texts()
    assert all(f"f{number}.py" in seen for number in range(4))
    assert "pytest -q" in seen
    assert "Never touch `main`" in seen


async def test_outline_that_frees_nothing_is_refused() -> None:
    history = History()
    history.user("hello")
    history.answer("hello to you")
    with pytest.raises(CondenseError, match="not smaller"):
        await outlined(inputs(history.path, COUNTER), services_for(summariser(), COUNTER), ContextOptions())


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["user", "answer", "edit", "fail"]), st.text(max_size=200)), max_size=12),
    st.integers(300, 3_000),
)
def test_outline_of_any_log_has_all_sections_and_keeps_to_its_budget(steps: list[tuple[str, str]], budget: int) -> None:
    history = History()
    for kind, words in steps:
        if kind == "user":
            history.user(words)
        elif kind == "answer":
            history.answer(words)
        elif kind == "edit":
            done(history, CallFacts("edit", words, changed=(words,)))
        else:
            done(history, CallFacts("command", query=words or "x", exit_code=2), words)
    answer = outline_of(history, budget)
    assert missing_sections(answer) == ()
    assert COUNTER.count_text(answer) <= max(budget, 2_500)


def test_facts_of_an_empty_log() -> None:
    assert (edited_files(()), last_failure(()), typed_messages(()), todos_of(())) == ([], None, [], ())


# In the background.


def frozen() -> tuple[History, ReductionInput]:
    history = worked()
    return history, inputs(history.path, COUNTER, trigger="background")


async def test_background_condense_is_swapped_in_after_the_conversation_went_on() -> None:
    history, here = frozen()
    marker = await condense(here, services_for(summariser(), COUNTER), ContextOptions())
    history.user("meanwhile")
    history.answer("yes")
    now = COUNTER.count_request(("You are an agent.",), (), effective_history(history.path))
    swapped = swapped_in((marker,), history.path, COUNTER, context_tokens=now, ratio=1.0)
    assert swapped is not None
    (marker_now,) = swapped
    assert isinstance(marker_now, Condense)
    history.add(marker_now)
    assert history.texts()[1:] == ["meanwhile", "yes"]
    assert marker_now.figures.tokens_after == COUNTER.count_request(
        ("You are an agent.",), (), effective_history(history.path)
    )


async def test_background_condense_is_dropped_after_a_rewind_or_another_condense() -> None:
    history, here = frozen()
    marker = await condense(here, services_for(summariser(), COUNTER), ContextOptions())
    assert swapped_in((marker,), history.path[:-1], COUNTER, context_tokens=9_999, ratio=1.0) is None
    history.add(marker)
    history.user("more")
    assert swapped_in((marker,), history.path, COUNTER, context_tokens=9_999, ratio=1.0) is None
