"""Whatever happens to a task, in any order: the API refuses no request, nothing is lost, and a next turn can be sent.

`make properties` plays ten thousand sequences and prints what happened in them; here a few are played each time.
"""

from pathlib import Path

import pytest

from tests.support.sequence_runs import play_many


@pytest.mark.line("D34")
@pytest.mark.parametrize("start", range(4))
def test_after_any_sequence_of_operations_the_model_is_asked_again_and_answers(start: int, tmp_path: Path) -> None:
    figures = play_many(12, start, tmp_path)
    assert figures.sequences >= 12


@pytest.mark.line("D34")
def test_sequences_hold_on_the_whole_engine_with_sqlite_threads_and_git(tmp_path: Path) -> None:
    figures = play_many(10, 1, tmp_path, whole=True)
    assert figures.sequences >= 10
