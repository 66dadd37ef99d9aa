"""What came out of a question: figures of ours beside figures of a floor, medians over rounds."""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure. Ratios are ours over the floor's; where there is no floor, ours alone is held to the target.

    A `target` of 0 says that the figure is only told.
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
    """The figures of one run."""

    question: str
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return all(figure.holds for figure in self.figures)

    def as_json(self) -> dict[str, Any]:
        figures = [
            {**asdict(figure), "ratio": round(figure.ratio, 3), "holds": figure.holds} for figure in self.figures
        ]
        return {"question": self.question, "holds": self.holds, "figures": figures, "remarks": self.remarks}

    def as_text(self) -> str:
        rows = [("", "ours", "floor", "ratio", "at most", "")]
        for figure in self.figures:
            floor = f"{figure.floor:,.2f}" if figure.floor else ""
            ratio = f"{figure.ratio:.2f}" if figure.floor else ""
            target = f"{figure.target:g}" if figure.target else ""
            verdict = ("holds" if figure.holds else "MISSED") if figure.target else ""
            rows.append((figure.name, f"{figure.ours:,.2f} {figure.unit}", floor, ratio, target, verdict))
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        lines = [
            "  ".join(
                f"{cell:<{width}}" if not column else f"{cell:>{width}}"
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return "\n".join([self.question, *lines, *self.remarks])


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
    answer: Callable[[argparse.Namespace], Report], argv: Sequence[str] | None, *, name: str, question: str | None
) -> int:
    """Read the arguments, measure, print; returns 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {name}", description=(question or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=3, help="rounds the medians are taken over (default: 3)")
    parser.add_argument("--keys", type=int, default=200, help="keys behind each echo figure of a round (default: 200)")
    options = parser.parse_args(argv)
    report = answer(options)
    print(json.dumps(report.as_json()) if options.json else report.as_text())
    return 0 if report.holds else 1
