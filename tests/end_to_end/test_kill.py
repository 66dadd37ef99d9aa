"""Killed at any moment: everything acknowledged is there, nothing runs twice, the next request is accepted.

`KILL_POINTS=all` dies at every point in place of a spread of them, `KILL_SEED=7` at other random moments.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PARTS = 2
EVERY = os.environ.get("KILL_POINTS", "") == "all"
SEED = int(os.environ.get("KILL_SEED", "1"))


def killed(folder: Path, *arguments: str) -> list[dict[str, object]]:
    """Return what the driver saw at each of its points."""
    command = [sys.executable, "-m", "tests.end_to_end.crash_driver", str(folder), *arguments]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_whole(seen: dict[str, object]) -> None:
    assert seen["killed"] and seen["resumed"], seen
    assert seen["lost"] == [], seen
    # Before the task is on disk there is nothing to go on with, and nothing was acknowledged.
    if seen["task"]:
        assert (seen["ran_twice"], seen["end"], seen["files_match"]) == ([], "completed", True), seen


@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_killed_on_either_side_of_an_effect(tmp_path: Path, part: int) -> None:
    found = killed(tmp_path, "--spread", "0" if EVERY else "20", "--part", f"{part}/{PARTS}")
    assert len(found) >= 20 // PARTS
    for seen in found:
        assert_whole(seen)


@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_killed_at_random_moments(tmp_path: Path, part: int) -> None:
    found = killed(tmp_path, "--random", "10", "--seed", str(SEED), "--part", f"{part}/{PARTS}")
    print(f"seed {SEED}: died at {[seen['point'] for seen in found]}")
    assert len(found) == 10 // PARTS
    for seen in found:
        assert_whole(seen)
