import hashlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import DiffView
from roo_tui.tools.apply_diff import DiffBlock, MalformedDiff, escape, find_places, parse_blocks, replace_places
from roo_tui.tools.base import Effect
from roo_tui.tools.registry import all_tools
from tests.support.tool_bench import Bench


def _block(search: str, replace: str, start_line: int = 0) -> str:
    header = f":start_line:{start_line}\n-------\n" if start_line else ""
    return f"<<<<<<< SEARCH\n{header}{search}=======\n{replace}>>>>>>> REPLACE\n"


def _applied(text: str, *blocks: DiffBlock) -> str:
    places, problems = find_places(text, blocks)
    assert problems == []
    return replace_places(text, places)


CODE = "def a():\n    return 1\n\n\ndef b():\n    x = 1\n    y = 2\n    return x + y\n"


async def test_a_block_is_shown_then_applied(bench: Bench) -> None:
    file = bench.write("src/a.py", CODE)
    diff = _block("    return 1\n", "    return 2\n    # twice\n")
    plan = await bench.plan("apply_diff", path="src/a.py", diff=diff)
    new = CODE.replace("    return 1\n", "    return 2\n    # twice\n")
    assert plan.view == DiffView("src/a.py", CODE, new, added=2, removed=1)
    assert (plan.effect, plan.concerns) == (Effect.EDIT, ())
    assert file.read_text() == CODE
    outcome = await bench.run("apply_diff", path="src/a.py", diff=diff)
    assert file.read_text() == new
    assert outcome.for_model == "Changed src/a.py:\n- lines 2 → 2–3"
    assert replace(outcome.facts, digest="") == CallFacts("edit", "src/a.py", changed=("src/a.py",))
    assert outcome.detail == "+2 −1"
    assert bench.workspace.recent.changed() == ()


async def test_several_blocks_count_their_lines_in_the_file_as_it_is(bench: Bench) -> None:
    bench.write("a", "same\nx\nsame\ny\nsame\n")
    diff = _block("same\n", "last\n", 5) + "\n" + _block("same\n", "first\nadded\n", 1) + _block("y\n", "")
    assert await bench.result("apply_diff", path="a", diff=diff) == (
        "Changed a:\n- lines 1 → 1–2\n- lines 4 → none\n- lines 5 → 5"
    )
    assert (bench.root / "a").read_text() == "first\nadded\nx\nsame\nlast\n"


async def test_all_blocks_or_none(bench: Bench) -> None:
    file = bench.write("a.py", CODE)
    words = await bench.failure(
        "apply_diff", path="a.py", diff=_block("    return 1\n", "    return 2\n") + _block("def c():\n", "")
    )
    assert "a.py was not changed" in words
    assert "Block 2" in words
    assert "Block 1" not in words
    assert file.read_text() == CODE


async def test_a_failure_names_the_closest_place_with_its_text(bench: Bench) -> None:
    bench.write("a.py", CODE)
    words = await bench.failure("apply_diff", path="a.py", diff=_block("    x = 10\n    z = 2\n", ""))
    assert "lines 6 to 7" in words
    assert "6 |     x = 1\n7 |     y = 2" in words
    assert "% similar" in words
    nothing = await bench.failure("apply_diff", path="a.py", diff=_block("§§§§§§\n", ""))
    assert "anything like it" in nothing


def test_equal_places_are_told_apart_by_the_start_line_only() -> None:
    text = "same\nx\nsame\n"
    _, problems = find_places(text, [DiffBlock(("same",), ("new",))])
    assert "lines 1, 3" in problems[0]
    assert _applied(text, DiffBlock(("same",), ("new",), 3)) == "same\nx\nnew\n"
    _, problems = find_places(text, [DiffBlock(("same",), ("new",), 2)])
    assert "several places" in problems[0]


def test_white_space_may_differ_and_the_files_indentation_wins() -> None:
    text = "class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1\n"
    block = DiffBlock(
        ("def f(self):", "    if x:", "        return  1"),
        ("def f(self):", "    if y:", "        return 2", "    else:", "        return 3"),
    )
    assert _applied(text, block) == ("class A:\n\tdef f(self):\n\t\tif y:\n\t\t\treturn 2\n\t\telse:\n\t\t\treturn 3\n")


def test_white_space_matches_must_be_unambiguous_too() -> None:
    _, problems = find_places("a b\n  a b\n", [DiffBlock(("a  b",), ("c",))])
    assert "several places" in problems[0]


def test_a_nearly_equal_place_is_taken_if_it_is_the_only_one() -> None:
    lines = [f"    value_{number} = compute_something({number}, flag=True)" for number in range(8)]
    text = "def f():\n" + "\n".join(lines) + "\n    return 0\n"
    wrong = ("def f():", *lines[:5], lines[5].replace("flag", "flags"), *lines[6:])
    places, problems = find_places(text, [DiffBlock(wrong, ("pass",))])
    assert problems == []
    assert (places[0].start, places[0].end, places[0].how) == (0, 9, "similar")
    assert 0.95 <= places[0].similarity < 1


def test_one_wrong_line_is_never_guessed() -> None:
    _, problems = find_places("timeout = 100\n", [DiffBlock(("timeout = 1000",), ("timeout = 5",))])
    assert "The closest match is lines" in problems[0]


# With their line ends between them, a hundred characters: each wrong one makes it one per cent less similar.
HUNDRED = [
    "first = abcdefghijklmnop",
    "second = abcdefghijklmno",
    "third = abcdefghijklmnop",
    "fourth = abcdefghijklmnop",
]


def wrong_in(count: int) -> str:
    """Return the lines of `HUNDRED` with so many characters of the third one wrong."""
    return "\n".join([*HUNDRED[:2], "#" * count + HUNDRED[2][count:], HUNDRED[3]]) + "\n"


@pytest.mark.parametrize(("start_line", "most"), [(0, 5), (2, 10)], ids=["anywhere: 95 %", "near a start line: 90 %"])
async def test_a_similar_place_is_taken_down_to_its_limit_and_below_it_is_shown(
    bench: Bench, start_line: int, most: int
) -> None:
    assert len("\n".join(HUNDRED)) == 100
    text = "\n".join(["import this", *HUNDRED, "the end"]) + "\n"
    file = bench.write("a.py", text)
    below = await bench.failure("apply_diff", path="a.py", diff=_block(wrong_in(most + 1), "new\n", start_line))
    assert f"{99 - most} % similar" in below and "lines 2 to 5" in below
    assert all(f"{number} | {line}" in below for number, line in enumerate(HUNDRED, 2))
    assert file.read_text() == text
    outcome = await bench.run("apply_diff", path="a.py", diff=_block(wrong_in(most), "new\n", start_line))
    assert file.read_text() == "import this\nnew\nthe end\n"
    assert f"{100 - most} %" in str(outcome.for_model)


def test_two_nearly_equal_places_are_refused() -> None:
    part = [f"    self.value_{number} = parse(source, {number})" for number in range(10)]
    text = "\n".join([*part, "", *part[:-1], part[-1] + " ", ""])
    search = (*part[:5], part[5].replace("parse", "parsed"), *part[6:])
    _, problems = find_places(text, [DiffBlock(search, ("x",))])
    assert "several places" in problems[0]


def test_a_near_place_far_from_the_start_line_is_not_taken() -> None:
    part = [f"    self.value_{number} = parse(source, {number})" for number in range(10)]
    text = "\n".join([*part, *["x"] * 100, ""])
    search = (*part[:5], part[5].replace("parse", "parsed"), *part[6:])
    assert find_places(text, [DiffBlock(search, ("x",), 1)])[1] == []
    assert find_places(text, [DiffBlock(search, ("x",), 90)])[0] == []


def test_line_numbers_copied_with_the_text_are_understood() -> None:
    assert _applied(
        CODE, DiffBlock(("6 |     x = 1", "7 |     y = 2"), ("6 |     x = 5", "7 |     y = 2"))
    ) == CODE.replace("x = 1", "x = 5")


def test_blocks_that_overlap_are_refused() -> None:
    blocks = [DiffBlock(("a", "b"), ("x",)), DiffBlock(("b", "c"), ("y",))]
    assert "change the same lines (2 to 2)" in find_places("a\nb\nc\n", blocks)[1][0]


def test_an_empty_search_fits_an_empty_file_only() -> None:
    assert _applied("", DiffBlock((), ("new",))) == "new\n"
    assert "anything like it" in find_places("", [DiffBlock(("x",), ("new",))])[1][0]
    assert "search text is empty" in find_places("a\n", [DiffBlock((), ("new",))])[1][0]
    assert "search text is empty" in find_places("a\n\nb\n", [DiffBlock(("",), ("new",))])[1][0]


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_end_of_the_file_stays_as_it_is(end: str) -> None:
    assert _applied("a\nb" + end, DiffBlock(("b",), ("c", "d"))) == "a\nc\nd" + end


def test_line_ends_of_other_lines_are_never_touched() -> None:
    assert _applied("a\r\nb\nc\r\nd", DiffBlock(("b",), ("x", "y"))) == "a\r\nx\ny\nc\r\nd"
    assert _applied("a\r\nb\nc\r\nd", DiffBlock(("c",), ("x", "y"))) == "a\r\nb\nx\r\ny\r\nd"
    assert _applied("a\nb\x0cc\u2028d\n", DiffBlock(("a",), ("A",))) == "A\nb\x0cc\u2028d\n"


async def test_a_crlf_file_with_a_mark_keeps_both(bench: Bench) -> None:
    file = bench.write("a", b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    await bench.run("apply_diff", path="a", diff=_block("two\n", "2\n2b\n"))
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n2b\r\nthree\r\n"
    await bench.run("apply_diff", path="a", diff=_block("one\n2\n", "1\n").replace("\n", "\r\n"))
    assert file.read_bytes() == b"\xef\xbb\xbf1\r\n2b\r\nthree\r\n"


async def test_a_file_changed_since_the_plan_is_left_alone(bench: Bench) -> None:
    file = bench.write("a.py", CODE)
    plan = await bench.plan("apply_diff", path="a.py", diff=_block("    return 1\n", "    return 2\n"))
    file.write_text(CODE + "# mine\n")
    outcome = await all_tools()["apply_diff"].run(plan, bench.context)
    assert outcome.is_error
    assert "something else changed it" in str(outcome.for_model)
    assert outcome.facts.changed == ()
    assert file.read_text() == CODE + "# mine\n"


async def test_what_cannot_be_edited_is_refused_before_anybody_is_asked(bench: Bench) -> None:
    bench.write("latin", "caf\xe9\n".encode("latin-1"))
    bench.write("same", "x\n")
    assert "not UTF-8" in await bench.failure("apply_diff", path="latin", diff=_block("x\n", "y\n"))
    assert "does not exist" in await bench.failure("apply_diff", path="no", diff=_block("x\n", "y\n"))
    assert "already has exactly" in await bench.failure("apply_diff", path="same", diff=_block("x\n", "x\n"))


async def test_protected_and_outside_files_are_a_concern(bench: Bench) -> None:
    bench.write(".roo/rules.md", "x\n")
    (bench.root.parent / "out").write_text("x\n")
    protected = await bench.plan("apply_diff", path=".roo/rules.md", diff=_block("x\n", "y\n"))
    assert protected.concerns == ("protected file: .roo/rules.md",)
    outside = await bench.plan("apply_diff", path="../out", diff=_block("x\n", "y\n"))
    assert outside.concerns == (f"outside the workspace: {bench.root.parent / 'out'}",)


@pytest.mark.parametrize(
    ("diff", "line", "expected"),
    [
        ("", 1, "<<<<<<< SEARCH"),
        ("hello\n" + _block("a\n", "b\n"), 1, "<<<<<<< SEARCH"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", 3, "======="),
        ("<<<<<<< SEARCH\na\n=======\nb\n", 5, ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n", 5, ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH\na\n<<<<<<< SEARCH\n", 3, "======="),
    ],
)
def test_a_malformed_diff_names_the_line_and_what_should_stand_there(diff: str, line: int, expected: str) -> None:
    with pytest.raises(MalformedDiff) as caught:
        parse_blocks(diff)
    assert (caught.value.line, caught.value.expected) == (line, expected)


async def test_the_model_is_told_how_to_mend_a_malformed_diff(bench: Bench) -> None:
    bench.write("a", "x\n")
    words = await bench.failure("apply_diff", path="a", diff="<<<<<<< SEARCH\nx\n")
    assert "At its line 3, `=======` was expected, but the end was found" in words


def test_fences_blank_lines_and_missing_rules_are_passed_over() -> None:
    diff = "```diff\n\n<<<<<<< SEARCH\n:start_line: 7 \n:end_line: 8\na\n=======\n>>>>>>> REPLACE\n```\n"
    assert parse_blocks(diff) == [DiffBlock(("a",), (), 7)]


_LINE = st.one_of(
    st.text("ab \t\\=-<>|1é", max_size=8),
    st.sampled_from(
        ["=======", "-------", "<<<<<<< SEARCH", ">>>>>>> REPLACE", ":start_line:3", r"\=======", r"\\-------", "", "}"]
    ),
)
_LINES = st.lists(_LINE, min_size=1, max_size=6)


@settings(max_examples=200)
@given(search=_LINES, replace=st.lists(_LINE, max_size=4), start=st.integers(0, 99))
def test_escaped_content_is_read_as_it_was_meant(search: list[str], replace: list[str], start: int) -> None:
    def text(lines: list[str]) -> str:
        return "".join(f"{escape(line)}\n" for line in lines)

    assert parse_blocks(_block(text(search), text(replace), start)) == [DiffBlock(tuple(search), tuple(replace), start)]


@settings(max_examples=300)
@given(data=st.data(), crlf=st.booleans(), ended=st.booleans())
def test_replacing_a_unique_region_and_back_gives_the_same_file(data: st.DataObject, crlf: bool, ended: bool) -> None:
    end = "\r\n" if crlf else "\n"
    before, after = data.draw(st.lists(_LINE, max_size=5)), data.draw(st.lists(_LINE, max_size=5))
    region = ["unique α", *data.draw(st.lists(_LINE, max_size=4))]
    changed = ["unique β", *data.draw(st.lists(_LINE, max_size=4))]
    lines = [*before, *region, *after]
    # A last line that is empty and has no end is no line.
    ended = ended or "" in (lines[-1], [*changed, *after][-1])
    # A single line without an end does not tell how lines end.
    ended = ended or 1 in (len(lines), len([*before, *changed, *after]))
    text = end.join(lines) + (end if ended else "")
    new = _applied(text, DiffBlock(tuple(region), tuple(changed)))
    assert new == end.join([*before, *changed, *after]) + (end if ended else "")
    assert _applied(new, DiffBlock(tuple(changed), tuple(region))) == text


@settings(max_examples=100)
@given(
    text=st.text("ab \n\r", max_size=60), search=_LINES, replace=st.lists(_LINE, max_size=3), start=st.integers(0, 9)
)
def test_any_block_on_any_file_ends_in_places_or_problems(
    text: str, search: list[str], replace: list[str], start: int
) -> None:
    places, problems = find_places(text, [DiffBlock(tuple(search), tuple(replace), start)])
    assert bool(places) != bool(problems)
    for place in places:
        new = replace_places(text, [place])
        lines = text.split("\n")
        assert new.startswith("\n".join(lines[: place.start]))
        assert new.endswith("\n".join(lines[place.end :]))


def test_a_nearly_equal_place_is_found_in_a_large_file() -> None:
    lines = [f"{hashlib.md5(b'%d' % number).hexdigest()} = {number}" for number in range(40_000)]
    search = [*lines[30_000:30_040]]
    search[20] = search[20].replace("=", "==")
    for start_line in (0, 30_010):
        places, problems = find_places("\n".join(lines), [DiffBlock(tuple(search), ("x",), start_line)])
        assert problems == []
        assert (places[0].start, places[0].end) == (30_000, 30_040)
