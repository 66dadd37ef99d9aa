import re
from pathlib import Path

import pytest

from roo_tui import prompt_files

TEXT = """\

Hello {{name}}, {{ not }} {one}: {{name}}.

## farewell

## Conversation Summary
Goodbye.
##  spaced

- last line

## farewell_to_all

Goodbye, all.
"""


@pytest.fixture
def greeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "README.md").write_text("for people")
    write(tmp_path, "replies/greeting", TEXT)
    monkeypatch.setattr(prompt_files, "folder", lambda: tmp_path)
    monkeypatch.setattr(prompt_files, "_prompt", prompt_files._prompt.__wrapped__)
    monkeypatch.setattr(prompt_files, "_sections", prompt_files._sections.__wrapped__)
    return "replies/greeting"


def write(folder: Path, name: str, text: str) -> None:
    path = folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_render_fills_every_placeholder(greeting: str) -> None:
    assert prompt_files.render(greeting, name="Ada") == "Hello Ada, {{ not }} {one}: Ada."


def test_a_placeholder_in_a_value_is_not_filled(greeting: str) -> None:
    assert prompt_files.render(greeting, name=r"{{name}} \1") == r"Hello {{name}} \1, {{ not }} {one}: {{name}} \1."


def test_blank_lines_around_a_value_stay(greeting: str, tmp_path: Path) -> None:
    write(tmp_path, "replies/quote", "\n{{text}}\n")
    assert prompt_files.render("replies/quote", text="\n  so\n") == "\n  so\n"


def test_a_section_keeps_headings_of_its_own(greeting: str) -> None:
    farewell = "## Conversation Summary\nGoodbye.\n##  spaced\n\n- last line"
    assert prompt_files.render(f"{greeting}/farewell") == farewell
    assert prompt_files.render(f"{greeting}/farewell_to_all") == "Goodbye, all."


def test_a_file_of_sections_alone_is_no_prompt_itself(greeting: str, tmp_path: Path) -> None:
    write(tmp_path, "headless", "## denied\n\nNo.\n")
    assert prompt_files.render("headless/denied") == "No."
    with pytest.raises(LookupError, match="there is no prompt headless"):
        prompt_files.render("headless")


def test_a_missing_value_is_named(greeting: str) -> None:
    with pytest.raises(ValueError, match=r"replies/greeting needs a value for name"):
        prompt_files.render(greeting)


def test_a_value_without_placeholder_is_named(greeting: str) -> None:
    with pytest.raises(ValueError, match="no placeholder for age"):
        prompt_files.render(greeting, name="Ada", age=3)


@pytest.mark.parametrize("name", ["replies/thanks", "replies/greeting/thanks", "thanks", "README/x", ""])
def test_a_missing_prompt_is_named(greeting: str, name: str) -> None:
    with pytest.raises(LookupError, match=f"no prompt {name}:"):
        prompt_files.render(name)


@pytest.mark.parametrize(("text", "problem"), [("## a\nx\n## a\ny\n", "there twice"), ("## a\n\n## b\nx\n", "empty")])
def test_a_section_is_there_once_and_says_something(greeting: str, tmp_path: Path, text: str, problem: str) -> None:
    write(tmp_path, "wrong", text)
    with pytest.raises(ValueError, match=rf"prompts/wrong\.md: the section a is {problem}"):
        prompt_files.render("wrong/a")


def test_names_lists_prompts_and_leaves_out_pages_for_people(greeting: str) -> None:
    assert prompt_files.names() == [greeting, f"{greeting}/farewell", f"{greeting}/farewell_to_all"]
    assert prompt_files.placeholders(greeting) == {"name"}


@pytest.mark.parametrize("name", prompt_files.names())
def test_every_prompt_can_be_rendered(name: str) -> None:
    values = {value: f"<{value}>" for value in prompt_files.placeholders(name)}
    words = prompt_files.render(name, **values)
    assert all(value in words for value in values.values())
    # What is left in braces is a placeholder of a wrong name.
    assert "{{" not in words
    # A section whose name is not written as names are would be part of the text before it.
    assert not re.search(r"^##\s*[a-z]\S*\s*$", words, re.MULTILINE)
