"""Sections of file outlines within a limit of characters."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.condense.file_outlines import fold, outlines_of
from roo_tui.domain.errors import WorkspaceError
from tests.support.reductions import outlines

OUTLINE = "# a.py\n1--4 | def a():\n6--9 | def b():\n"


async def test_section_holds_path_and_outline() -> None:
    folded = await fold(["src/a.py"], 10_000, outlines({"src/a.py": OUTLINE}))
    assert folded.sections == (
        "<system-reminder>\n## File outline: src/a.py\n# a.py\n1--4 | def a():\n6--9 | def b():\n</system-reminder>",
    )


async def test_unreadable_files_are_counted_and_files_without_outline_are_not() -> None:
    folded = await fold(["gone.py", "a.txt", "a.py", "a.py"], 10_000, outlines({"a.txt": "", "a.py": OUTLINE}))
    assert (len(folded.sections), folded.unreadable) == (1, 1)


async def test_no_file_is_read_once_the_budget_is_used_up() -> None:
    asked: list[str] = []

    async def watching(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
        asked.extend(paths)
        return [(path, OUTLINE) for path in paths]

    await fold([f"{number}.py" for number in range(100)], 500, watching)
    assert len(asked) == 8
    assert (await fold(["a.py"], 100, watching)).sections == ()
    assert len(asked) == 8


async def test_long_outline_is_cut_after_a_whole_line() -> None:
    long = "# a.py\n" + "".join(f"{line}--{line + 4} | def f{line}():\n" for line in range(100))
    (section,) = (await fold(["a.py"], 400, outlines({"a.py": long}))).sections
    assert len(section) <= 400
    assert section.endswith("():\n... (cut)\n</system-reminder>")


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2_000), max_size=20), st.integers(-10, 5_000))
async def test_sections_never_exceed_the_budget(sizes: list[int], budget: int) -> None:
    files = {f"{number}.py": f"# {number}.py\n{'1--9 | x' * size}\n" for number, size in enumerate(sizes)}
    folded = await fold(list(files), budget, outlines(files))
    assert sum(map(len, folded.sections)) <= max(0, budget)


async def test_files_that_cannot_be_read_are_left_out_of_the_outlines() -> None:
    async def read(path: str) -> str:
        if path == "secret.py":
            raise WorkspaceError("ignored")
        return "text"

    async def outline(path: str, text: str) -> str:
        return f"# {path} {text}"

    asked = outlines_of(read, outline, WorkspaceError)
    assert await asked(("a.py", "secret.py", "b.py")) == [("a.py", "# a.py text"), ("b.py", "# b.py text")]
