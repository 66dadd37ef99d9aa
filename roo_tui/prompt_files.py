"""The sentences a model reads: Markdown files with `{{name}}` placeholders, filled here and nowhere else.

A wheel carries them in `roo_tui/_prompts`; a checkout has them in `prompts/`. `README.md` files are for people.
"""

import re
from functools import cache
from pathlib import Path

_PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


@cache
def folder() -> Path:
    """Return the folder that holds the prompt files."""
    shipped = Path(__file__).parent / "_prompts"
    return shipped if shipped.is_dir() else Path(__file__).parent.parent / "prompts"


def names() -> list[str]:
    """Return the name of every prompt file, sorted: its path without `.md`, as `render` takes it."""
    root = folder()
    files = (path.relative_to(root) for path in root.rglob("*.md") if path.name != "README.md")
    return sorted(path.with_suffix("").as_posix() for path in files)


def placeholders(name: str) -> frozenset[str]:
    """Return the names of the placeholders in a prompt file.

    Raises:
        FileNotFoundError: there is no such prompt file.
    """
    return frozenset(_PLACEHOLDER.findall(_template(name)))


def render(name: str, /, **values: object) -> str:
    """Return a prompt file's text with every placeholder replaced by its value; the file's last newline is left out.

    Values are put in as they are: a placeholder inside a value is not filled again.

    Raises:
        FileNotFoundError: there is no such prompt file.
        ValueError: a placeholder has no value, or a value has no placeholder.
    """
    template = _template(name)
    wanted = placeholders(name)
    if missing := sorted(wanted - values.keys()):
        raise ValueError(f"prompts/{name}.md needs a value for {', '.join(missing)}")
    if unused := sorted(values.keys() - wanted):
        raise ValueError(f"prompts/{name}.md has no placeholder for {', '.join(unused)}")
    return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), template)


@cache
def _template(name: str) -> str:
    return (folder() / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
