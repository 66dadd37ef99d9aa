"""What a bench measured: our figures beside those of a floor, medians over rounds."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure. With a floor, the ratio of ours to the floor's is held to the target; without one, ours alone.

    A `target` of 0 means that the figure is reported without a verdict.
    """

    name: str
    unit: str
    ours: float
    floor: float = 0.0
    target: float = 0.0

    @property
    def ratio(self) -> float:
        return self.ours / self.floor if self.floor else 0.0

    @property
    def holds(self) -> bool:
        return not self.target or (self.ratio if self.floor else self.ours) <= self.target


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one run. `floor` is the heading of what ours are compared with."""

    question: str
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...] = ()
    floor: str = "floor"

    @property
    def holds(self) -> bool:
        return all(figure.holds for figure in self.figures)

    def as_json(self) -> dict[str, Any]:
        figures = [
            {**asdict(figure), "ratio": round(figure.ratio, 3), "holds": figure.holds} for figure in self.figures
        ]
        return {
            "question": self.question,
            "holds": self.holds,
            "floor": self.floor,
            "figures": figures,
            "remarks": self.remarks,
        }

    def as_text(self) -> str:
        rows = [("", "ours", self.floor, "ratio", "at most", "")]
        for figure in self.figures:
            floor = f"{figure.floor:,.2f}" if figure.floor else ""
            ratio = f"{figure.ratio:.2f}" if figure.floor else ""
            target = f"{figure.target:g}" if figure.target else ""
            verdict = ("holds" if figure.holds else "MISSED") if figure.target else ""
            rows.append((figure.name, f"{figure.ours:,.2f} {figure.unit}", floor, ratio, target, verdict))
        return "\n".join([self.question, table(rows), *self.remarks])


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return the rows as aligned columns, the first one to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(map(str.rstrip, lines))


def figure(
    name: str,
    unit: str,
    ours: list[dict[str, float]],
    key: str,
    floor: list[dict[str, float]] | None = None,
    target: float = 0.0,
) -> Figure:
    """Return the figure of one key over the rounds: the median of ours beside the median of the floor's."""
    theirs = median(one[key] for one in floor) if floor else 0.0
    return Figure(name, unit, median(one[key] for one in ours), theirs, target)


def share(values: list[float], part: float) -> float:
    """Return the value below which this part of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def run(
    answer: Callable[[argparse.Namespace], Report],
    argv: Sequence[str] | None,
    *,
    name: str,
    question: str | None,
    keys: int = 0,
) -> int:
    """Read the arguments, measure and print; return 1 where a target is missed or a wait timed out.

    `keys` is the default of the option `--keys`; 0 leaves the option out.
    """
    parser = argparse.ArgumentParser(prog=f"python -m bench {name}", description=(question or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=_positive, default=3, help="rounds behind each median (default: 3)")
    if keys:
        text = f"keys pressed for each figure of a round (default: {keys})"
        parser.add_argument("--keys", type=_positive, default=keys, help=text)
    options = parser.parse_args(argv)
    try:
        report = answer(options)
    except TimeoutError as error:
        if options.json:
            print(json.dumps({"question": name, "holds": False, "failed": str(error)}))
        print(f"The bench {name} failed, nothing was measured. {error}", file=sys.stderr)
        return 1
    print(json.dumps(report.as_json()) if options.json else report.as_text())
    return 0 if report.holds else 1


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
