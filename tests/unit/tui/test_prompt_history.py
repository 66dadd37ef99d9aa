"""Walking through what was sent."""

import json
from pathlib import Path

from roo_tui.tui.prompt_history import PromptHistory


def test_it_walks_to_the_oldest_and_back_to_the_draft() -> None:
    history = PromptHistory(["one", "two"])
    assert [history.older("draft"), history.older("two"), history.older("one")] == ["two", "one", None]
    assert [history.newer(), history.newer(), history.newer()] == ["two", "draft", None]


def test_the_same_message_twice_in_a_row_is_kept_once() -> None:
    history = PromptHistory()
    for text in ("a", "a", "b"):
        history.add(text)
    assert [history.older(""), history.older("b"), history.older("a")] == ["b", "a", None]


def test_it_is_kept_in_a_file_with_whatever_was_typed(tmp_path: Path) -> None:
    file = tmp_path / "state" / "prompts.jsonl"
    PromptHistory.load(file).add("two\nlines \ud800 [x] \x1b")
    assert PromptHistory.load(file).older("") == "two\nlines \ud800 [x] \x1b"


def test_broken_lines_of_the_file_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_bytes(b'"good"\n{broken\n12\n\xff\xfe\n' + json.dumps("better").encode() + b"\n")
    history = PromptHistory.load(file)
    assert [history.older(""), history.older(""), history.older("")] == ["better", "good", None]


def test_a_file_that_cannot_be_written_does_not_stop_anybody(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, not a folder")
    history = PromptHistory(file=tmp_path / "state" / "prompts.jsonl")
    history.add("still here")
    assert history.older("") == "still here"
