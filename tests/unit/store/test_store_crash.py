"""What was acknowledged is there after the process was killed."""

import asyncio
import signal
import subprocess
import sys

import pytest

from roo_tui.domain.errors import TaskLocked
from roo_tui.store import open_store

APPENDING = """
import asyncio, sys
from pathlib import Path
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import AssistantMessage, UserMessage
from roo_tui.store import open_store

async def main():
    store = open_store(Path(sys.argv[1]))
    task = await store.create_task("/w")
    lock = store.lock(task.id)
    print(task.id, flush=True)
    parent = None
    while True:
        queued = await store.enqueue(task.id, "next")
        await store.save_draft(task.id, AssistantMessage((Text("draft"),)))
        bodies = [UserMessage((Text("x" * 5000),), words=str(n)) for n in range(2)]
        parent = (await store.append(task.id, bodies, parent=parent, unqueue=queued.id, drop_draft=True))[-1].id
        print(parent, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("acknowledgements", [1, 2, 7, 40])
async def test_every_acknowledged_entry_is_there_after_a_kill(tmp_path, acknowledgements):
    path = tmp_path / "roo.db"
    process = subprocess.Popen([sys.executable, "-c", APPENDING, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    task_id = process.stdout.readline().strip()
    for _ in range(acknowledgements):
        process.stdout.readline()
    store = open_store(path)
    with pytest.raises(TaskLocked):
        store.lock(task_id)
    process.send_signal(signal.SIGKILL)
    printed = process.stdout.read().split("\n")[:-1]
    process.wait()
    process.stdout.close()
    store.lock(task_id).release()
    acknowledged = int(printed[-1]) if printed else 2 * acknowledgements
    loaded = await store.load(task_id)
    assert len(loaded.entries) >= acknowledged
    assert len(loaded.entries) % 2 == 0
    assert [entry.id for entry in loaded.entries] == list(range(1, len(loaded.entries) + 1))
    assert loaded.head == len(loaded.entries)
    assert len(loaded.queue) <= 1
    check = await store._database.run(lambda db: db.execute("PRAGMA integrity_check").fetchone())
    assert check == ("ok",)
    await store.close()


async def test_a_cancelled_append_is_stored_all_the_same(tmp_path):
    from roo_tui.domain.entries import Noted

    store = open_store(tmp_path / "roo.db")
    task = await store.create_task("/w")
    append = asyncio.create_task(store.append(task.id, [Noted("info", "kept")], parent=None))
    await asyncio.sleep(0)
    append.cancel()
    with pytest.raises(asyncio.CancelledError):
        await append
    assert (await store.load(task.id)).entries[0].body == Noted("info", "kept")
    await store.close()
