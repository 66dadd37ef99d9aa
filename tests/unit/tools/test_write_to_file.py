from dataclasses import replace

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import DiffView
from roo_tui.tools.file_diff import diff_view
from roo_tui.tools.registry import all_tools
from tests.support.tool_bench import Bench


async def test_a_new_file_is_made_with_its_folders(bench: Bench) -> None:
    plan = await bench.plan("write_to_file", path="src/new/a.py", content="one\ntwo\n")
    assert plan.view == DiffView("src/new/a.py", "", "one\ntwo\n", created=True, added=2)
    assert not (bench.root / "src").exists()
    outcome = await bench.run("write_to_file", path="src/new/a.py", content="one\ntwo\n")
    assert (bench.root / "src/new/a.py").read_bytes() == b"one\ntwo\n"
    assert outcome.for_model == "Created src/new/a.py (2 lines)."
    assert replace(outcome.facts, digest="") == CallFacts(
        "write", "src/new/a.py", full_content=True, changed=("src/new/a.py",)
    )


async def test_an_old_file_is_replaced_and_keeps_its_form(bench: Bench) -> None:
    file = bench.write("a", b"\xef\xbb\xbfone\r\ntwo\r\n")
    file.chmod(0o750)
    outcome = await bench.run("write_to_file", path="a", content="one\n2\n")
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n"
    assert file.stat().st_mode & 0o777 == 0o750
    assert (outcome.for_model, outcome.detail) == ("Wrote a (2 lines).", "+1 −1")


async def test_the_same_content_is_no_change_whatever_the_line_ends(bench: Bench) -> None:
    bench.write("a", "one\r\ntwo\r\n")
    assert "already has exactly this content" in await bench.failure("write_to_file", path="a", content="one\ntwo\n")


async def test_what_is_no_utf_8_text_is_not_overwritten(bench: Bench) -> None:
    bench.write("latin", b"caf\xe9")
    bench.write("binary", b"\0\1")
    (bench.root / "folder").mkdir()
    assert "not UTF-8" in await bench.failure("write_to_file", path="latin", content="x")
    assert "binary file" in await bench.failure("write_to_file", path="binary", content="x")
    assert "is a folder" in await bench.failure("write_to_file", path="folder", content="x")


async def test_a_file_that_appeared_or_went_since_the_plan_is_left_alone(bench: Bench) -> None:
    tool = all_tools()["write_to_file"]
    plan = await bench.plan("write_to_file", path="a", content="agent\n")
    file = bench.write("a", "person\n")
    assert (await tool.run(plan, bench.context)).is_error
    assert file.read_text() == "person\n"
    plan = await bench.plan("write_to_file", path="a", content="agent\n")
    file.unlink()
    assert (await tool.run(plan, bench.context)).is_error
    assert not file.exists()


async def test_a_folder_in_the_way_is_told(bench: Bench) -> None:
    bench.write("a", "a file\n")
    outcome = await bench.run("write_to_file", path="a/b", content="x")
    assert outcome.is_error
    assert "cannot be used, and nothing was changed" in str(outcome.for_model)


async def test_protected_files_are_a_concern(bench: Bench) -> None:
    assert (await bench.plan("write_to_file", path=".rooignore", content="x\n")).concerns == (
        "protected file: .rooignore",
    )
    (bench.root / "link").symlink_to(".git")
    assert (await bench.plan("write_to_file", path="link/hooks/x", content="x\n")).concerns == (
        "protected file: .git/hooks/x",
    )


async def test_lone_surrogates_do_no_harm(bench: Bench) -> None:
    await bench.run("write_to_file", path="a", content="x\ud800y\n")
    assert (bench.root / "a").read_text(encoding="utf-8") == "x\ufffdy\n"


def test_the_view_of_a_huge_file_holds_only_the_changed_part() -> None:
    lines = [f"line {number}\n" for number in range(50_000)]
    new = [*lines[:30_000], "changed\n", "added\n", *lines[30_001:]]
    view = diff_view("a", "".join(lines), "".join(new))
    assert (view.first_line, view.added, view.removed) == (29_998, 2, 1)
    assert view.old.splitlines() == [f"line {number}" for number in range(29_997, 30_004)]
    assert view.new.splitlines()[3:5] == ["changed", "added"]


def test_a_wholly_rewritten_huge_file_has_a_bounded_view() -> None:
    view = diff_view("a", "x\n" * 500_000, "y\n" * 600_000)
    assert (view.added, view.removed) == (600_000, 500_000)
    assert len(view.old) < 201_000
    assert len(view.new) < 201_000
