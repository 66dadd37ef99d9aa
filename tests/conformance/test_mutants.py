"""The cases tell of faults put into the product; `python -m tests.conformance --mutants` shows all of them."""

import pytest

from tests.conformance import mutants, runner

_PLACE = runner.folder()
_REASON = runner.why_not(_PLACE)
_SAMPLE = mutants.MUTANTS[::3]

pytestmark = pytest.mark.skipif(bool(_REASON), reason=_REASON)


@pytest.mark.parametrize("mutant", _SAMPLE, ids=lambda mutant: mutant.name)
def test_a_fault_turns_cases_wrong(mutant: mutants.Mutant) -> None:
    (result,) = mutants.results(_PLACE, [mutant])
    assert 0 < len(result.wrong) <= result.cases


def test_afterwards_the_product_is_whole_again() -> None:
    mutant = mutants.MUTANTS[0]
    list(mutants.results(_PLACE, [mutant]))
    verdicts = [verdict for file in mutant.files for verdict in runner.run_file(_PLACE / f"{file}.json")]
    assert not [verdict for verdict in verdicts if verdict.outcome == "wrong"]
