"""How long until the prompt accepts a key, beside a bare Textual app with an input field?

Each round starts each program three times, with an empty home. One start of each comes before and does not count, so
the figures are those of a warm start: bytecode compiled, files in the page cache.
"""

import argparse
from collections.abc import Sequence

from bench.probe import Terminal
from bench.programs import FLOOR_PROMPT, ROO_PROMPT, alternating, floor, folders, ready, roo
from bench.report import Report, figure, run

_STARTS = 3
_UNTIL_QUIET_S, _UNTIL_IDLE_S, _IDLE_S = 60, 12, 10


def answer(options: argparse.Namespace) -> Report:
    """Measure; our program is watched idle once a round."""
    found: dict[str, list[dict[str, float]]] = {"ours": [], "floor": []}
    idle: list[dict[str, float]] = []
    for who in found:
        _start(who)
    for order in alternating(options.rounds):
        for who in order:
            found[who] += [_start(who) for _ in range(_STARTS)]
        idle.append({"idle": _idle()})
    ours, theirs = found["ours"], found["floor"]
    return Report(
        "start_up",
        (
            figure("ready prompt", "ms", ours, "ready", theirs, 2.0),
            figure("CPU until then", "s", ours, "cpu", theirs),
            figure("CPU until quiet", "s", ours, "settled", theirs),
            figure("memory when quiet", "MB", ours, "memory", theirs),
            figure("idle CPU", "%", idle, "idle", target=1.0),
        ),
        (f"{options.rounds * _STARTS} warm starts of each program: bytecode compiled, files in the page cache.",),
    )


def _start(who: str) -> dict[str, float]:
    """Start one of the two programs and return what that took."""
    with folders() as (home, workspace), roo(home, workspace) if who == "ours" else floor("input") as terminal:
        measured = {"ready": ready(terminal, ROO_PROMPT if who == "ours" else FLOOR_PROMPT), "cpu": terminal.cpu()}
        measured["settled"] = terminal.quiet(_UNTIL_QUIET_S)
        measured["memory"] = terminal.memory()
        return measured


def _idle() -> float:
    """Return the percent of a core our program takes when nobody has typed for a while."""
    with folders() as (home, workspace), roo(home, workspace) as terminal:
        ready(terminal, ROO_PROMPT)
        terminal.rest(_UNTIL_IDLE_S)
        return _percent(terminal, _IDLE_S)


def _percent(terminal: Terminal, seconds: float) -> float:
    before = terminal.cpu()
    terminal.rest(seconds)
    return (terminal.cpu() - before) * 100 / seconds


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and return its exit code."""
    return run(answer, argv, name="start_up", question=__doc__)
