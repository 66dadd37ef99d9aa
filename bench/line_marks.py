"""A pytest plugin that reports which tests prove which lines: `-p bench.line_marks --line-report FILE`.

The file is a JSON list of `{"test": node id, "lines": [ids], "outcome": "passed" | "failed" | "skipped"}`.
"""

import json
from pathlib import Path

import pytest

_PROPERTY = "line"
_ORDER = ("passed", "skipped", "failed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the report file."""
    parser.addoption("--line-report", help="where to write the outcome of every test that is marked with a line")


def pytest_configure(config: pytest.Config) -> None:
    """Collect outcomes if a report file is named."""
    if file := config.getoption("--line-report"):
        config.pluginmanager.register(_Outcomes(Path(file)), "line outcomes")


class _Outcomes:
    """The worst outcome of each marked test's phases."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: dict[str, tuple[list[str], str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for mark in item.iter_markers("line"):
                item.user_properties += [(_PROPERTY, name) for name in mark.args]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        lines = sorted({str(value) for key, value in report.user_properties if key == _PROPERTY})
        if lines:
            _, known = self._found.get(report.nodeid, (lines, "passed"))
            self._found[report.nodeid] = (lines, max(known, report.outcome, key=_ORDER.index))

    def pytest_sessionfinish(self) -> None:
        rows = [{"test": test, "lines": lines, "outcome": outcome} for test, (lines, outcome) in self._found.items()]
        self._file.write_text(json.dumps(rows))
