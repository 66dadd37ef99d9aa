"""Every file of the conformance data: no case is wrong, and every known defect's properties hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import runner
from tests.conformance.defects import CHECKS
from tests.conformance.reasons import REASONS
from tests.conformance.verdict import Findings

_PLACE = runner.folder()
_REASON = runner.why_not(_PLACE)
_FILES = [] if _REASON else runner.files(_PLACE)
_DEFECTS_FILE = _PLACE / "known-defects.json"
_DEFECTS = json.loads(_DEFECTS_FILE.read_text("utf-8"))["known_defects"] if _DEFECTS_FILE.is_file() else []
_TESTED_WITH_THE_ENGINE = {"tokens-not-updated-after-truncation", "no-check-before-the-first-request"}

pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON)


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_no_case_is_wrong(file: Path) -> None:
    verdicts = list(runner.run_file(file))
    wrong = [verdict for verdict in verdicts if verdict.outcome == "wrong"]
    assert not wrong, runner.details(wrong, every=True)
    assert verdicts


@pytest.mark.parametrize("defect", _DEFECTS, ids=lambda defect: defect["id"])
def test_properties_of_a_known_defect_hold(defect: dict[str, Any]) -> None:
    if defect["id"] in _TESTED_WITH_THE_ENGINE:
        pytest.skip("see test_known_defects_of_the_engine")
    found = Findings()
    more = (defect,) if "table" in defect else ()
    CHECKS[defect["id"]](defect["input"], defect["roo_output"], found, *more)
    assert not found.wrong
    assert found.reasons.keys() <= REASONS.keys()
