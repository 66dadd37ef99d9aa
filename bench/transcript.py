"""Does a long task open at once, and is a page turned as quickly as in a short one?

A task of 10,000 entries is opened and paged through beside one of 400, which is long enough for every page turned to
show other rows. A page that does not change within five seconds fails the bench.
"""

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

LONG, SHORT = 10_000, 400
_KEYS = 80
_BOUNCE = 20
_LONGEST_PAGE_S = 5.0
_SETTLED_S = 0.05
_PAGE_UP, _PAGE_DOWN, _SHIFT_TAB, _TO_THE_TOP = b"\x1b[5~", b"\x1b[6~", b"\x1b[Z", b"\x1b[1;5H\x1b[H"


def answer(options: argparse.Namespace) -> Report:
    """Measure; opening lasts from the start of the process until the last row is shown and a key is echoed."""
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
            figure(f"open {LONG:,} entries, compared", "ms", long, "open", short),
            figure("page down p50", "ms", long, "p50", short),
            figure("page down p95", "ms", long, "p95", short, 1.3),
            figure(f"to the first row of {LONG:,} entries", "ms", long, "top", short),
            figure("memory", "MB", long, "memory", short),
        ),
        (
            f"{int(min(one['keys'] for one in long + short))} pages turned for each figure of a round.",
            "Opening is warm: each task was just written, so its files are in the page cache.",
        ),
        floor=f"{SHORT} entries",
    )


async def _fill(home: Path, workspace: Path, entries: int) -> str:
    """Store a task of questions, answers with calls, and results; return its id."""
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
            return AssistantMessage((Text(f"Reading module {number}."), call), provider="anthropic", model="bench")
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
    terminal.quiet(60)
    times: list[float] = []
    while len(times) < keys:
        for _ in range(_BOUNCE):
            _page(terminal, _PAGE_UP)
        times += [_page(terminal, _PAGE_DOWN) for _ in range(_BOUNCE)]
    measured |= {"p50": share(times, 0.5), "p95": share(times, 0.95), "keys": float(len(times))}
    measured["memory"] = terminal.memory()
    terminal.write(_SHIFT_TAB)
    terminal.rest(0.3)
    pressed = terminal.write(_TO_THE_TOP)
    shown = terminal.until(lambda one: re.search(r"Question 1:", one.text()) is not None, 20, "the first row")
    measured["top"] = (shown - pressed) * 1000
    return measured


def _page(terminal: Terminal, key: bytes) -> float:
    """Turn a page and return the ms until the transcript shows another one.

    Raises:
        TimeoutError: the page stayed the same.
    """
    before = terminal.lines[2:30]
    pressed = terminal.write(key)
    seen = terminal.until(lambda one: one.lines[2:30] != before, _LONGEST_PAGE_S, "another page")
    terminal.rest(_SETTLED_S)
    return (seen - pressed) * 1000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and return its exit code."""
    return run(answer, argv, name="transcript", question=__doc__, keys=_KEYS)
