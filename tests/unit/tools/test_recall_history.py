"""Bringing back what is hidden: the tool's arguments, and what the model gets for words and for ids."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.excerpts import excerpt, patterns
from roo_tui.context.history.recall import found_entries, recall_hidden, recallable
from roo_tui.domain.blocks import ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, CallFacts, CallRecord, TodosChanged, UserMessage
from roo_tui.domain.markers import Mask, MaskItem
from roo_tui.domain.recall import Recall
from roo_tui.tools.recall_history import RecallHistory
from roo_tui.tools.runner import Prepared, plan_call, run_call
from tests.support.histories import History
from tests.support.tool_bench import Bench


def conversation() -> History:
    history = History()
    history.user("Use the blue paint, never the red one.")
    history.add(AssistantMessage((ToolUse("t1", "read_file", {"path": "shed.md"}),)))
    record = CallRecord("t1", "read_file", CallFacts("read", "shed.md"))
    history.add(UserMessage((ToolResult("t1", "The ladder is behind the door."),), source="tools", calls=(record,)))
    history.answer("Read it.")
    return history


def finds(*ids: int) -> Any:
    async def find(query: str) -> Sequence[int]:
        return ids

    return find


async def planned(**arguments: Any) -> Recall:
    """Return what a call of the tool asks for."""

    async def unused(wanted: Recall) -> str:
        raise AssertionError(wanted)

    context = replace(Bench(Path("/")).context, recall=unused)
    prepared = await plan_call(ToolUse("t", RecallHistory.name, arguments), context)
    assert isinstance(prepared, Prepared), prepared
    assert isinstance(prepared.plan.state, Recall)
    return prepared.plan.state


async def test_hidden_entries_come_back_with_their_ids() -> None:
    history = conversation()
    history.condense("a summary")
    found = await recall_hidden(Recall(("where is the ladder",)), history.path, finds(3, 1))
    assert found.startswith(
        "[e3: result of read_file shed.md]\n(Call e2: [Tool Use: read_file] path: shed.md)\n"
        "[Tool Result]\nThe ladder is behind the door."
    )
    assert "[e1: the user]\nUse the blue paint" in found


async def test_what_the_model_sees_already_is_not_brought_back_by_a_query() -> None:
    history = conversation()
    assert (
        await recall_hidden(Recall(("ladder",)), history.path, finds(3))
        == "Nothing in this conversation is hidden: everything is in your context."
    )
    history.condense("a summary")
    visible = history.user("the ladder again")
    assert f"e{visible}" not in await recall_hidden(Recall(("ladder",)), history.path, finds(visible, 3))


async def test_masked_entries_and_earlier_todo_lists_can_be_brought_back() -> None:
    history = conversation()
    history.add(TodosChanged((("paint", "pending"),)))
    history.answer("Listed.")
    history.add(Mask((MaskItem(3, 0, "result", 0, 30, "[masked]"),)))
    assert {3, 5} <= recallable(history.path).keys()
    assert "[pending] paint" in await recall_hidden(Recall(("paint",)), history.path, finds(5))


@pytest.mark.parametrize("asked", ["e3", "E3", " e3, e1 ", "e3 e99", "e3.0.content", "e3.0.content, e1.0"])
async def test_ids_bring_back_entries_word_for_word(asked: str) -> None:
    history = conversation()
    found = await recall_hidden(await planned(query=asked), history.path, finds())
    assert "The ladder is behind the door." in found
    assert ("Use the blue paint" in found) is ("e1" in asked)
    assert ("no entry e99" in found) is ("e99" in asked)


async def test_long_entry_goes_on_where_it_was_cut() -> None:
    history = History()
    text = "".join(f"line {number}\n" for number in range(10_000))
    history.user(text)
    got, asked = "", "e1"
    for _ in range(5):
        found = await recall_hidden(await planned(id=asked), history.path, finds())
        body, _, rest = found.partition("\n(Cut after ")
        got += body.removeprefix("[e1: the user]\n")
        if not rest:
            break
        asked = rest.rsplit("`id` ", 1)[1].rstrip(")")
    assert got == text


async def test_what_several_queries_find_comes_first() -> None:
    history = conversation()
    for number in range(4):
        history.user(f"about item {number}")
        history.answer("yes")
    history.condense("a summary")
    rankings = {"one": (7, 5, 11), "two": (9, 11), "three": (1, 11)}

    async def find(query: str) -> Sequence[int]:
        return rankings[query]

    found = await recall_hidden(Recall(("one", "two", "three")), history.path, find)
    assert found.startswith("[e11: the user]")


async def test_a_call_and_its_result_take_one_place() -> None:
    history = conversation()
    history.condense("a summary")
    found = await recall_hidden(Recall(("shed",)), history.path, finds(2, 3, 1))
    assert found.count("\n[e") == 1
    assert found.startswith("[e2: the agent, calling read_file]")
    assert "(Result e3: [Tool Result] The ladder is behind the door.)" in found


async def test_a_message_is_shown_with_the_answer_to_it() -> None:
    history = conversation()
    history.condense("a summary")
    assert "(Answer e4: Read it.)" in await recall_hidden(Recall(("paint",)), history.path, finds(1))


async def test_a_recalled_result_brings_its_call() -> None:
    history = conversation()
    assert "(Call e2: [Tool Use: read_file]\npath: shed.md)" in await recall_hidden(
        await planned(id="e3"), history.path, finds()
    )
    both = await recall_hidden(await planned(id="e2 e3"), history.path, finds())
    assert both.count("[Tool Use: read_file]") == 1


async def test_lines_of_further_hits_show_what_matches() -> None:
    history = History()
    for number in range(10):
        history.user(f"{'padding ' * 100} the needle {number}")
    history.condense("a summary")
    ids = list(range(1, 11))
    found = await recall_hidden(Recall(("needles",)), history.path, finds(*ids))
    lines = [line for line in found.splitlines() if line.startswith("- e")]
    assert len(lines) == 4
    assert all("the needle" in line for line in lines)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "message"}, [1, 5, 8]),
        ({"kind": "read"}, [2, 3]),
        ({"kind": "failure"}, [6, 7]),
        ({"kind": "answer", "before": "5"}, [4]),
        ({"after": "e5"}, [6, 7, 8]),
        ({"kind": "message", "after": "1970-01-02"}, []),
    ],
)
async def test_recall_is_limited_to_a_kind_and_a_time(filters: dict[str, str], expected: list[int]) -> None:
    history = conversation()
    history.user("build it")
    history.add(AssistantMessage((ToolUse("t2", "execute_command", {"command": "make"}),)))
    failed = CallRecord("t2", "execute_command", CallFacts("command", query="make", exit_code=2))
    history.add(UserMessage((ToolResult("t2", "cannot link"),), source="tools", calls=(failed,)))
    denied = CallRecord("t3", "execute_command", CallFacts("command", query="make"), decision="denied")
    history.add(UserMessage((ToolResult("t3", "They said: not like that"),), source="tools", calls=(denied,)))
    history.condense("a summary")
    found = await recall_hidden(await planned(query="any", **filters), history.path, finds(*range(1, 9)))
    shown = {int(number) for number in re.findall(r"[\[(](?:Call |Result )?e(\d+):", found)}
    assert (shown == set(expected)) if expected else found.startswith("No hidden entry matches")
    assert await recall_hidden(await planned(**filters), history.path, finds()) == await recall_hidden(
        await planned(query="any", **filters), history.path, finds(*range(8, 0, -1))
    )


async def test_a_time_that_is_none_is_refused_with_its_form(bench: Bench) -> None:
    async def unused(wanted: Recall) -> str:
        raise AssertionError(wanted)

    context = replace(bench.context, recall=unused)
    failure = await plan_call(ToolUse("t", RecallHistory.name, {"query": "x", "before": "yesterday"}), context)
    assert "`before` takes an entry id" in failure.for_model
    failure = await plan_call(ToolUse("t", RecallHistory.name, {"queries": list("abcdef")}), context)
    assert "at most 5" in failure.for_model


async def test_nothing_found_lists_what_could_be_asked_for() -> None:
    history = conversation()
    history.condense("a summary")
    found = await recall_hidden(Recall(("zebra",)), history.path, finds())
    assert "No hidden entry matches" in found
    assert "- e1: the user: Use the blue paint" in found


async def test_many_hits_are_listed_after_the_best() -> None:
    history = History()
    for number in range(40):
        history.user(f"message {number}")
        history.answer("yes")
    history.condense("a summary")
    ids = [entry.id for entry in history.path if isinstance(entry.body, UserMessage)]
    found = await recall_hidden(Recall(("message",)), history.path, finds(*ids))
    assert found.count("[e") == 6
    assert found.count("\n- e") == 25


def test_the_excerpt_is_the_part_with_most_of_the_query() -> None:
    text = "x " * 5_000 + "the needle and the thread" + " y" * 5_000
    assert "needle and the thread" in excerpt(text, patterns(["needles", "thread"]), 1_500)
    assert len(excerpt(text, patterns(["needle"]), 1_500)) < 1_600
    assert excerpt("short", patterns(["nothing"]), 1_500) == "short"
    assert excerpt(text, patterns(["nothing"]), 1_500).startswith("x x")


def test_search_by_a_person_tells_branches_and_context_apart() -> None:
    history = conversation()
    head = history.log.head
    history.user("an abandoned branch")
    history.log.move(head)
    history.condense("a summary")
    found = found_entries(history.log.entries, history.path, [5, 3, 6, 99], "branch", "task")
    assert [(hit.entry_id, hit.on_path, hit.in_context) for hit in found] == [
        (5, False, False),
        (3, True, False),
        (6, True, True),
    ]
    assert found[0].excerpt == "an abandoned branch"
    assert len(effective_history(history.path)) == 1


async def test_the_tool_takes_queries_or_ids_and_needs_one_of_them(bench: Bench) -> None:
    asked: list[Recall] = []

    async def bring_back(wanted: Recall) -> str:
        asked.append(wanted)
        return f"found {len(asked)}"

    context = replace(bench.context, recall=bring_back)
    calls: list[dict[str, Any]] = [
        {"query": "the ladder"},
        {"queries": ["a", " ", "b"]},
        {"id": "3, 4"},
        {"query": "x", "id": "e5"},
    ]
    for number, given in enumerate(calls, 1):
        prepared = await plan_call(ToolUse("t", RecallHistory.name, given), context)
        outcome = await run_call(prepared, context)  # type: ignore[arg-type]
        assert outcome.for_model == f"found {number}"
    assert asked == [
        Recall(("the ladder",)),
        Recall(("a", "b")),
        Recall(entries=((3, 0), (4, 0))),
        Recall(entries=((5, 0),)),
    ]
    for arguments, said in (({}, "Give `queries`"), ({"id": "shed"}, "not an entry id")):
        failure = await plan_call(ToolUse("t", RecallHistory.name, arguments), context)
        assert said in failure.for_model
    failure = await plan_call(ToolUse("t", RecallHistory.name, {"query": "x"}), bench.context)
    assert "cannot be searched" in failure.for_model
