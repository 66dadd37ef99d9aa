"""The parts of a stored summary, its sections and its budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roo_tui.context.condense.attachments import MOST_CHARACTERS, allowance, answer_block
from roo_tui.context.condense.summary_call import SECTIONS, missing_sections, split_summary
from roo_tui.prompt_files import render
from tests.support.scripted_model import SUMMARY


def test_stored_answer_is_split_into_analysis_and_summary() -> None:
    stored = answer_block("  <analysis>\nthinking\n</analysis>\n\n<summary>\n1. All\n</summary>\n").text
    assert stored.startswith("## Conversation Summary\n<analysis>")
    assert split_summary(stored) == ("thinking", "1. All")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("", "")),
        ("plain words", ("", "plain words")),
        ("<summary>only</summary>", ("", "only")),
        ("<analysis>only</analysis>", ("only", "")),
        ("<analysis>never closed <summary>all</summary>", ("never closed", "all")),
        ("<analysis>a</analysis><summary>never closed", ("a", "never closed")),
        ("<analysis>writes <summary> first</analysis><summary>b</summary>", ("writes <summary> first", "b")),
        ("<summary>quotes </summary> and goes on</summary>", ("", "quotes </summary> and goes on")),
        ("<analysis>a</analysis> untagged", ("a", "untagged")),
    ],
)
def test_answers_without_proper_tags_are_split_all_the_same(text: str, expected: tuple[str, str]) -> None:
    assert split_summary(text) == expected


@given(st.text(), st.text())
def test_splitting_loses_no_word_of_a_tagged_answer(analysis: str, summary: str) -> None:
    stored = answer_block(f"<analysis>{analysis}</analysis><summary>{summary}</summary>").text
    if "<" not in analysis + summary:
        assert split_summary(stored) == (analysis.strip(), summary.strip())


def test_request_names_every_section_we_look_for() -> None:
    assert missing_sections(render("condense/request").replace("<summary>", "").replace("<analysis>", "")) == ()


def test_sections_are_found_whatever_their_case_spacing_and_ampersand() -> None:
    assert missing_sections(SUMMARY) == ()
    assert missing_sections("<summary>PRIMARY  REQUEST &\nINTENT</summary>") == SECTIONS[1:]


def test_sections_named_only_in_the_analysis_are_missing() -> None:
    assert "Current work" in missing_sections("<analysis>Current work</analysis><summary>Pending tasks</summary>")


@pytest.mark.parametrize(
    ("window", "freed", "characters"),
    [
        (1_000_000, 1_000_000, MOST_CHARACTERS),
        (60_000, 1_000_000, 24_000),
        (200_000, 1_000, 2_000),
        (200_000, -5, 0),
    ],
)
def test_smallest_limit_holds(window: int, freed: int, characters: int) -> None:
    assert allowance(window, freed).characters == characters
