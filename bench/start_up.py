"""How long until the prompt takes a key, beside a bare Textual app with a field?"""

import argparse
from collections.abc import Sequence

from bench.probe import Terminal
from bench.programs import FLOOR_PROMPT, ROO_PROMPT, alternating, floor, folders, ready, roo
from bench.report import Report, figure, run

_STARTS = 3
_UNTIL_IDLE_S, _IDLE_S = 12, 10


def answer(options: argparse.Namespace) -> Report:
    """Measure; each round starts either program three times, with an empty home."""
    found: dict[str, list[dict[str, float]]] = {"ours": [], "floor": []}
    idle: list[dict[str, float]] = []
    for order in alternating(options.rounds):
        for who in order:
            for _ in range(_STARTS):
                with folders() as (home, workspace):
                    program = roo(home, workspace) if who == "ours" else floor("input")
                    with program as terminal:
                        found[who].append(_start(terminal, ROO_PROMPT if who == "ours" else FLOOR_PROMPT))
                        if who == "ours" and len(idle) < options.rounds:
                            idle.append({"idle": _idle(terminal)})
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
    )


def _start(terminal: Terminal, prompt: str) -> dict[str, float]:
    measured = {"ready": ready(terminal, prompt), "cpu": terminal.cpu()}
    measured["settled"] = terminal.quiet(20)
    measured["memory"] = terminal.memory()
    return measured


def _idle(terminal: Terminal) -> float:
    """Return the percent of a core it takes when nobody has typed for a while."""
    terminal.rest(_UNTIL_IDLE_S)
    before = terminal.cpu()
    terminal.rest(_IDLE_S)
    return (terminal.cpu() - before) * 100 / _IDLE_S


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement; returns 1 where a target is missed."""
    return run(answer, argv, name="start_up", question=__doc__)
