"""Roo Code's task folders: what is read of them, and that what is written is read as the same."""

import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as checks
from hypothesis import strategies as some

from roo_tui.context.history.effective import active_markers, effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.history.undo import undo_marker
from roo_tui.domain.blocks import Opaque, Text, ToolResult, ToolUse, plain_text_of
from roo_tui.domain.entries import AssistantMessage, Body, CallFacts, CallRecord, Entry, Unknown, UserMessage
from roo_tui.domain.errors import ExchangeError
from roo_tui.domain.markers import Condense, Reduction, Truncation
from roo_tui.store.exchange.roo_code import RooTask, from_tagged, is_task, read_task
from tests.support.engines import engine_on, path_of
from tests.support.histories import History
from tests.support.scripted_model import ScriptedModel
from tests.support.tagged_export import to_tagged

TASKS = Path(__file__).parent / "roo_code"
BEGIN_MS = 1_700_000_000_000


def log_of(timed: Sequence[tuple[Body, int]]) -> Log:
    entries = [Entry(number, number - 1 or None, at_ms, body) for number, (body, at_ms) in enumerate(timed, start=1)]
    return Log(entries, len(entries) or None)


def seen(log: Log) -> list[tuple[str, str, str]]:
    return [(one.role, one.source, plain_text_of(one.blocks)[:40]) for one in effective_history(log.path())]


def task_log(task: RooTask) -> Log:
    return log_of(list(zip(task.bodies, task.times, strict=True)))


def test_a_condensed_and_truncated_task_is_seen_as_roo_code_sees_it():
    task = read_task(TASKS / "condensed")
    assert task.title == "Sort the shelf by author."
    assert seen(task_log(task)) == [
        ("user", "summary", "## Conversation Summary\nThe shelf is to "),
        ("user", "entry", "<user_message>\nDo it now.\n</user_message>"[:40]),
        ("user", "truncation", "[Earlier messages hidden here to make ro"),
        ("assistant", "entry", "Sorted."),
        ("user", "entry", "<user_message>\nThanks.\n</user_message>"),
    ]


def test_markers_stand_in_the_log_where_they_were_made_and_keep_their_figures():
    task = read_task(TASKS / "condensed")
    condense, truncation = task.bodies[4], task.bodies[9]
    assert isinstance(condense, Condense) and condense.hides == (1, 2, 3, 4)
    assert condense.figures == Reduction(strategy="native", tokens_before=1010, tokens_after=310, cost_usd=0.03)
    assert isinstance(truncation, Truncation) and truncation.hides == (7, 8)
    assert (truncation.figures.tokens_before, truncation.figures.tokens_after) == (520, 350)
    assert [at_ms - BEGIN_MS for at_ms in task.times[3:11]] == [5000, 6000, 7000, 9000, 10000, 12000, 12500, 14000]


def test_undoing_an_imported_condense_shows_what_it_hid():
    log = task_log(read_task(TASKS / "condensed"))
    path = log.path()
    log.add([Entry(len(path) + 1, path[-1].id, 0, undo_marker(path, 5))])
    assert [words for _, _, words in seen(log)][:3] == [
        "<task>\nSort the shelf by author.\n<comman",
        "I look at the shelf.",
        "<environment_details>\n10:01\n</environmen",
    ]


def test_messages_keep_their_blocks_and_tell_what_was_typed_called_and_paid():
    task = read_task(TASKS / "condensed")
    first, answer, results = task.bodies[:3]
    assert isinstance(first, UserMessage) and first.source == "import"
    assert first.words == 'Sort the shelf by author.\n<command name="tidy">\nNever move the atlas.\n</command>'
    assert isinstance(answer, AssistantMessage) and answer.cost_usd == 0.01
    assert answer.blocks == (
        Opaque("anthropic", "", {"type": "reasoning", "text": "shelf first", "summary": []}),
        Text("I look at the shelf."),
        ToolUse("call_1", "read_file", {"path": "shelf.txt"}),
    )
    assert isinstance(results, UserMessage)
    assert results.blocks[0] == ToolResult("call_1", (Text("Woolf\nAusten\natlas"),))
    assert results.calls == (CallRecord("call_1", "read_file", CallFacts("read", "shelf.txt", full_content=True)),)


def test_results_told_as_text_are_not_typed_messages():
    task = read_task(TASKS / "text_tools")
    assert task.title == "Count the jars."
    told = task.bodies[2]
    assert isinstance(told, UserMessage) and (told.source, told.words) == ("tools", "")


def test_without_the_interfaces_file_markers_stand_where_the_messages_say(tmp_path):
    shutil.copy(TASKS / "condensed" / "api_conversation_history.json", tmp_path)
    task = read_task(tmp_path)
    assert [type(body) for body in task.bodies].index(Truncation) == 8
    assert seen(task_log(task)) == seen(task_log(read_task(TASKS / "condensed")))


def test_compressed_files_and_the_file_itself_are_read_too(tmp_path):
    for file in (TASKS / "condensed").iterdir():
        (tmp_path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    expected = read_task(TASKS / "condensed")
    assert read_task(tmp_path) == expected
    assert read_task(tmp_path / "api_conversation_history.json.gz") == expected
    assert read_task(TASKS / "condensed" / "api_conversation_history.json") == expected
    assert is_task(tmp_path) and not is_task(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("{}", "does not contain a list"), ("[]", "contains no messages"), ("no", "is not JSON")],
)
def test_what_is_no_task_is_refused_with_a_sentence(tmp_path, content, sentence):
    with pytest.raises(ExchangeError, match="is not a Roo Code task"):
        read_task(tmp_path)
    (tmp_path / "api_conversation_history.json").write_text(content)
    with pytest.raises(ExchangeError, match=sentence):
        read_task(tmp_path)


def test_what_nobody_understands_is_kept_and_never_sent():
    odd: list[Any] = [
        {"type": "reasoning", "encrypted": "x"},
        "words",
        {"role": "user", "content": [{"type": "tool_use"}, 5]},
    ]
    bodies = [body for body, _ in from_tagged(odd)]
    assert bodies[0] == Unknown({"type": "reasoning", "encrypted": "x"})
    assert bodies[1] == Unknown({"value": "words"})
    assert isinstance(bodies[2], UserMessage) and all(isinstance(block, Opaque) for block in bodies[2].blocks)


def test_a_forced_condense_is_found_by_its_time_where_its_event_has_no_id():
    messages = [
        {"role": "user", "content": "one", "ts": 10, "condenseParent": "c"},
        {"role": "assistant", "content": "two", "ts": 20, "condenseParent": "c"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a summary"}],
            "ts": 21,
            "isSummary": True,
            "condenseId": "c",
        },
        {"role": "assistant", "content": "three", "ts": 40},
    ]
    figures = {"prevContextTokens": 90, "newContextTokens": 9}
    timed = from_tagged(messages, [{"say": "condense_context", "ts": 30, "contextCondense": figures}])
    body, at_ms = timed[2]
    assert isinstance(body, Condense) and (at_ms, body.figures.tokens_before) == (30, 90)


def test_a_truncation_of_what_was_condensed_already_hides_nothing():
    messages = [
        {"role": "user", "content": "one", "ts": 10, "condenseParent": "c"},
        {"role": "assistant", "content": "two", "ts": 20, "condenseParent": "c", "truncationParent": "t"},
        {"role": "user", "content": "three", "ts": 30, "condenseParent": "c", "truncationParent": "t"},
        {"role": "user", "content": "2 hidden", "ts": 39, "isTruncationMarker": True, "truncationId": "t"},
        {"role": "assistant", "content": "four", "ts": 40, "condenseParent": "c"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a summary"}],
            "ts": 41,
            "isSummary": True,
            "condenseId": "c",
        },
        {"role": "assistant", "content": "five", "ts": 50},
    ]
    log = log_of(from_tagged(messages))
    assert [words for _, _, words in seen(log)] == ["a summary", "five"]
    (truncation,) = [entry.body for entry in log.path() if isinstance(entry.body, Truncation)]
    assert truncation.hides == ()


def test_tags_say_what_hides_a_message_and_inner_markers_carry_the_outer_ones():
    history = History()
    history.user("one")
    history.answer("two")
    history.condense("first summary")
    history.user("three")
    history.answer("four")
    history.condense("second summary")
    tagged = to_tagged(history.path, active_markers(history.path))
    assert [message.get("condenseParent") for message in tagged] == ["e3", "e3", "e6", "e6", "e6", None]
    assert [message.get("condenseId") for message in tagged] == [None, None, "e3", None, None, "e6"]


@given(some.lists(some.sampled_from(["turn", "call", "condense", "keep", "truncate", "undo"]), max_size=14))
@checks(max_examples=60)
def test_what_is_written_is_read_as_the_same_history(steps):
    history = History()
    history.user("begin")
    for number, step in enumerate(steps):
        visible = effective_history(history.path)
        if step == "turn":
            history.answer(f"answer {number}")
            history.user(f"words {number}")
        elif step == "call":
            history.call(f"c{number}")
            history.result(f"c{number}")
        elif step == "condense":
            history.condense(f"summary {number}")
        elif step == "keep" and len(visible) > 2:
            history.condense(f"summary {number}", keep=1)
        elif step == "truncate" and len(visible) > 3 and visible[1].source == "entry":
            history.add(Truncation((visible[1].entry_id, visible[2].entry_id)))
        elif step == "undo" and active_markers(history.path):
            history.add(undo_marker(history.path))
    tagged = json.loads(json.dumps(to_tagged(history.path, active_markers(history.path))))
    read = effective_history(log_of(from_tagged(tagged)).path())
    assert [(one.role, one.source) for one in read] == [
        (one.role, one.source) for one in effective_history(history.path)
    ]
    assert [one.blocks for one in read if one.source != "truncation"] == [
        one.blocks for one in effective_history(history.path) if one.source != "truncation"
    ]


@pytest.mark.parametrize("form", ["auto", "roo"])
async def test_an_imported_task_opens_goes_on_and_sends_only_what_roo_code_would(tmp_path, form):
    model = ScriptedModel(["Gladly."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        await engine.open_task(await engine.import_file(TASKS / "condensed", form))
        path = path_of(engine)
        assert [entry.at_ms for entry in path] == list(read_task(TASKS / "condensed").times)
        end = await recorder.turn("Go on.")
    assert end.reason == "completed"
    asked = str(model.requests[0].messages)
    assert "The shelf is to be sorted" in asked and "I look at the shelf" not in asked and "call_2" not in asked
