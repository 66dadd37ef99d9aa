import asyncio
import shutil
import time

import pytest

from roo_tui.domain.entries import CallFacts
from roo_tui.tools.base import Outcome
from roo_tui.tools.text_search import BadPattern, Found, TextSearch
from tests.support.tool_bench import Bench

_ENGINES = [pytest.param("", id="python")]
if ripgrep := shutil.which("rg"):
    _ENGINES.append(pytest.param(ripgrep, id="ripgrep"))


def _fill(bench: Bench) -> None:
    bench.write("src/a.py", "def café():\n    return 1\n\n# TODO später\n")
    bench.write("src/b.py", "x = 1\r\nreturn\r\nlast return")
    bench.write("docs/read me.md", "no code here, return later\n")
    bench.write("docs/-odd.md", "return\n")
    bench.write("latin.txt", "caf\xe9 return\n".encode("latin-1"))
    bench.write("wide.txt", "wide return\n".encode("utf-16"))
    bench.write("marked.txt", b"\xef\xbb\xbfreturn first\n")
    bench.write("binary.bin", b"return\0return\n")
    bench.write("late.bin", b"return\n" + b"x" * 9000 + b"\0\n")
    bench.write("build/out.py", "return\n")
    bench.write(".gitignore", "build/\n")
    bench.write(".rooignore", "*.key\n")
    bench.write("my.key", "return\n")
    (bench.root / "link.py").symlink_to("src/a.py")


def _found(bench: Bench, engine: str, pattern: str, file_pattern: str = "", limit: int = 300) -> Found:
    folder = bench.workspace.resolve(".")
    search = TextSearch(bench.workspace, folder, pattern, file_pattern=file_pattern, limit=limit, ripgrep=engine)
    return search.run()


@pytest.mark.parametrize("engine", _ENGINES)
def test_hits_come_in_path_order_without_what_is_ignored_or_binary(bench: Bench, engine: str) -> None:
    _fill(bench)
    found = _found(bench, engine, "return")
    assert [(hit.path, hit.line, hit.text) for hit in found.hits] == [
        ("late.bin", 1, "return"),
        ("latin.txt", 1, "caf\ufffd return"),
        ("marked.txt", 1, "return first"),
        ("wide.txt", 1, "wide return"),
        ("docs/-odd.md", 1, "return"),
        ("docs/read me.md", 1, "no code here, return later"),
        ("src/a.py", 2, "    return 1"),
        ("src/b.py", 2, "return"),
        ("src/b.py", 3, "last return"),
    ]
    assert not found.more


@pytest.mark.parametrize("engine", _ENGINES)
@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("^return$", ["return", "return", "return"]),
        ("(?i)RETURN FIRST", ["return first"]),
        (r"^def \w+\(\):$", ["def café():"]),
        (r"sp.ter\b", ["# TODO später"]),
        (r"return(?= 1)", ["    return 1"]),
        (r"^x\s=\s\d+$", ["x = 1"]),
        ("nowhere", []),
        ("-{3}", []),
    ],
)
def test_both_engines_agree(bench: Bench, engine: str, pattern: str, lines: list[str]) -> None:
    _fill(bench)
    assert [hit.text for hit in _found(bench, engine, pattern).hits] == lines


@pytest.mark.parametrize("engine", _ENGINES)
def test_files_can_be_narrowed_by_a_name_pattern(bench: Bench, engine: str) -> None:
    _fill(bench)
    for pattern in ("*.md", "**/*.md", "docs/*"):
        assert {hit.path for hit in _found(bench, engine, "return", pattern).hits} == {
            "docs/-odd.md",
            "docs/read me.md",
        }


@pytest.mark.parametrize("engine", _ENGINES)
def test_hits_and_lines_are_bounded(bench: Bench, engine: str) -> None:
    bench.write("a", "hit\n" * 50)
    bench.write("b", "hit" + "x" * 1_000_000 + "\n")
    assert (len(_found(bench, engine, "hit", limit=51).hits), _found(bench, engine, "hit", limit=51).more) == (
        51,
        False,
    )
    found = _found(bench, engine, "hit", limit=50)
    assert (len(found.hits), found.more) == (50, True)
    [wide] = _found(bench, engine, "hitx").hits
    assert len(wide.text) == 301


@pytest.mark.parametrize("engine", _ENGINES)
@pytest.mark.parametrize("pattern", ["(", "*x", "a\0b", "["])
def test_what_is_no_pattern_is_refused(bench: Bench, engine: str, pattern: str) -> None:
    with pytest.raises(BadPattern):
        _found(bench, engine, pattern)


def test_a_pattern_that_takes_for_ever_is_ended(bench: Bench) -> None:
    bench.write("a", "a" * 60 + "b\n")
    folder = bench.workspace.resolve(".")
    found = TextSearch(bench.workspace, folder, r"(a+)+$", timeout_s=0.5, ripgrep="").run()
    assert (found.hits, found.timed_out) == ((), True)


async def test_a_cancel_ends_the_search(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a", "a" * 60 + "b\n")
    running = asyncio.create_task(bench.run("search_files", regex=r"(?=a)(a+)+$"))
    await asyncio.sleep(0.1)
    before = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - before < 0.2


async def test_the_tool_groups_hits_by_file(bench: Bench) -> None:
    _fill(bench)
    outcome = await bench.run("search_files", regex="return", path="src", file_pattern="b*")
    assert outcome.for_model == "src/b.py\n  2 | return\n  3 | last return"
    assert outcome.facts == CallFacts("search", "src", full_content=True, query="return")
    assert outcome.detail == "2 hits"


async def test_one_file_can_be_searched(bench: Bench) -> None:
    _fill(bench)
    assert await bench.result("search_files", regex="x", path="src/b.py") == "src/b.py\n  1 | x = 1"


async def test_nothing_found_a_bad_pattern_and_a_missing_folder_are_reported(bench: Bench) -> None:
    assert await bench.result("search_files", regex="x") == "Nothing was found."
    bad: Outcome = await bench.run("search_files", regex="(")
    assert bad.is_error
    assert "not a valid regular expression" in str(bad.for_model)
    assert "does not exist" in await bench.failure("search_files", regex="x", path="nowhere")
