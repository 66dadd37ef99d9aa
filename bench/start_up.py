"""How long until the prompt takes a key, beside a bare Textual app with a field?"""

import argparse
from collections.abc import Sequence

from bench.probe import Terminal
from bench.programs import FLOOR_PROMPT, ROO_PROMPT, alternating, floor, folders, ready, roo
from bench.report import Report, figure, run

_STARTS = 3


def answer(options: argparse.Namespace) -> Report:
    """Measure; each round starts either program three times, with an empty home."""
    found: dict[str, list[dict[str, float]]] = {"ours": [], "floor": []}
    for order in alternating(options.rounds):
        for who in order:
            for _ in range(_STARTS):
                with folders() as (home, workspace):
                    program = roo(home, workspace) if who == "ours" else floor("input")
                    with program as terminal:
                        found[who].append(_start(terminal, ROO_PROMPT if who == "ours" else FLOOR_PROMPT))
    ours, theirs = found["ours"], found["floor"]
    return Report(
        "start_up",
        (
            figure("ready prompt", "ms", ours, "ready", theirs, 2.0),
            figure("CPU until then", "s", ours, "cpu", theirs),
            figure("CPU until quiet", "s", ours, "settled", theirs),
            figure("memory when quiet", "MB", ours, "memory", theirs),
            figure("idle CPU", "%", ours, "idle", target=1.0),
        ),
    )


def _start(terminal: Terminal, prompt: str) -> dict[str, float]:
    measured = {"ready": ready(terminal, prompt), "cpu": terminal.cpu()}
    measured["settled"] = terminal.quiet(20)
    measured["memory"] = terminal.memory()
    before = terminal.cpu()
    terminal.rest(4)
    measured["idle"] = (terminal.cpu() - before) * 25
    return measured


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement; returns 1 where a target is missed."""
    return run(answer, argv, name="start_up", question=__doc__)
