"""Every line has a test that names it, or says why it has none."""

import re
from pathlib import Path

import pytest

from bench.acceptance import lines, with_tests

TESTS = Path(__file__).parent.parent
MARK = re.compile(r"pytest\.mark\.line\(([^)]*)\)")


def named() -> set[str]:
    """Return every line that a test names."""
    texts = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__))
    return {name for text in texts for names in MARK.findall(text) for name in re.findall(r'"([^"]+)"', names)}


def test_every_line_is_named_by_a_test_or_says_why_not() -> None:
    known = lines()
    assert named() == {name for name, line in known.items() if not line.reason}
    assert not any(line.star and line.reason for line in known.values())


@pytest.mark.parametrize(
    ("outcomes", "result"), [((), "NO TEST"), (("passed",), "holds"), (("passed", "failed"), "FAILED")]
)
def test_a_line_holds_when_all_cases_of_its_tests_pass(outcomes: tuple[str, ...], result: str) -> None:
    cases = [{"test": f"t.py::test_it[{n}]", "lines": ["A1"], "outcome": one} for n, one in enumerate(outcomes)]
    proved, unknown = with_tests({"A1": lines()["A1"]}, [*cases, {**cases[0], "lines": ["Z9"]}] if cases else [])
    assert proved[0].result == result
    assert [proof.as_text() for proof in proved[0].tests][:1] == {
        0: [],
        1: ["t.py::test_it"],
        2: ["t.py::test_it (2 cases, 1 failed)"],
    }[len(outcomes)]
    assert unknown == (["Z9"] if cases else [])
