"""Whatever happens to a task, in any order: the API refuses no request, nothing is lost, and a next turn can be sent.

`make properties` plays ten thousand sequences and prints what happened in them; here a few are played each time.
"""

from pathlib import Path

import pytest

from tests.support.sequence_runs import play_many, play_one
from tests.support.sequences import Crash, Imported, Operation, Setting, Turn, Undo


@pytest.mark.line("D34")
@pytest.mark.parametrize("start", range(4))
def test_after_any_sequence_of_operations_the_model_is_asked_again_and_answers(start: int, tmp_path: Path) -> None:
    figures = play_many(8, start, tmp_path)
    assert figures.sequences >= 8


@pytest.mark.line("D34")
def test_sequences_hold_on_the_whole_engine_with_sqlite_threads_and_git(tmp_path: Path) -> None:
    figures = play_many(10, 1, tmp_path, whole=True)
    assert figures.sequences >= 10


FOUND: dict[str, tuple[Setting, list[Operation]]] = {
    "a summary counted at a ratio that a crash made us forget is undone: the sum of the parts is too high": (
        Setting(window=4_000, factor=1.5),
        [Turn("large", ((),)), Imported(4, (("user", ()),)), Crash(Undo(), late=True)],
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_a_sequence_that_broke_a_law_once_holds(case: str, tmp_path: Path) -> None:
    setting, operations = FOUND[case]
    assert play_one(setting, operations, tmp_path).operations == len(operations)
