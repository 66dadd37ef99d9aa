import base64
import struct
import zlib
from dataclasses import replace

from roo_tui.domain.blocks import Image, Text
from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import FileView, ListView
from roo_tui.tools.base import Effect
from tests.support.tool_bench import Bench


async def test_lines_come_with_their_numbers(bench: Bench) -> None:
    bench.write("src/a.py", "one\r\ntwo\r\nthree")
    outcome = await bench.run("read_file", path="src/a.py")
    assert outcome.for_model == "1 | one\n2 | two\n3 | three"
    assert replace(outcome.facts, digest="") == CallFacts("read", "src/a.py", full_content=True)
    assert len(outcome.facts.digest) == 64
    assert outcome.view == FileView("src/a.py", "one\ntwo\nthree", 1, 3)
    assert outcome.detail == "3 lines"


async def test_a_range_is_read_and_recorded(bench: Bench) -> None:
    bench.write("a", "".join(f"{number}\n" for number in range(1, 11)))
    outcome = await bench.run("read_file", path="./a", first_line=4, last_line=5)
    assert outcome.for_model == "4 | 4\n5 | 5"
    assert replace(outcome.facts, digest="") == CallFacts("read", "a", (4, 5), full_content=True)
    assert (await bench.run("read_file", path="a", first_line=9, last_line=99)).facts.lines == (9, 10)
    assert (await bench.run("read_file", path="a", first_line=1, last_line=10)).facts.lines is None
    assert (await bench.plan("read_file", path="a", first_line=4)).title == "a:4-"


async def test_a_range_that_is_not_there_is_an_error(bench: Bench) -> None:
    bench.write("a", "1\n2\n")
    beyond = await bench.run("read_file", path="a", first_line=3)
    assert (beyond.is_error, beyond.for_model) == (True, "The last line of a is line 2.")
    assert (await bench.run("read_file", path="a", first_line=2, last_line=1)).is_error


async def test_a_long_file_says_how_to_read_on(bench: Bench) -> None:
    bench.write("a", "".join(f"{number}\n" for number in range(1, 5001)))
    outcome = await bench.run("read_file", path="a")
    assert str(outcome.for_model).endswith(
        "2000 | 2000\n[Lines 1 to 2000 of 5000 are shown; continue with first_line 2001.]"
    )
    assert replace(outcome.facts, digest="") == CallFacts("read", "a", (1, 2000), full_content=True)
    wide = bench.write("b", ("x" * 1999 + "\n") * 100)
    assert "[Lines 1 to 40 of 100" in await bench.result("read_file", path=wide.name)


async def test_a_very_long_line_is_cut_and_not_recorded_as_complete(bench: Bench) -> None:
    bench.write("a", "x" * 300_000)
    outcome = await bench.run("read_file", path="a")
    assert len(str(outcome.for_model)) < 2_300
    assert "cut at 2000 characters" in str(outcome.for_model)
    assert not outcome.facts.full_content


async def test_empty_odd_and_unreadable_files_are_reported(bench: Bench) -> None:
    bench.write("empty", "")
    bench.write("latin", "café".encode("latin-1"))
    bench.write("binary", b"\x7fELF\0\0")
    bench.write("big", b"x" * 20_000_001)
    (bench.root / "folder").mkdir()
    assert await bench.result("read_file", path="empty") == "empty is empty."
    assert (await bench.result("read_file", path="latin")).startswith("1 | café\n[The file is not UTF-8.")
    assert "binary file (6 bytes)" in await bench.result("read_file", path="binary")
    assert "too large" in await bench.result("read_file", path="big")
    assert "is a folder" in await bench.result("read_file", path="folder")
    assert "does not exist" in await bench.failure("read_file", path="nowhere")
    assert "is not a valid path" in await bench.failure("read_file", path="a\0b")


async def test_files_outside_are_a_concern_and_ignored_ones_are_refused(bench: Bench) -> None:
    (bench.root.parent / "outside.txt").write_text("out\n")
    (bench.root / "link").symlink_to("../outside.txt")
    bench.write(".rooignore", "secret*\n")
    bench.write("secret.txt", "s")
    outside = str(bench.root.parent / "outside.txt")
    for path in ("../outside.txt", "link", outside):
        plan = await bench.plan("read_file", path=path)
        assert plan.concerns == (f"outside the workspace: {outside}",)
        assert plan.effect is Effect.READ
    assert (await bench.run("read_file", path="link")).facts.path == outside
    for tool, arguments in (
        ("read_file", {"path": "secret.txt"}),
        ("write_to_file", {"path": "secret.new", "content": ""}),
        ("apply_diff", {"path": "secret.txt", "diff": ""}),
        ("list_files", {"path": "secret.d"}),
        ("search_files", {"path": "secret.txt", "regex": "s"}),
        ("execute_command", {"cwd": "secret.d", "command": "ls"}),
    ):
        assert "hidden by .rooignore" in await bench.failure(tool, **arguments)


async def test_an_ignore_rule_made_after_the_plan_still_holds(bench: Bench) -> None:
    bench.write("a", "x\n")
    plan = await bench.plan("read_file", path="a")
    bench.write(".rooignore", "a\n")
    from roo_tui.tools.registry import all_tools

    outcome = await all_tools()["read_file"].run(plan, bench.context)
    assert outcome.is_error
    assert "hidden by .rooignore" in str(outcome.for_model)


def _png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\0" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


async def test_a_picture_is_looked_at(bench: Bench) -> None:
    data = _png(3, 2)
    bench.write("shot.txt", data)
    outcome = await bench.run("read_file", path="shot.txt")
    assert isinstance(outcome.for_model, tuple)
    words, image = outcome.for_model
    assert words == Text("The image shot.txt (image/png):")
    assert image == Image("image/png", base64.b64encode(data).decode(), 3, 2)
    assert outcome.detail == "3×2"


async def test_a_listing_names_files_and_folders(bench: Bench) -> None:
    bench.write("src/a.py", "")
    bench.write("b.md", "")
    outcome = await bench.run("list_files")
    assert outcome.for_model == "b.md\nsrc/"
    assert outcome.view == ListView(".", ("b.md", "src/"), 2)
    assert outcome.facts == CallFacts("list", ".", full_content=True)
    assert await bench.result("list_files", path="src", recursive="true") == "a.py"
    bench.write("src/empty/.gitignore", "*\n")
    assert "has no files" in await bench.result("list_files", path="src/empty", recursive=True)


async def test_a_long_listing_is_cut_and_says_so(bench: Bench) -> None:
    for number in range(501):
        bench.write(f"{number:03}", "")
    outcome = await bench.run("list_files")
    assert outcome.detail == "500+ names"
    assert "more than 500 names" in str(outcome.for_model)
    assert not outcome.facts.full_content


async def test_what_cannot_be_listed_is_an_error(bench: Bench) -> None:
    bench.write("file", "")
    assert "not a folder" in await bench.result("list_files", path="file")
    assert "does not exist" in await bench.result("list_files", path="nowhere")


async def test_reading_makes_a_file_known(bench: Bench) -> None:
    file = bench.write("a", "old\n")
    await bench.run("read_file", path="a")
    assert bench.workspace.recent.changed() == ()
    file.write_text("newer\n")
    assert [changed.path for changed in bench.workspace.recent.changed()] == ["a"]
