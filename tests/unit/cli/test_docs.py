"""The documentation is true: its tables are the program's own, its links lead somewhere, its examples are valid."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import generate
from roo_tui.context.strategies.smart.presets import config_of
from roo_tui.settings import field_of

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / ".github").rglob("*.md"),
    ROOT / "roo_tui" / "context" / "README.md",
]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", generate.PAGES)
def test_generated_tables_are_up_to_date(page: str) -> None:
    text = text_of(ROOT / page)
    assert "<!-- /" in text
    assert generate.updated(text) == text, "run `make docs`"


def test_every_table_stands_on_a_page() -> None:
    pages = "".join(text_of(ROOT / page) for page in generate.PAGES)
    assert all(f"<!-- {name} -->" in pages for name in generate.TABLES)


def test_the_table_of_prompts_tells_who_renders_each_file_and_with_what() -> None:
    written = generate.prompts_table()
    row = f"| `tools/list_files.md` | {generate.OF_A_TOOL} | `tools/arguments.py`, `tools/list_files.py`, "
    assert f"{row}`tools/registry.py` | limit, path |" in written
    assert "`context/strategies/smart/passes.py`" in written
    files = re.findall(r"^\| `([\w/]+)\.md` ", written, re.MULTILINE)
    assert set(generate.PROMPTS) == {file for file in files if "/" not in file}


def test_the_readme_is_short() -> None:
    assert len(text_of(README).splitlines()) <= 120


def test_every_page_is_reached_from_the_readme() -> None:
    linked = {(README.parent / link.partition("#")[0]).resolve() for link in LINK.findall(text_of(README))}
    assert {page.resolve() for page in (ROOT / "docs").glob("*.md")} <= linked


def test_the_png_pictures_are_those_of_the_readme() -> None:
    shown = set(re.findall(r"screenshots/([\w-]+\.png)", text_of(README)))
    assert {path.name for path in (ROOT / "screenshots").glob("*.png")} == shown


def test_no_picture_shows_where_it_was_drawn() -> None:
    pictures = list((ROOT / "screenshots").glob("*.svg"))
    assert pictures
    assert [path.name for path in pictures if "bin/python" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in LINK.findall(text_of(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in anchors(text_of(target)), f"{name_of(page)} links to {link}"


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_named_files_exist(page: Path) -> None:
    places = (ROOT, ROOT / "roo_tui", page.parent)
    for path in named_paths(text_of(page)):
        assert any((place / path).exists() for place in places), f"{name_of(page)} names {path}"


def named_paths(text: str) -> Iterator[str]:
    """Yield what stands in backticks and looks like a path of this repository; `<name>` stands for any name."""
    for quoted in re.findall(r"`([\w./<>-]+)`", text):
        if re.fullmatch(r"(?:[\w-]+/)+[\w.-]*|[\w-]+/[\w./-]+\.\w+|\w+\.py", quoted) and not quoted.startswith("src/"):
            yield quoted


def test_settings_named_in_the_prose_exist() -> None:
    for page in PAGES:
        for key in re.findall(r"`((?:context|approvals|checkpoints|hooks|appearance)\.[a-z_]+)\b", text_of(page)):
            assert field_of(key) or key.endswith((".py", ".md")), f"{name_of(page)} names {key}"


def test_example_settings_are_valid() -> None:
    blocks = [block for page in PAGES for block in re.findall(r"```toml\n(.*?)```", text_of(page), re.DOTALL)]
    examples = [tomllib.loads(block) for block in blocks]
    keys = [
        (f"{section}.{key}", value)
        for example in examples
        for section, values in example.items()
        if section in generate.SECTION_TITLES and isinstance(values, dict) and section != "profiles"
        for key, value in values.items()
    ]
    assert keys
    for key, value in keys:
        field = field_of(key)
        assert field is not None, key
        field.check(value)
        if key == "context.smart_config":
            assert config_of("custom", value).passes
