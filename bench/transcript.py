"""Does a long task open at once, and does turning its pages stay as quick as in a short one?"""

import argparse
import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

from bench.probe import Terminal
from bench.programs import ROO_PROMPT, folders, ready, roo
from bench.report import Report, figure, run, share
from bench.server import markdown
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallRecord, UserMessage
from roo_tui.domain.usage import Usage
from roo_tui.store import open_store

LONG, SHORT = 10_000, 100
_BOUNCE = 20


def answer(options: argparse.Namespace) -> Report:
    """Measure; opening is from the start of the process to the last row and an echoed key."""
    found: dict[int, list[dict[str, float]]] = {LONG: [], SHORT: []}
    for number in range(options.rounds):
        for entries in (LONG, SHORT) if number % 2 else (SHORT, LONG):
            with folders() as (home, workspace):
                task_id = asyncio.run(_fill(home, workspace, entries))
                with roo(home, workspace, "--resume", task_id) as terminal:
                    found[entries].append(_round(terminal, entries, options.keys))
    long, short = found[LONG], found[SHORT]
    return Report(
        "transcript",
        (
            figure(f"open {LONG:,} entries", "ms", long, "open", target=1500),
            figure(f"open {LONG:,} entries, beside {SHORT}", "ms", long, "open", short),
            figure("page down p50", "ms", long, "p50", short),
            figure("page down p95", "ms", long, "p95", short, 1.3),
            figure(f"to the first row of {LONG:,} entries", "ms", long, "top", short),
            figure("memory", "MB", long, "memory", short),
        ),
        (f"{int(min(one['keys'] for one in long + short))} pages behind each figure of a round",),
    )


async def _fill(home: Path, workspace: Path, entries: int) -> str:
    """Make a task of questions, answers with a call, and results."""
    database = home / "data" / "tasks.sqlite3"
    database.parent.mkdir(parents=True)
    store = open_store(database)
    try:
        info = await store.create_task(str(workspace), title="A long one")
        bodies = [_body(number, entries) for number in range(1, entries + 1)]
        await store.append(info.id, bodies, parent=None)
        return info.id
    finally:
        await store.close()


def _body(number: int, last: int) -> Body:
    words = "".join(token for token, _ in zip(markdown(), range(60 + number % 140), strict=False))
    match number % 4:
        case 1:
            return UserMessage((Text(f"Question {number}: {words[:200]}"),), f"Question {number}: {words[:200]}")
        case 2:
            call = ToolUse(f"call{number}", "read_file", {"path": f"src/module_{number}.py"})
            return AssistantMessage((Text(f"I look at module {number}."), call), provider="anthropic", model="bench")
        case 3:
            result = ToolResult(f"call{number - 1}", words)
            return UserMessage((result,), source="tools", calls=(CallRecord(f"call{number - 1}", "read_file"),))
        case _:
            end = f"\n\nLAST-ROW {number}" if number == last else ""
            return AssistantMessage((Text(f"Answer {number}.\n\n{words}{end}"),), usage=Usage(900, 0, 0, 50))


def _round(terminal: Terminal, entries: int, keys: int) -> dict[str, float]:
    shown = terminal.shows(f"LAST-ROW {entries}", 60)
    echoed = ready(terminal, ROO_PROMPT)
    measured = {"open": max(echoed, (shown - terminal.began) * 1000)}
    terminal.quiet(20)
    times: list[float] = []
    while len(times) < keys:
        for _ in range(_BOUNCE):
            _page(terminal, b"\x1b[5~")
        times += [_page(terminal, b"\x1b[6~") for _ in range(_BOUNCE - 1)]
        _page(terminal, b"\x1b[6~")
    measured |= {"p50": share(times, 0.5), "p95": share(times, 0.95), "keys": float(len(times))}
    measured["memory"] = terminal.memory()
    terminal.write(b"\x1b[Z")
    terminal.rest(0.3)
    pressed = terminal.write(b"\x1b[1;5H\x1b[H")
    measured["top"] = (
        terminal.until(lambda one: re.search(r"Question 1:", one.text()) is not None, 20) - pressed
    ) * 1000
    return measured


def _page(terminal: Terminal, key: bytes) -> float:
    """Turn a page; returns the ms until the transcript shows another one (0 where it stays the same)."""
    before = terminal.lines[2:30]
    pressed = terminal.write(key)
    try:
        seen = terminal.until(lambda one: one.lines[2:30] != before, 1.0)
    except TimeoutError:
        return 0.0
    terminal.rest(0.08)
    return (seen - pressed) * 1000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement; returns 1 where a target is missed."""
    return run(answer, argv, name="transcript", question=__doc__)
