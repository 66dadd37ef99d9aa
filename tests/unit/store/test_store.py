"""The store's methods against a real database file."""

import sqlite3

import pytest

from roo_tui.domain.blocks import Image, Opaque, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.entries import (
    Answered,
    AssistantMessage,
    CallFacts,
    CallRecord,
    CallStarted,
    Checkpoint,
    Noted,
    QueuedMessage,
    TodosChanged,
    Unknown,
    UserMessage,
)
from roo_tui.domain.errors import StoreError, TaskLocked, TaskNotFound
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, MaskItem, PassMetrics, Reduction, Toggle, Truncation
from roo_tui.domain.usage import Usage
from roo_tui.domain.views import CommandView, DiffView, FileView, ListView, TextView, TodoView, ToolView
from roo_tui.store import open_store
from roo_tui.store.codec import PAYLOAD_VERSION, decode, encode

HELLO = UserMessage((Text("hello"),), words="hello", source="typed")
ANSWER = AssistantMessage((Text("hi"),), provider="anthropic", model="m", usage=Usage(1, 2, 3, 4), cost_usd=0.25)
FIGURES = Reduction(
    trigger="automatic",
    shape="fresh",
    tokens_before=100,
    tokens_after=10,
    usage=Usage(5, 0, 0, 6),
    cost_usd=0.5,
    remarks=("a remark",),
    passes=(PassMetrics("first", 100, 50, operations=("keep",)),),
)
VIEWS: tuple[ToolView, ...] = (
    FileView("a.py", "text", 3, 9),
    DiffView("a.py", "old", "new", created=True),
    CommandView("ls", "a.py", 0),
    ListView("*.py", ("a.py",), 12),
    TodoView((("write it", "done"),)),
    TextView("words", markdown=True),
)
EVERY_BODY = (
    HELLO,
    UserMessage(
        (
            ToolResult("t1", (Text("seen"), Image("image/png", "AAAA", 3, 4)), is_error=True),
            ToolResult("t2", "plain"),
            Image("image/png", "BBBB"),
        ),
        source="tools",
        calls=tuple(
            CallRecord(f"t{number}", "tool", CallFacts("read", "a.py", (1, 9), True, "q", ("b",), 2), view, "hash", 1.5)
            for number, view in enumerate(VIEWS)
        ),
    ),
    AssistantMessage(
        (
            Thinking("hm", "signed", "anthropic", "m"),
            ToolUse("t1", "read_file", {"path": "ä.py", "nested": [1, 2.5, None, {"deep": True}]}),
            Opaque("anthropic", "m", {"type": "redacted_thinking", "data": "x"}),
        ),
        unsent=(Text("half"),),
        interrupted=True,
    ),
    ANSWER,
    CallStarted("t1"),
    Answered("q1", "allow", "yes", "t1"),
    Condense((1, 2), (Text("## Conversation Summary"),), FIGURES, ("left out",)),
    CondenseFailed("manual", "no", 529, "overloaded", "{}", True, 10, 0, 0.125),
    Truncation((1,), FIGURES, "too long"),
    Mask((MaskItem(1, 0, "result", 0, 5, "[seen in e2]", 2, "path"),), FIGURES),
    Mask((MaskItem(1, 0, "block", 0, 0, "[hidden]"),), FIGURES, "pictures", "too many pixels"),
    Toggle(7, False),
    Checkpoint("a" * 40, "b" * 40, ("a.py",)),
    TodosChanged((("one", "pending"), ("two", "in_progress"))),
    Noted("warning", "title", "detail"),
    Unknown({"kind": "from the future", "x": [1]}),
)


@pytest.fixture
async def store(tmp_path):
    store = open_store(tmp_path / "data" / "roo.db")
    yield store
    await store.close()


async def reopened(store):
    await store.close()
    return open_store(store._database.path)


@pytest.mark.parametrize("body", EVERY_BODY, ids=lambda body: body.kind)
def test_every_body_reads_as_it_was_written(body):
    assert decode(encode(body)) == body


def test_a_newer_version_is_kept_and_read_as_unknown():
    assert decode('{"kind":"noted","level":"info","title":"x"}', PAYLOAD_VERSION + 1) == Unknown(
        {"kind": "noted", "level": "info", "title": "x"}
    )


@pytest.mark.parametrize(
    ("text", "payload"),
    [
        ('{"kind":"hologram","size":3}', {"kind": "hologram", "size": 3}),
        ('{"kind":"user","blocks":[{"type":"smell"}]}', {"kind": "user", "blocks": [{"type": "smell"}]}),
        ("not json", {"text": "not json"}),
        ("[1]", {"text": "[1]"}),
    ],
)
def test_what_cannot_be_understood_is_kept_as_unknown(text, payload):
    assert decode(text) == Unknown(payload)


def test_numbers_that_json_does_not_have_survive():
    body = AssistantMessage((ToolUse("t", "f", {"most": float("inf"), "big": 2**80}),))
    assert decode(encode(body)) == body


async def test_lone_surrogates_are_replaced_and_the_same_is_returned_as_stored(store):
    task = await store.create_task("/w\udcff", title="t\ud800")
    bad = UserMessage((Text("a\ud800b"), ToolResult("t", "c\udfff")), words="a\ud800b")
    assistant = AssistantMessage((ToolUse("t", "f", {"k\ud800": ["v\ud800"]}),))
    entries = await store.append(task.id, [bad, assistant], parent=None)
    await store.save_draft(task.id, AssistantMessage((Text("\ud800"),)))
    await store.enqueue(task.id, "q\ud800")
    await store.set_value("key", ["\ud800"])
    loaded = await store.load(task.id)
    assert loaded.entries == entries
    assert entries[0].body.words == "a\ufffdb"
    assert entries[1].body.blocks[0].input == {"k\ufffd": ["v\ufffd"]}
    assert loaded.queue[0].words == "q\ufffd"
    assert loaded.draft.blocks == (Text("\ufffd"),)
    assert await store.get_value("key") == ["\ud800"]
    assert await store.get_blob(await store.put_blob("\ud800")) == "\ufffd"


async def test_a_replacement_character_that_was_there_stays(store):
    task = await store.create_task("/w")
    (entry,) = await store.append(task.id, [Noted("info", "\ufffd")], parent=None)
    assert entry.body == Noted("info", "\ufffd")


async def test_entries_are_numbered_chained_and_there_after_reopening(store):
    task = await store.create_task("/w", title="first")
    first = await store.append(task.id, EVERY_BODY[:3], parent=None, at_ms=5)
    second = await store.append(task.id, EVERY_BODY[3:], parent=3)
    store = await reopened(store)
    loaded = await store.load(task.id)
    assert [(entry.id, entry.parent_id) for entry in loaded.entries] == [
        (number, number - 1 or None) for number in range(1, len(EVERY_BODY) + 1)
    ]
    assert loaded.entries == first + second
    assert tuple(entry.body for entry in loaded.entries) == EVERY_BODY
    assert loaded.head == len(EVERY_BODY)
    assert loaded.entries[0].at_ms == 5
    await store.close()


async def test_one_append_sends_a_queued_message_and_drops_the_draft(store):
    task = await store.create_task("/w")
    first, second = await store.enqueue(task.id, "one"), await store.enqueue(task.id, "two")
    await store.save_draft(task.id, ANSWER)
    await store.append(task.id, [HELLO], parent=None, unqueue=first.id, drop_draft=True)
    loaded = await store.load(task.id)
    assert (loaded.queue, loaded.draft) == ((second,), None)
    assert (await store.enqueue(task.id, "three")).id > second.id


async def test_a_message_that_was_sent_is_not_sent_again(store):
    task = await store.create_task("/w")
    queued = await store.enqueue(task.id, "once")
    await store.append(task.id, [HELLO], parent=None, unqueue=queued.id)
    with pytest.raises(StoreError, match="no longer in the queue"):
        await store.append(task.id, [HELLO], parent=1, unqueue=queued.id)
    loaded = await store.load(task.id)
    assert (len(loaded.entries), loaded.head, loaded.info.entries) == (1, 1, 1)


async def test_a_queued_message_can_be_edited_and_removed(store):
    task = await store.create_task("/w")
    queued = await store.enqueue(task.id, "fisrt")
    assert await store.edit_queued(task.id, queued.id, "first") == QueuedMessage(queued.id, "first")
    assert (await store.load(task.id)).queue == (QueuedMessage(queued.id, "first"),)
    await store.remove_queued(task.id, queued.id)
    assert (await store.load(task.id)).queue == ()
    with pytest.raises(StoreError, match="sent or removed"):
        await store.edit_queued(task.id, queued.id, "again")


async def test_an_append_to_a_parent_that_does_not_exist_changes_nothing(store):
    task = await store.create_task("/w")
    with pytest.raises(StoreError, match="e7"):
        await store.append(task.id, [HELLO], parent=7)
    assert (await store.load(task.id)).entries == ()


async def test_an_append_without_entries_leaves_the_head(store):
    task = await store.create_task("/w")
    await store.append(task.id, [HELLO], parent=None)
    await store.save_draft(task.id, ANSWER)
    assert await store.append(task.id, [], parent=None, drop_draft=True) == ()
    loaded = await store.load(task.id)
    assert (loaded.head, loaded.draft) == (1, None)


async def test_the_head_moves_back_and_forth_and_new_entries_branch(store):
    task = await store.create_task("/w")
    await store.append(task.id, [HELLO, ANSWER], parent=None)
    back = await store.move_head(task.id, 1, files_before="t1", files_after="t2")
    (branch,) = await store.append(task.id, [ANSWER], parent=1)
    start = await store.move_head(task.id, None)
    forth = await store.move_head(task.id, 2, reason="undo")
    loaded = await store.load(task.id)
    assert (branch.id, branch.parent_id) == (3, 1)
    assert loaded.moves == (back, start, forth)
    assert [(move.id, move.from_id, move.to_id, move.reason) for move in loaded.moves] == [
        (1, 2, 1, "rewind"),
        (2, 3, None, "rewind"),
        (3, None, 2, "undo"),
    ]
    assert (back.files_before, back.files_after, loaded.head) == ("t1", "t2", 2)
    with pytest.raises(StoreError, match="e9"):
        await store.move_head(task.id, 9)


async def test_a_task_costs_what_its_entries_and_failed_attempts_cost(store):
    task = await store.create_task("/w")
    await store.append(task.id, [ANSWER, EVERY_BODY[6], EVERY_BODY[7], HELLO], parent=None)
    await store.spend(task.id, 1.0)
    assert (await store.find_task(task.id)).cost_usd == 0.25 + 0.5 + 0.125 + 1.0


async def test_tasks_are_listed_newest_first_and_by_workspace(tmp_path):
    clock = iter(range(1, 100))
    store = open_store(tmp_path / "roo.db", now_ms=lambda: next(clock))
    one = await store.create_task("/a", title="one")
    two = await store.create_task("/b", parent_task_id=one.id, parent_call_id="t1")
    three = await store.create_task("/a")
    await store.append(one.id, [HELLO], parent=None, at_ms=0)
    await store.set_title(two.id, "two")
    assert [task.id for task in await store.tasks()] == [one.id, three.id, two.id]
    assert [task.id for task in await store.tasks(workspace="/a", limit=1)] == [one.id]
    found = await store.find_task(two.id)
    assert (found.title, found.parent_task_id, found.parent_call_id, found.entries) == ("two", one.id, "t1", 0)
    await store.close()


async def test_a_task_is_found_by_a_unique_prefix_only(store):
    ids = sorted([(await store.create_task("/w")).id for _ in range(40)])
    assert (await store.find_task(ids[0])).id == ids[0]
    prefix = next(one[:n] for n in (1, 2, 3) for one in ids if sum(other[:n] == one[:n] for other in ids) == 1)
    assert (await store.find_task(f" {prefix}\n")).id.startswith(prefix)
    ambiguous = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)
    with pytest.raises(TaskNotFound, match="Several task ids"):
        await store.find_task(ambiguous)
    for nothing in ("", "zz", "%"):
        with pytest.raises(TaskNotFound, match="There is no task"):
            await store.find_task(nothing)


async def test_a_task_that_does_not_exist_is_named_by_every_method(store):
    for call in (
        store.load("none"),
        store.append("none", [HELLO], parent=None),
        store.move_head("none", None),
        store.save_draft("none", ANSWER),
        store.enqueue("none", "x"),
        store.set_title("none", "x"),
        store.spend("none", 1),
    ):
        with pytest.raises(TaskNotFound, match="none"):
            await call


async def test_blobs_are_kept_once_and_come_back_whole(store):
    text = "line of output\n" * 100_000
    name = await store.put_blob(text)
    assert await store.put_blob(text.encode()) == name
    assert await store.get_blob(name) == text
    assert await store.get_blob(await store.put_blob(b"\xff\x00")) == "\ufffd\x00"
    count = await store._database.run(lambda db: db.execute("SELECT count(*) FROM blobs").fetchone())
    assert count == (2,)
    with pytest.raises(StoreError, match="Run the command again"):
        await store.get_blob("0" * 64)


async def test_values_by_key_are_replaced(store):
    assert await store.get_value("ratios") is None
    await store.set_value("ratios", {"m": 1.25})
    await store.set_value("ratios", {"m": 1.5})
    assert await store.get_value("ratios") == {"m": 1.5}


async def test_a_second_opening_of_a_task_is_refused_until_the_first_is_released(store, tmp_path):
    other = open_store(store._database.path)
    lock = store.lock("abc")
    store.lock("def").release()
    with pytest.raises(TaskLocked, match="open in another roo-tui"):
        other.lock("abc")
    lock.release()
    lock.release()
    other.lock("abc").release()
    await other.close()


async def test_a_full_disk_is_reported_in_a_sentence_and_loses_nothing(store):
    task = await store.create_task("/w")
    await store.append(task.id, [HELLO], parent=None)
    (pages,) = await store._database.run(lambda db: db.execute("PRAGMA page_count").fetchone())
    await store._database.run(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone())
    with pytest.raises(StoreError, match="free some space"):
        await store.append(task.id, [UserMessage((Text("x" * 100_000),))], parent=1)
    await store._database.run(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchone())
    await store.append(task.id, [ANSWER], parent=1)
    assert [entry.id for entry in (await store.load(task.id)).entries] == [1, 2]


async def test_a_read_only_database_is_reported_in_a_sentence(store):
    task = await store.create_task("/w")
    await store._database.run(lambda db: db.execute("PRAGMA query_only = 1"))
    with pytest.raises(StoreError, match="read-only"):
        await store.append(task.id, [HELLO], parent=None)


def test_a_newer_database_is_refused(tmp_path):
    path = tmp_path / "roo.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StoreError, match="newer roo-tui"):
        open_store(path)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "roo.db"
    path.write_bytes(b"not a database at all, " * 100)
    with pytest.raises(StoreError, match="not a roo-tui database"):
        open_store(path)
    assert path.read_bytes().startswith(b"not a database")


async def test_a_damaged_database_is_reported_in_a_sentence(store):
    task = await store.create_task("/w")
    for number in range(50):
        await store.append(task.id, [Noted("info", "x" * 3000)], parent=number or None)
    await store.close()
    path = store._database.path
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xa5" * (len(content) - 4096 * 2)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        damaged = open_store(path)
        try:
            await damaged.load(task.id)
        finally:
            await damaged.close()


def test_a_folder_that_cannot_be_made_is_reported_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="ROO_TUI_HOME"):
        open_store(tmp_path / "file" / "roo.db")


async def test_a_closed_store_says_so(store):
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.tasks()
