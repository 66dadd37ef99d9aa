"""A wait that times out fails a bench with a sentence; it is never a figure."""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench import probe, stream, transcript
from bench.probe import Terminal
from bench.report import Figure, Report, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the probe reads /proc")

SILENT = "import time, tty; tty.setraw(0); print('here', flush=True); time.sleep(60)"
BUSY = "print('here', flush=True)\nwhile True: pass"
ENDING = "print('here', flush=True)"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Terminal]]:
    """Start programs that say `here`, and end them afterwards."""
    running: list[Terminal] = []

    def started(program: str) -> Terminal:
        terminal = Terminal([sys.executable, "-c", program], folder=tmp_path)
        running.append(terminal)
        terminal.shows("here", 20)
        return terminal

    yield started
    for terminal in running:
        terminal.__exit__()


def test_what_never_comes_is_named_with_the_screen(start: Callable[[str], Terminal]) -> None:
    with pytest.raises(TimeoutError, match=r"did not show “never” within 0\.2 s\. The screen:\nhere"):
        start(SILENT).shows("never", 0.2)


def test_a_program_that_ends_is_not_measured(start: Callable[[str], Terminal]) -> None:
    terminal = start(ENDING)
    with pytest.raises(TimeoutError, match="ended before it showed “never”"):
        terminal.shows("never", 20)
    with pytest.raises(TimeoutError, match="ended while it was measured"):
        terminal.rest(0.2)
    with pytest.raises(TimeoutError, match="ended before its memory was read"):
        terminal.memory()


def test_a_program_that_never_rests_has_no_figure(start: Callable[[str], Terminal]) -> None:
    with pytest.raises(TimeoutError, match=r"still working after 0\.6 s"):
        start(BUSY).quiet(0.6)


def test_a_key_without_echo_fails(start: Callable[[str], Terminal], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_LONGEST_ECHO_S", 0.2)
    terminal = start(SILENT)
    with pytest.raises(TimeoutError, match=r"A key was not echoed within 0\.2 s"):
        terminal.echo(1, random.Random(1))
    with pytest.raises(TimeoutError, match="No key was echoed before the time for typing was over"):
        terminal.echo(1, random.Random(1), going=lambda: False)


def test_a_page_that_stays_the_same_fails(start: Callable[[str], Terminal], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "_LONGEST_PAGE_S", 0.2)
    with pytest.raises(TimeoutError, match="did not show another page"):
        transcript._page(start(SILENT), b"\x1b[6~")


def test_pages_are_turned_in_tasks_of_at_least_400_entries() -> None:
    assert transcript.LONG > transcript.SHORT >= 400


@pytest.mark.parametrize("as_json", [False, True])
def test_a_bench_that_times_out_prints_no_figure(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(options: argparse.Namespace) -> Report:
        raise TimeoutError(f"The program did not start in {options.rounds} rounds.")

    assert run(answer, ["--json"] if as_json else [], name="some", question="Does it?") == 1
    printed = capsys.readouterr()
    sentence = "The program did not start in 3 rounds."
    assert printed.err == f"The bench some failed, nothing was measured. {sentence}\n"
    found = {"question": "some", "holds": False, "failed": sentence}
    assert printed.out == (f"{json.dumps(found)}\n" if as_json else "")


@pytest.mark.parametrize(("ratio_target", "code"), [(1.5, 0), (1.1, 1)])
def test_a_missed_target_is_the_exit_code(ratio_target: float, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(options: argparse.Namespace) -> Report:
        del options
        return Report("some", (Figure("time", "ms", 12.0, 10.0, ratio_target),), ("Warm.",))

    assert run(answer, [], name="some", question="Does it?") == code
    shown = capsys.readouterr().out
    assert ("MISSED" in shown) == bool(code)
    assert shown.endswith("Warm.\n")


@pytest.mark.parametrize("main", [stream.main, transcript.main])
def test_no_round_without_keys(main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--keys", "0"])
    assert "must be at least 1" in capsys.readouterr().err
