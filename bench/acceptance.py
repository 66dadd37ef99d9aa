"""Does every line of what users need from a condense hold, and which tests prove it?

    python -m bench acceptance [--json] [LINE ...]

Tests name the lines they prove: `@pytest.mark.line("A1")`. The lines are in `acceptance_lines.toml`; a line without a
test gives the reason there. Nothing is timed, so there is no floor. The exit code is 1 if a test fails, a test names a
line that does not exist, or a line has neither a test nor a reason.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_FAILED_TO_RUN = (2, 3, 4)
_LONGEST_S = 1_800


@dataclass(frozen=True, slots=True)
class Proof:
    """A test function and how many of its cases passed, failed or were skipped."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def as_text(self) -> str:
        """Return the name, with the number of cases if there are several."""
        cases = self.passed + self.failed + self.skipped
        told = [f"{cases} cases"] if cases > 1 else []
        told += [f"{count} {word}" for count, word in ((self.failed, "failed"), (self.skipped, "skipped")) if count]
        return f"{self.name} ({', '.join(told)})" if told else self.name


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence that must hold; `reason` says why there is no test."""

    name: str
    says: str
    star: bool = False
    reason: str = ""
    tests: tuple[Proof, ...] = ()

    @property
    def result(self) -> str:
        if any(test.failed for test in self.tests):
            return "FAILED"
        if any(test.passed for test in self.tests):
            return "holds"
        return "not tested" if self.reason else "NO TEST"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "result": self.result}


def lines() -> dict[str, Line]:
    """Return every line by its name, in order, still without tests."""
    found = tomllib.loads((_FOLDER / "acceptance_lines.toml").read_text(encoding="utf-8"))
    return {name: Line(name, **fields) for name, fields in found.items()}


def with_tests(known: dict[str, Line], outcomes: Sequence[dict[str, Any]]) -> tuple[list[Line], list[str]]:
    """Return the lines with the tests that name them, and the names that no line has."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for case in outcomes:
        for name in case["lines"]:
            counts[name, case["test"].partition("[")[0]][case["outcome"]] += 1
    tests: dict[str, list[Proof]] = defaultdict(list)
    for (name, test), ended in sorted(counts.items()):
        tests[name].append(Proof(test, **ended))
    proved = [
        Line(line.name, line.says, line.star, line.reason, tuple(tests.pop(line.name, ()))) for line in known.values()
    ]
    return proved, sorted(tests)


def outcomes_of_marked_tests() -> list[dict[str, Any]]:
    """Run every test that names a line and return what `line_marks` wrote.

    Raises:
        RuntimeError: the tests could not be collected or run, or took too long; the text is pytest's output.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "lines.json"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "line", "-p", "no:cacheprovider", "--no-header"]
        command += ["-p", "bench.line_marks", "--line-report", str(report), "tests"]
        try:
            run = subprocess.run(
                command, cwd=_FOLDER.parent, capture_output=True, text=True, timeout=_LONGEST_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"They did not end within {_LONGEST_S} seconds.") from error
        if run.returncode in _FAILED_TO_RUN or not report.exists():
            raise RuntimeError(run.stdout[-4_000:] + run.stderr[-4_000:])
        found: list[dict[str, Any]] = json.loads(report.read_text())
        return found


def as_text(proved: Sequence[Line], unknown: Sequence[str]) -> str:
    """Return a row for each line (name, result, sentence), each with its tests below."""
    rows = []
    for line in proved:
        rows.append(f"{line.name:<4} {'★' if line.star else ' '} {line.result:<10}  {line.says}")
        rows += [f"{'':19}{test.as_text()}" for test in line.tests]
        if line.reason and not line.tests:
            rows.append(f"{'':19}{line.reason}")
    rows += [f"A test names {name}, but there is no such line." for name in unknown]
    held = sum(line.result == "holds" for line in proved)
    stars = [line for line in proved if line.star]
    star_held = sum(line.result == "holds" for line in stars)
    rows.append(f"{held} of {len(proved)} lines hold, {star_held} of {len(stars)} with a star.")
    return "\n".join(rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tests, print the lines and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench acceptance", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("line", nargs="*", help="report only these lines")
    options = parser.parse_args(argv)
    try:
        proved, unknown = with_tests(lines(), outcomes_of_marked_tests())
    except RuntimeError as error:
        print(f"The tests could not be run:\n{error}", file=sys.stderr)
        return 1
    wanted = [line for line in proved if not options.line or line.name in options.line]
    holds = not unknown and all(line.result in ("holds", "not tested") for line in wanted)
    if options.json:
        found = [line.as_json() for line in wanted]
        print(json.dumps({"question": "acceptance", "holds": holds, "lines": found, "unknown": unknown}, indent=1))
    else:
        print(as_text(wanted, unknown))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
