"""The sample project, and whether the demo's own changes do what the demo says."""

import subprocess
import sys
from pathlib import Path

from roo_tui.llm.demo.script import FIX, LEAP
from roo_tui.llm.demo.workspace import make


def run_tests(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "unittest", "-v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def apply_fix(folder: Path) -> None:
    """Do what the script's diff says, block by block."""
    arguments = next(call for step in FIX for name, call in step.reply.calls if name == "apply_diff")
    file = folder / str(arguments["path"])
    text = file.read_text(encoding="utf-8")
    for block in str(arguments["diff"]).split("<<<<<<< SEARCH\n")[1:]:
        search, rest = block.split("=======\n")
        assert text.count(search) == 1
        text = text.replace(search, rest.split(">>>>>>> REPLACE")[0])
    file.write_text(text, encoding="utf-8")


def test_exactly_the_date_test_fails_and_the_scripts_change_mends_it(tmp_path: Path) -> None:
    folder = make(tmp_path / "sample")
    before = run_tests(folder).stderr
    assert "FAILED (errors=1)" in before
    assert "day is out of range for month" in before
    apply_fix(folder)
    assert "\nOK" in run_tests(folder).stderr


def test_the_leap_year_tests_hold_after_the_fix_and_only_then(tmp_path: Path) -> None:
    folder = make(tmp_path / "sample")
    _, arguments = LEAP[0].reply.calls[0]
    (folder / str(arguments["path"])).write_text(str(arguments["content"]), encoding="utf-8")
    assert "FAILED" in run_tests(folder).stderr
    apply_fix(folder)
    after = run_tests(folder).stderr
    assert "Ran 20 tests" in after
    assert "\nOK" in after


def test_every_file_the_script_reads_is_there(tmp_path: Path) -> None:
    folder = make(tmp_path / "new" / "sample")
    read = [str(arguments["path"]) for step in FIX for name, arguments in step.reply.calls if name == "read_file"]
    assert read
    assert all((folder / path).is_file() for path in read)
    assert (folder / "AGENTS.md").is_file()
    assert (folder / ".roo" / "commands" / "review.md").read_text(encoding="utf-8").startswith("---\ndescription:")


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    make(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
