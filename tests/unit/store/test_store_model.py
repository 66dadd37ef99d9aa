"""Any sequence of operations leaves the store equal to a plain model in memory, across reopening."""

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import AssistantMessage, UserMessage
from roo_tui.domain.errors import StoreError
from roo_tui.store import Store, open_store

WORDS = st.text(max_size=12)
STEP = st.one_of(
    st.tuples(st.just("append"), st.lists(WORDS, max_size=3), st.integers(0, 30), st.booleans(), st.booleans()),
    st.tuples(st.just("move_head"), st.integers(0, 30)),
    st.tuples(st.just("enqueue"), WORDS),
    st.tuples(st.just("edit_queued"), st.integers(0, 5), WORDS),
    st.tuples(st.just("remove_queued"), st.integers(0, 5)),
    st.tuples(st.just("draft"), WORDS),
    st.tuples(st.just("reopen")),
)


@dataclass
class Model:
    """What a task is, as plain lists."""

    entries: list[tuple[int, int | None, UserMessage]] = field(default_factory=list)
    moves: list[tuple[int | None, int | None]] = field(default_factory=list)
    head: int | None = None
    queue: dict[int, str] = field(default_factory=dict)
    draft: AssistantMessage | None = None


def message(words: str) -> UserMessage:
    return UserMessage((Text(words),), words=words)


async def step_both(store: Store, task_id: str, model: Model, step: tuple) -> None:
    name, *values = step
    queued = list(model.queue)
    if name == "append":
        words, parent, unqueue, drop = values
        parent = parent % (len(model.entries) + 1) or None
        sent = queued[0] if unqueue and queued else None
        bodies = [message(text) for text in words]
        await store.append(task_id, bodies, parent=parent, unqueue=sent, drop_draft=drop)
        for body in bodies:
            model.entries.append((len(model.entries) + 1, parent, body))
            parent = model.head = len(model.entries)
        if sent is not None:
            del model.queue[sent]
        if drop:
            model.draft = None
    elif name == "move_head":
        to = values[0] % (len(model.entries) + 1) or None
        await store.move_head(task_id, to)
        model.moves.append((model.head, to))
        model.head = to
    elif name == "enqueue":
        item = await store.enqueue(task_id, values[0])
        assert item.id not in model.queue
        model.queue[item.id] = item.words
    elif name == "edit_queued" and queued:
        item = await store.edit_queued(task_id, queued[values[0] % len(queued)], values[1])
        model.queue[item.id] = values[1]
    elif name == "remove_queued":
        if values[0] < len(queued):
            await store.remove_queued(task_id, queued[values[0]])
            del model.queue[queued[values[0]]]
        else:
            try:
                await store.remove_queued(task_id, 10**6)
                raise AssertionError("removed what was not there")
            except StoreError:
                pass
    elif name == "draft":
        model.draft = AssistantMessage((Text(values[0]),))
        await store.save_draft(task_id, model.draft)


async def run(steps: list[tuple], path: Path) -> None:
    store = open_store(path)
    task_id = (await store.create_task("/w")).id
    model = Model()
    for step in [*steps, ("reopen",)]:
        if step == ("reopen",):
            await store.close()
            store = open_store(path)
        else:
            await step_both(store, task_id, model, step)
        loaded = await store.load(task_id)
        assert [(entry.id, entry.parent_id, entry.body) for entry in loaded.entries] == model.entries
        assert [(move.from_id, move.to_id) for move in loaded.moves] == model.moves
        assert {item.id: item.words for item in loaded.queue} == model.queue
        assert list(model.queue) == [item.id for item in loaded.queue]
        assert (loaded.head, loaded.draft, loaded.info.entries) == (model.head, model.draft, len(model.entries))
    await store.close()


@settings(max_examples=40, deadline=None)
@given(st.lists(STEP, max_size=15))
def test_any_sequence_of_operations_equals_the_model(steps):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(steps, Path(folder) / "roo.db"))
