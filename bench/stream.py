"""What does a streamed answer cost in CPU and in late keys, beside the smallest program that shows one?

In each round a program streams 10,000 tokens at a steady pace while keys are typed, then 10,000 as fast as they come,
then at a steady pace again below those answers. A key that is not echoed within five seconds, or an answer that is not
shown to its end, fails the bench.
"""

import argparse
import random
import time
from collections.abc import Sequence

from bench.probe import Terminal
from bench.programs import FLOOR_PROMPT, ROO_PROMPT, alternating, floor, folders, provider, ready, roo
from bench.report import Report, figure, run, share
from bench.server import END

_TOKENS = 10_000
_PACE = 300
_KEYS = 200
_IDLE_KEYS = 60
_UNTIL_QUIET_S = 60


def answer(options: argparse.Namespace) -> Report:
    """Measure; a round takes about three minutes."""
    found: dict[str, list[dict[str, float]]] = {"ours": [], "floor": []}
    chance = random.Random(7)
    with provider() as url:
        for order in alternating(options.rounds):
            for who in order:
                with folders() as (home, workspace):
                    program = roo(home, workspace, url=url) if who == "ours" else floor("lines", url)
                    with program as terminal:
                        ready(terminal, ROO_PROMPT if who == "ours" else FLOOR_PROMPT)
                        found[who].append(_round(terminal, options.keys, chance))
    ours, theirs = found["ours"], found["floor"]
    figures = [figure(f"idle echo {part}", "ms", ours, f"idle {part}", theirs) for part in ("p50", "p99")]
    for place in ("first", "with an answer above"):
        figures += [
            figure(f"{place}: echo p50", "ms", ours, f"{place} p50", theirs),
            figure(f"{place}: echo p99", "ms", ours, f"{place} p99", theirs, 1.5),
            figure(f"{place}: CPU", "s", ours, f"{place} cpu", theirs, 1.5),
        ]
    figures += [
        figure("as fast as possible: time", "s", ours, "burst time", theirs),
        figure("as fast as possible: CPU", "s", ours, "burst cpu", theirs, 1.5),
        figure("memory after", "MB", ours, "memory", theirs),
    ]
    keys = min(one[f"{place} keys"] for one in ours + theirs for place in ("first", "with an answer above"))
    return Report(
        "stream",
        tuple(figures),
        (
            f"At least {keys:.0f} keys typed for each echo figure of a round; while idle {_IDLE_KEYS}.",
            "Warm: each program has answered one short request before it is measured.",
        ),
    )


def _round(terminal: Terminal, keys: int, chance: random.Random) -> dict[str, float]:
    measured: dict[str, float] = {}
    terminal.quiet(_UNTIL_QUIET_S)
    # The first request loads the provider's SDK, which is not part of streaming.
    terminal.send("stream 20 as 1")
    terminal.shows(f"{END}-1", 60)
    terminal.quiet(_UNTIL_QUIET_S)
    idle = terminal.echo(_IDLE_KEYS, chance)
    measured |= {"idle p50": share(idle, 0.5), "idle p99": share(idle, 0.99)}
    measured |= _paced(terminal, 2, "first", keys, chance)
    before = terminal.cpu()
    sent = terminal.send(f"stream {_TOKENS} as 3")
    measured["burst time"] = terminal.shows(f"{END}-3", 120) - sent
    measured["burst cpu"] = terminal.quiet(_UNTIL_QUIET_S) - before
    measured |= _paced(terminal, 4, "with an answer above", keys, chance)
    measured["memory"] = terminal.memory()
    return measured


def _paced(terminal: Terminal, number: int, name: str, keys: int, chance: random.Random) -> dict[str, float]:
    before = terminal.cpu()
    ends = terminal.send(f"stream {_TOKENS} at {_PACE} as {number}") + _TOKENS / _PACE
    terminal.rest(0.5)
    times = terminal.echo(10 * keys, chance, going=lambda: time.perf_counter() < ends - 0.5)
    terminal.shows(f"{END}-{number}", 120)
    cpu = terminal.quiet(_UNTIL_QUIET_S) - before
    return {
        f"{name} p50": share(times, 0.5),
        f"{name} p99": share(times, 0.99),
        f"{name} cpu": cpu,
        f"{name} keys": float(len(times)),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and return its exit code."""
    return run(answer, argv, name="stream", question=__doc__, keys=_KEYS)
