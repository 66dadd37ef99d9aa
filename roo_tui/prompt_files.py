"""Load and fill the prompts: every sentence a model reads, in Markdown files with `{{name}}` placeholders.

A prompt is named by its file, or by its file and one of its sections:

    tools/apply_diff              the text of prompts/tools/apply_diff.md before its first section
    tools/apply_diff/not_found    the text under `## not_found` in it

Only `##` with a single lower_snake_case name starts a section, so a text can have headings of its own. Line breaks
around a text are removed; those in values stay. A wheel has the files in `roo_tui/_prompts`, a checkout in `prompts/`;
`README.md` is not a prompt.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SECTION = re.compile(r"^## ([a-z][a-z0-9_]*)$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A text and the names of its placeholders."""

    text: str
    placeholders: frozenset[str]


@cache
def folder() -> Path:
    """Return the folder that holds the prompt files."""
    shipped = Path(__file__).parent / "_prompts"
    return shipped if shipped.is_dir() else Path(__file__).parent.parent / "prompts"


def names() -> list[str]:
    """Return the name of every prompt as `render` takes it, sorted."""
    root = folder()
    files = [path.relative_to(root) for path in root.rglob("*.md") if path.name != "README.md"]
    prompts = (
        f"{file}/{section}" if section else file
        for file in (path.with_suffix("").as_posix() for path in files)
        for section in _sections(file)
    )
    return sorted(prompts)


def placeholders(name: str) -> frozenset[str]:
    """Return the names of the placeholders in a prompt.

    Raises:
        LookupError: there is no such prompt.
    """
    return _prompt(name).placeholders


def render(name: str, /, **values: object) -> str:
    """Return a prompt's text with every placeholder replaced by its value.

    A placeholder inside a value is not replaced.

    Raises:
        LookupError: there is no such prompt.
        ValueError: a placeholder has no value, or a value has no placeholder.
    """
    prompt = _prompt(name)
    if missing := sorted(prompt.placeholders - values.keys()):
        raise ValueError(f"the prompt {name} needs a value for {', '.join(missing)}")
    if unused := sorted(values.keys() - prompt.placeholders):
        raise ValueError(f"the prompt {name} has no placeholder for {', '.join(unused)}")
    return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), prompt.text)


@cache
def _prompt(name: str) -> _Prompt:
    file, section = (name, "") if _path(name).is_file() else name.rpartition("/")[::2]
    text = _sections(file).get(section) if file and _path(file).is_file() else None
    if text is None:
        raise LookupError(f"there is no prompt {name}: neither prompts/{name}.md nor a section of that name")
    return _Prompt(text, frozenset(_PLACEHOLDER.findall(text)))


@cache
def _sections(file: str) -> Mapping[str, str]:
    """Return a file's texts by section; text before the first section has the name "".

    Raises:
        ValueError: a section is empty, or two have the same name.
    """
    first, *rest = _SECTION.split(_path(file).read_text(encoding="utf-8"))
    sections = {"": first.strip("\n")} if first.strip() else {}
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        if name in sections or not text.strip():
            raise ValueError(f"prompts/{file}.md: the section {name} is {'there twice' if text.strip() else 'empty'}")
        sections[name] = text.strip("\n")
    return sections


def _path(file: str) -> Path:
    return folder() / f"{file}.md"
