"""Bringing back what is hidden: the tool's arguments, and what the model gets for words and for ids."""

from collections.abc import Sequence
from dataclasses import replace
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
from roo_tui.tools.runner import plan_call, run_call
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


async def test_hidden_entries_come_back_with_their_ids() -> None:
    history = conversation()
    history.condense("a summary")
    found = await recall_hidden(Recall(("where is the ladder",)), history.path, finds(3, 1))
    assert found.startswith("[e3: result of read_file shed.md]\n[Tool Result]\nThe ladder is behind the door.")
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


async def test_the_last_of_what_fits_comes_first_if_asked_for() -> None:
    history = conversation()
    history.condense("a summary")
    asked: list[str] = []

    async def find(query: str) -> Sequence[int]:
        asked.append(query)
        return (1, 3, 4)

    assert (await recall_hidden(Recall(("what was said",)), history.path, find)).startswith("[e1:")
    assert (await recall_hidden(Recall(("the Latest thing said",)), history.path, find)).startswith("[e4:")
    assert "atest" not in asked[1]


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
    assert "needle and the thread" in excerpt(text, ["needles", "thread"])
    assert len(excerpt(text, ["needle"])) < 1_600
    assert excerpt("short", ["nothing"]) == "short"
    assert excerpt(text, ["nothing"]).startswith("x x")


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


async def test_the_tool_takes_a_query_or_an_id_and_needs_one_of_them(bench: Bench) -> None:
    asked: list[str] = []

    async def bring_back(wanted: str) -> str:
        asked.append(wanted)
        return f"found {wanted}"

    context = replace(bench.context, recall=bring_back)
    for given in ({"query": "the ladder"}, {"id": "e3"}, {"id": "3, 4"}, {"query": "x", "id": "e5"}):
        prepared = await plan_call(ToolUse("t", RecallHistory.name, given), context)
        outcome = await run_call(prepared, context)  # type: ignore[arg-type]
        assert outcome.for_model == f"found {asked[-1]}"
    assert asked == ["the ladder", "e3", "e3 e4", "e5"]
    failure = await plan_call(ToolUse("t", RecallHistory.name, {}), context)
    assert "Give `query`" in failure.for_model
    failure = await plan_call(ToolUse("t", RecallHistory.name, {"query": "x"}), bench.context)
    assert "cannot be searched" in failure.for_model
