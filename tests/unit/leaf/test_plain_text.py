import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roo_tui.plain_text import clean, one_line, plural, well_formed

anything = st.text(st.characters(codec=None, exclude_categories=()))
hostile = st.text(st.sampled_from("\x1b[]P\\;?m0A \n\r\t\x07\x9b\x9c\x9d\x90\x00\ud800\u202eé"), max_size=40)
steering = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;1mred", "red"),
        ("\x9b31mred", "red"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x9d0;title\x9cb", "ab"),
        ("\x1b]8;;file:x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1bPq\n#0\x1b\\b", "ab"),
        ("a\x1b_payload\x1b\\b", "ab"),
        ("a\x1b]0;never ended\nnext", "a\nnext"),
        ("a\x1bPnever ended\nnext", "a\nnext"),
        ("a\x1b[12", "a"),
        ("a\x1b", "a"),
        ("a\x1b(Bb\x1b7c", "abc"),
        ("a\x00\x07\x08\x7fb", "ab"),
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("user\u202etxt.exe \u2067x\u2069", "usertxt.exe x"),
        ("half \ud83d", "half \ufffd"),
        ("[/bold] [red]", "[/bold] [red]"),
    ],
)
def test_clean_leaves_only_what_can_be_read(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clean_returns_harmless_text_as_it_is() -> None:
    text = "naïve 日本語 🎉\n\tindented"
    assert clean(text) is text


@given(anything | hostile)
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    cleaned = clean(text)
    assert not steering.search(cleaned)
    assert clean(cleaned) == cleaned


@given(st.text(st.characters(exclude_categories=["C"])))
def test_readable_text_is_kept_whole(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("start", ["\x1b]", "\x1bP", "\x90", "\x9d", "\x1b[", "\x1b[1;", "\x1b"])
def test_a_text_full_of_unfinished_sequences_is_read_in_linear_time(start: str) -> None:
    assert clean(start * 200_000 + "\nend").endswith("\nend")


@given(anything)
def test_well_formed_text_can_be_encoded_and_keeps_its_length(text: str) -> None:
    assert len(well_formed(text).encode("utf-8").decode("utf-8")) == len(text)


@given(anything | hostile, st.integers(1, 30))
def test_one_line_is_one_line_of_at_most_the_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert not re.search(r"[\n\r\t]", line)


def test_one_line_says_that_it_was_cut() -> None:
    assert one_line("  fix the\n\n  failing   test  ") == "fix the failing test"
    assert one_line("fix the failing test", 8) == "fix the…"


def test_a_count_agrees_with_its_noun() -> None:
    assert [plural(count, "file") for count in (0, 1, 2, 1_204)] == ["0 files", "1 file", "2 files", "1,204 files"]
    assert [plural(count, "entry", "entries") for count in (1, 3)] == ["1 entry", "3 entries"]
