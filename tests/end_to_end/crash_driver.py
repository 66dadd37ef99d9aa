"""Runs one eventful task and dies by SIGKILL at a chosen point, then opens the task again and looks.

    python -m tests.end_to_end.crash_driver FOLDER --points 5 17 40
    python -m tests.end_to_end.crash_driver FOLDER --spread 20 [--part 1/4]      (0: every point)
    python -m tests.end_to_end.crash_driver FOLDER --random 10 --seed 7 [--part 1/4]

A point is each side of every write to the store, of every tool's run, and of every snapshot and restore of files; with
`--random` it is any step of the event loop. Each point gets a forked process of its own that dies there, and a second
one that resumes. One JSON object a point is printed.
"""

import argparse
import asyncio
import json
import os
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from roo_tui import settings
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import ToolUse
from roo_tui.domain.entries import AssistantMessage, UserMessage
from roo_tui.domain.events import EntriesAppended
from roo_tui.engine import Engine, tool_calls
from roo_tui.store import Store
from roo_tui.store.checkpoints import Checkpoints
from roo_tui.tools.registry import specs
from tests.support.engines import Recorder, allow_all, session_of
from tests.support.scripted_model import ScriptedModel

STORE_WRITES = ("append", "save_draft", "move_head", "enqueue", "put_blob", "set_value", "set_title", "create_task")
FILE_STEPS = ("snapshot", "restore")


def command(number: int) -> ToolUse:
    """A call that leaves a mark each time it runs."""
    return ToolUse(f"call{number}", "execute_command", {"command": f"echo ran{number} >> ran.txt"})


def answers() -> list[Any]:
    write = ToolUse("write1", "write_to_file", {"path": "made.txt", "content": "made\n"})
    return [
        [command(1), command(2)],
        "Both ran. " * 40,
        [write, command(3)],
        "Written. " * 40,
        command(4),
        "After the condense.",
        "After the rewind.",
    ]


class Points:
    """Counts the points as they are passed and kills the process at the chosen one."""

    def __init__(self, fatal: int) -> None:
        self.passed = 0
        self._fatal = fatal

    def reach(self) -> None:
        self.passed += 1
        if self.passed == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def watched(*args: Any, **kwargs: Any) -> Any:
            self.reach()
            result = await work(*args, **kwargs)
            self.reach()
            return result

        return watched


def watch_effects(points: Points) -> None:
    """Reach a point on each side of whatever changes the store or the files."""
    for name in STORE_WRITES:
        setattr(Store, name, points.around(getattr(Store, name)))
    for name in FILE_STEPS:
        setattr(Checkpoints, name, points.around(getattr(Checkpoints, name)))
    tool_calls.run_call = points.around(tool_calls.run_call)  # type: ignore[attr-defined, assignment]


def watch_steps(points: Points) -> None:
    """Reach a point before each step of the event loop, while the store's thread and commands do what they do."""
    step = asyncio.Handle._run

    def watched(handle: asyncio.Handle) -> None:
        points.reach()
        step(handle)

    asyncio.Handle._run = watched  # type: ignore[method-assign, assignment]


Watch = Callable[[Points], None]


async def live(folder: Path, told: Callable[[str], None]) -> None:
    """The task: calls, an edit, a condense, a rewind with files, its undo, and more turns."""
    engine, recorder = await opened(folder, ScriptedModel(answers()))

    async def tell() -> None:
        async for event in told_stream:
            if isinstance(event, EntriesAppended):
                told(json.dumps([entry.id for entry in event.entries]))

    told_stream = engine.subscribe()
    telling = asyncio.create_task(tell())
    await engine.new_task()
    await recorder.turn("run both")
    await recorder.turn("now write")
    await engine.condense()
    await engine.idle()
    await recorder.turn("run the fourth")
    target = next(p for p in await engine.read.rewind_points() if p.kind == "user" and p.words == "now write")
    await engine.rewind(target.entry_id, files=True)
    await engine.undo()
    await recorder.turn("go on")
    await engine.close()
    await telling


async def opened(folder: Path, model: ScriptedModel) -> tuple[Engine, Recorder]:
    workspace = folder / "app"
    workspace.mkdir(exist_ok=True)
    (workspace / "kept.txt").write_text("kept\n")
    engine = Engine(workspace, settings.load(workspace=workspace), models=lambda _: model)
    await engine.start()
    return engine, Recorder(engine, allow_all)


async def resume(folder: Path, acknowledged: set[int]) -> dict[str, Any]:
    """Open the task as `--continue` does, check it, and take one more turn."""
    model = ScriptedModel(["Going on."])
    engine, recorder = await opened(folder, model)
    latest = await engine.latest_task()
    if latest is None:
        await engine.close()
        return {"lost": sorted(acknowledged), "task": False}
    await engine.open_task(latest)
    assert engine.read.session is not None
    log = session_of(engine).task.log
    lost = sorted(acknowledged - {entry.id for entry in log.entries})
    queue = len(engine.read.queue())
    end = await recorder.turn("and now?")
    request = model.requests[0]
    assert request.tools == specs()
    path = log.path()
    made = (folder / "app" / "made.txt").exists()
    wrote = any(
        record.call_id == "write1" and not record.synthetic and record.decision != "none"
        for entry in path
        if isinstance(entry.body, UserMessage)
        for record in entry.body.calls
    )
    unknown = any(
        record.call_id == "write1" and record.synthetic
        for entry in path
        if isinstance(entry.body, UserMessage)
        for record in entry.body.calls
    )
    asked = any(
        block == ToolUse("write1", "write_to_file", {"path": "made.txt", "content": "made\n"})
        for entry in path
        if isinstance(entry.body, AssistantMessage)
        for block in entry.body.blocks
    )
    await engine.close()
    ran = (folder / "app" / "ran.txt").read_text().split() if (folder / "app" / "ran.txt").exists() else []
    return {
        "task": True,
        "lost": lost,
        "ran_twice": sorted({line for line in ran if ran.count(line) > 1}),
        "end": end.reason,
        "queue": queue,
        "files_match": (made == wrote) or unknown or (made and asked),
    }


def in_child(work: Callable[[Callable[[str], None]], None]) -> tuple[list[str], int]:
    """Run work in a forked process; return the lines it told and how it ended."""
    reading, writing = os.pipe()

    def tell(line: str) -> None:
        os.write(writing, line.encode() + b"\n")

    pid = os.fork()
    if pid == 0:
        os.close(reading)
        status = 1
        try:
            work(tell)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        lines = pipe.read().decode().splitlines()
    return lines, os.waitpid(pid, 0)[1]


def at_point(folder: Path, point: int, watch: Watch) -> dict[str, Any]:
    """Live and die at the point, resume, and return what was seen."""
    folder.mkdir(parents=True)
    os.environ["ROO_TUI_HOME"] = str(folder / "home")

    def die(told: Callable[[str], None]) -> None:
        watch(Points(point))
        asyncio.run(live(folder, told))

    lines, status = in_child(die)
    acknowledged = {entry_id for line in lines for entry_id in json.loads(line)}

    def look(told: Callable[[str], None]) -> None:
        told(json.dumps(asyncio.run(resume(folder, acknowledged))))

    found, resumed = in_child(look)
    seen = json.loads(found[0]) if found else {}
    return {"point": point, "killed": os.WIFSIGNALED(status), "resumed": resumed == 0, **seen}


def count(folder: Path, watch: Watch) -> int:
    """Return how many points a whole life passes."""
    folder.mkdir(parents=True)
    os.environ["ROO_TUI_HOME"] = str(folder / "home")

    def whole(told: Callable[[str], None]) -> None:
        points = Points(0)
        watch(points)
        asyncio.run(live(folder, lambda _: None))
        told(str(points.passed))

    return int(in_child(whole)[0][0])


def chosen(arguments: argparse.Namespace, watch: Watch) -> list[int]:
    """Return the points to die at."""
    if arguments.points:
        return list(arguments.points)
    total = count(arguments.folder / "count", watch)
    if arguments.random:
        # A life takes a few steps more or less from run to run: the last ones are not always reached.
        points = random.Random(arguments.seed).sample(range(1, total * 19 // 20), arguments.random)
    else:
        wanted = min(arguments.spread or total, total)
        points = [1 + number * (total - 1) // max(wanted - 1, 1) for number in range(wanted)]
    part, of = map(int, arguments.part.split("/"))
    return points[part - 1 :: of]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--points", type=int, nargs="*")
    parser.add_argument("--spread", type=int, default=20)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="1/1")
    arguments = parser.parse_args()
    watch = watch_steps if arguments.random else watch_effects
    # Loaded once here, not in every child.
    specs()
    TokenCounter().count_text("warm")
    for point in chosen(arguments, watch):
        print(json.dumps(at_point(arguments.folder / str(point), point, watch)), flush=True)


if __name__ == "__main__":
    main()
