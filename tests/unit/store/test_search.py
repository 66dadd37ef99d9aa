"""The full text of tasks: what is found, by which words, and that the index is never behind a search."""

import asyncio
import sqlite3
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallFacts, CallRecord, TodosChanged, UserMessage
from roo_tui.store import Store, open_store
from roo_tui.store.search import BATCH


def said(words: str) -> UserMessage:
    return UserMessage((Text(words),), words=words)


def done(facts: CallFacts, output: str = "ok", tool: str = "tool", is_error: bool = False) -> UserMessage:
    return UserMessage((ToolResult("t", output, is_error),), source="tools", calls=(CallRecord("t", tool, facts),))


async def found(store: Store, query: str, task_id: str) -> list[int]:
    return [hit.entry_id for hit in await store.search.find(query, task_id=task_id)]


@pytest.fixture
async def store(tmp_path: Path):
    store = open_store(tmp_path / "roo.db")
    yield store
    await store.close()


async def test_entries_are_found_by_their_words_and_by_what_they_did(store: Store) -> None:
    task = await store.create_task("/w")
    bodies: list[Body] = [
        said("please mend the parser"),
        AssistantMessage(
            (Text("Looking."), ToolUse("t", "apply_diff", {"path": "src/tokens.py", "deep": {"a": ["x7"]}}))
        ),
        done(CallFacts("edit", "src/tokens.py", changed=("src/tokens.py",))),
        done(CallFacts("command", query="make", exit_code=2), "cannot link"),
        done(CallFacts("read", "notes.md"), "shopping: bread"),
        TodosChanged((("water the plants", "pending"),)),
    ]
    await store.append(task.id, bodies, parent=None)
    assert (await found(store, "which files were edited", task.id))[0] == 3
    assert (await found(store, "failing command", task.id))[0] == 4
    assert await found(store, "plants", task.id) == [6]
    assert await found(store, "x7", task.id) == [2]
    assert await found(store, "BREAD", task.id) == [5]
    assert await found(store, '"cannot link"', task.id) == [4]
    assert (await found(store, "what the user requested", task.id))[0] == 1


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("我们把数据库迁移到新服务器，然后更新配置。", ["数据库", "迁移", "库", "数据库在哪里迁移的"]),
        ("この設定ファイルを変更してください", ["設定ファイル", "設定", "ファイル"]),
        ("데이터베이스를 옮겼습니다", ["데이터베이스", "데이터"]),
    ],
)
async def test_words_inside_a_sentence_without_spaces_are_found(store: Store, text: str, queries: list[str]) -> None:
    task = await store.create_task("/w")
    await store.append(task.id, [said("nothing"), said(text), said("一般")], parent=None)
    for query in queries:
        assert await found(store, query, task.id) == [2], query


async def test_a_word_is_not_a_prefix_unless_it_occurs_nowhere(store: Store) -> None:
    task = await store.create_task("/w")
    await store.append(
        task.id, [said("google goal goods"), said("we go home"), said("Datenbankmigration")], parent=None
    )
    assert await found(store, "go", task.id) == [2]
    assert await found(store, "Datenbank", task.id) == [3]
    assert await found(store, "goo", task.id) == [1]


async def test_stop_words_find_nothing_beside_other_words(store: Store) -> None:
    task = await store.create_task("/w")
    await store.append(task.id, [said("what is the point of that"), said("port 8080"), said("die Farbe")], parent=None)
    assert await found(store, "what is the port", task.id) == [2]
    assert await found(store, "Was ist die Farbe", task.id) == [3]
    assert await found(store, "what is that", task.id) == [1]


@pytest.mark.parametrize("query", ["getSessionId", "session id", "get_session_id", "SessionId", "getsessionid"])
async def test_identifiers_are_found_by_their_parts(store: Store, query: str) -> None:
    task = await store.create_task("/w")
    await store.append(task.id, [said("nothing"), said("call getSessionId"), said("get_session_id")], parent=None)
    assert set(await found(store, query, task.id)) >= ({2} if query == "getsessionid" else {2, 3})


async def test_a_long_entry_is_found_by_what_one_part_of_it_says(store: Store) -> None:
    task = await store.create_task("/w")
    padding = "\n".join(f"line {number} of some listing" for number in range(3_000))
    long = done(CallFacts("read", "big.txt"), f"{padding}\nretry limit of the uploader is seven\n{padding}")
    others = [said(f"the uploader number {number}") for number in range(5)]
    await store.append(task.id, [*others, long], parent=None)
    assert (await found(store, "retry limit uploader", task.id))[0] == 6


async def test_the_latest_of_what_fits_comes_first_but_not_what_hardly_fits(store: Store) -> None:
    task = await store.create_task("/w")
    bodies = [
        said("port of the staging server: 80"),
        said("port of the staging server: 81"),
        said("a cold server"),
    ]
    await store.append(task.id, bodies, parent=None)
    assert await found(store, "latest port of the staging server", task.id) == [2, 1, 3]
    assert await found(store, "port of the staging server", task.id) == [2, 1, 3]


async def test_the_reason_for_a_denial_counts_as_the_users_words(store: Store) -> None:
    task = await store.create_task("/w")
    denied = UserMessage(
        (ToolResult("t", "They said: keep the staging branch", True),),
        source="tools",
        calls=(CallRecord("t", "execute_command", CallFacts("command", query="git branch -D x"), decision="denied"),),
    )
    answer = AssistantMessage((Text("I can keep the staging branch as it is."),))
    await store.append(task.id, [answer, denied, answer], parent=None)
    assert (await found(store, "what the user asked about the staging branch", task.id))[0] == 2


async def test_the_index_catches_up_with_what_was_just_written(store: Store) -> None:
    task = await store.create_task("/w")
    parent = None
    for number in range(BATCH + 10):
        (entry,) = await store.append(task.id, [said(f"word{number:03}")], parent=parent)
        parent = entry.id
        if number % 20 == 0:
            assert await found(store, f"word{number:03}", task.id) == [entry.id]
    assert await found(store, f"word{BATCH + 9:03}", task.id) == [BATCH + 10]


async def test_search_is_of_one_task_or_of_all_and_other_branches_count(store: Store) -> None:
    one, two = await store.create_task("/w"), await store.create_task("/w")
    await store.append(one.id, [said("apples"), said("pears")], parent=None)
    await store.append(one.id, [said("apples again")], parent=1)
    await store.append(two.id, [said("apples too")], parent=None)
    assert sorted(await found(store, "apples", one.id)) == [1, 3]
    assert {(hit.task_id, hit.entry_id) for hit in await store.search.find("apples")} == {
        (one.id, 1),
        (one.id, 3),
        (two.id, 1),
    }


async def test_what_a_recall_gave_is_not_found_again(store: Store) -> None:
    task = await store.create_task("/w")
    calls = AssistantMessage((ToolUse("t", "recall_history", {"query": "needle"}),))
    await store.append(task.id, [said("a needle"), calls, done(CallFacts(), "a needle", "recall_history")], parent=None)
    assert await found(store, "needle", task.id) == [1]


async def test_index_is_filled_in_the_background_by_whole_batches(store: Store) -> None:
    task = await store.create_task("/w")
    await store.append(task.id, [said(f"n{number}") for number in range(BATCH * 2)], parent=None)
    filling = store.search._filling
    assert filling is not None
    await asyncio.wait([filling])
    query = "SELECT newest FROM search_progress"
    assert await store._database.run(lambda connection: connection.execute(query).fetchall()) == [(BATCH * 2,)]


async def test_database_of_an_earlier_version_gets_its_index(tmp_path: Path) -> None:

    store = open_store(tmp_path / "roo.db")
    task = await store.create_task("/w")
    await store.append(task.id, [said("old words")], parent=None)
    await store.close()
    with sqlite3.connect(tmp_path / "roo.db") as connection:
        for name in ("search_passages", "search_words", "search_progress"):
            connection.execute(f"DROP TABLE {name}")
        migrations = resources.files("roo_tui.store.migrations")
        connection.executescript((migrations / "0002_search.sql").read_text("utf-8"))
        connection.execute("INSERT INTO search_progress VALUES (?, 1)", (task.id,))
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    store = open_store(tmp_path / "roo.db")
    assert await found(store, "old", task.id) == [1]
    await store.close()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60), st.text(max_size=60))
async def test_no_query_and_no_text_breaks_the_search(store: Store, text: str, query: str) -> None:
    task = await store.create_task("/w")
    await store.append(task.id, [said(text)], parent=None)
    assert await found(store, query, task.id) in ([], [1])
    assert await found(store, f'{query}" OR NEAR( * ^ words:', task.id) in ([], [1])
