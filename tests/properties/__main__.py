"""Play thousands of sequences on every core and print what happened in them: `python -m tests.properties`."""

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.support.played import Broken, Figures
from tests.support.sequence_runs import play_many

_PART, _WHOLE_PART = 250, 25


def main() -> int:
    """Return 0 if every law held."""
    parser = argparse.ArgumentParser(prog="python -m tests.properties", description=__doc__)
    parser.add_argument("--sequences", type=int, default=10_000, help="how many run in memory")
    parser.add_argument("--whole", type=int, default=200, help="how many run with SQLite, threads and git besides")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--start", type=int, default=0, help="the first seed; other seeds are other sequences")
    asked = parser.parse_args()
    began = time.monotonic()
    total, whole, broken = Figures(), Figures(), []
    with ProcessPoolExecutor(asked.processes) as pool:
        parts = {
            pool.submit(_part, seed, count, is_whole): is_whole
            for is_whole, every, size in ((False, asked.sequences, _PART), (True, asked.whole, _WHOLE_PART))
            for seed, count in _parts(every, size, asked.start)
        }
        for part in as_completed(parts):
            figures, problem = part.result()
            (whole if parts[part] else total).add(figures)
            if problem:
                broken.append(problem)
                print(problem, file=sys.stderr, flush=True)
    _report("in memory", total)
    _report("with SQLite, threads and git", whole)
    for kind in ("refused", "lost", "stuck"):
        print(f"{kind:<34}{sum(problem.startswith(kind) for problem in broken):>10,}")
    print(f"{'seconds':<34}{time.monotonic() - began:>10,.0f}")
    return 1 if broken else 0


def _parts(count: int, size: int, start: int) -> list[tuple[int, int]]:
    return [(start + at, min(size, count - at)) for at in range(0, count, size)]


def _part(seed: int, count: int, whole: bool) -> tuple[Figures, str]:
    """Play a part; return what happened and, if a law was broken, how, with the shortest sequence that shows it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "OPENAI_", "ROO_TUI_", "GIT_"))]:
            del os.environ[name]
        os.environ |= {"ROO_TUI_HOME": f"{folder}/home", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        figures = Figures()
        try:
            play_many(count, seed, Path(folder), whole=whole, total=figures)
        except Broken as error:
            return figures, "\n".join([str(error), f"seed {seed}", *getattr(error, "__notes__", ())])
        return figures, ""


def _report(title: str, figures: Figures) -> None:
    print(f"sequences {title}")
    for name, count in (
        ("sequences", figures.sequences),
        ("of these different", len(figures.different)),
        ("operations", figures.operations),
        ("requests checked", figures.requests),
        *sorted(figures.on_event.items()),
    ):
        print(f"  {name:<32}{count:>10,}")


if __name__ == "__main__":
    raise SystemExit(main())
