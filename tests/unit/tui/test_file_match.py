"""Which files a few characters mean."""

from roo_tui.tui.widgets.completion import best_files

FILES = ["docs/dates.md", "src/dates.py", "src/update.py", "tests/test_dates.py", "README.md", "src/my file.py"]


def test_names_that_begin_with_it_come_first_then_names_then_paths() -> None:
    assert best_files("date", FILES)[:4] == ["src/dates.py", "docs/dates.md", "src/update.py", "tests/test_dates.py"]
    assert best_files("src/", FILES)[0] == "src/dates.py"


def test_case_does_not_matter() -> None:
    assert best_files("readme", FILES)[0] == "README.md"


def test_a_slip_of_the_finger_still_finds_the_file() -> None:
    assert "src/update.py" in best_files("udpate.py", FILES)


def test_nothing_typed_offers_the_first_files_and_no_files_offer_nothing() -> None:
    assert best_files("", FILES, limit=2) == FILES[:2]
    assert best_files("x", []) == []
