from pathlib import Path

import pytest

from roo_tui import prompt_files


@pytest.fixture
def greeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "replies").mkdir()
    (tmp_path / "README.md").write_text("for people")
    (tmp_path / "replies" / "greeting.md").write_text(
        "Hello {{name}}, {{ not }} {one}: {{name}}.\n\n", encoding="utf-8"
    )
    monkeypatch.setattr(prompt_files, "folder", lambda: tmp_path)
    prompt_files._template.cache_clear()
    return "replies/greeting"


def test_render_fills_every_placeholder(greeting: str) -> None:
    assert prompt_files.render(greeting, name="Ada") == "Hello Ada, {{ not }} {one}: Ada."


def test_a_placeholder_in_a_value_is_not_filled(greeting: str) -> None:
    assert prompt_files.render(greeting, name=r"{{name}} \1") == r"Hello {{name}} \1, {{ not }} {one}: {{name}} \1."


def test_a_missing_value_is_named(greeting: str) -> None:
    with pytest.raises(ValueError, match=r"greeting\.md needs a value for name"):
        prompt_files.render(greeting)


def test_a_value_without_placeholder_is_named(greeting: str) -> None:
    with pytest.raises(ValueError, match="no placeholder for age"):
        prompt_files.render(greeting, name="Ada", age=3)


def test_a_missing_file_is_an_error(greeting: str) -> None:
    with pytest.raises(FileNotFoundError):
        prompt_files.render("replies/farewell")


def test_names_lists_prompts_and_leaves_out_pages_for_people(greeting: str) -> None:
    assert prompt_files.names() == [greeting]
    assert prompt_files.placeholders(greeting) == {"name"}
