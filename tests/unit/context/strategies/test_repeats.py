"""Runs of equal lines in texts that come one after the other."""

from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.strategies.lossless.repeats import NUMBER, RUN, Repeats, numbered

LINES = [f"line {number} of the file" for number in range(50)]


def test_a_run_is_found_wherever_it_begins_and_ends():
    for start in range(25):
        for length in (19, 20, 21, 24):
            repeats = Repeats()
            repeats.keep("\n".join(LINES))
            text = "\n".join(["before", *LINES[start : start + length], "after"])
            _, runs = repeats.runs(text)
            expected = [(1, length, start)] if length >= RUN else []
            assert [(run.first, run.length, run.at) for run in runs] == expected


def test_the_longest_of_several_copies_is_chosen():
    repeats = Repeats()
    repeats.keep("\n".join(LINES[:22]))
    repeats.keep("\n".join(LINES[:45]))
    _, (run,) = repeats.runs("\n".join(LINES[:40]))
    assert (run.of, run.length) == (1, 40)


def test_lines_whose_numbers_cannot_be_written_again_stay():
    repeats = Repeats()
    repeats.keep("\n".join(LINES))
    uneven = [f"{number * number} | {line}" for number, line in enumerate(LINES)]
    assert repeats.runs("\n".join(uneven))[1] == []


def test_a_part_that_can_be_written_again_is_found_within_one_that_cannot():
    repeats = Repeats()
    repeats.keep("\n".join(LINES))
    half = [*(f"{number} | {line}" for number, line in enumerate(LINES[:25])), *LINES[25:]]
    _, (run,) = repeats.runs("\n".join(half))
    assert run.length == 25


def test_numbers_grow_to_the_left_as_tools_write_them():
    assert list(numbered(["a", "b"], "  9 | ")) == ["  9 | a", " 10 | b"]
    assert list(numbered(["a", "b"], "9: ")) == ["9: a", "10: b"]


def test_a_thousand_equal_lines_are_no_burden():
    _, runs = Repeats().runs("\n".join(["the same line"] * 1000))
    assert sum(run.length for run in runs) >= 900


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 6), min_size=15, max_size=80), min_size=1, max_size=4))
def test_every_run_equals_what_it_points_to_and_runs_lie_apart(texts: list[list[int]]):
    repeats, kept = Repeats(), []
    for numbers in texts:
        lines = [f"line {number}" for number in numbers]
        number, runs = repeats.runs("\n".join(lines))
        kept.append(lines)
        assert number == len(kept) - 1
        end = 0
        for run in runs:
            assert run.first >= end
            assert run.length >= RUN
            assert kept[run.of][run.at : run.at + run.length] == lines[run.first : run.first + run.length]
            assert run.of < number or run.at + run.length <= run.first
            end = run.first + run.length


def test_line_numbers_of_the_known_tools_are_recognised():
    for text in ("12 | x", "  12→x", "12\tx", "12:x", "12 |"):
        assert NUMBER.match(text)
    for text in ("x12 | y", "1.5 | y", "12", "| x"):
        assert not NUMBER.match(text)
