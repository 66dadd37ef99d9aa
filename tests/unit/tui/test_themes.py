"""Every theme has every colour that the screens name."""

import re
from pathlib import Path

import pytest
from textual.app import App
from textual.theme import BUILTIN_THEMES

import roo_tui.tui
from roo_tui.tui.themes import THEMES

FOLDER = Path(roo_tui.tui.__file__).parent
ALL = [*BUILTIN_THEMES.values(), *THEMES]


def used_variables() -> set[str]:
    texts = [path.read_text() for path in FOLDER.rglob("*.tcss")]
    texts += [text for path in FOLDER.rglob("*.py") for text in re.findall(r'"[^"\n]*\$[^"\n]*"', path.read_text())]
    return {name for text in texts for name in re.findall(r"\$([a-z][a-z0-9-]+)", text)}


@pytest.mark.parametrize("theme", ALL, ids=[theme.name for theme in ALL])
def test_a_theme_has_every_colour_that_is_used(theme: object) -> None:
    app: App[None] = App()
    for own in THEMES:
        app.register_theme(own)
    app.theme = theme.name  # type: ignore[attr-defined]
    assert used_variables() - set(app.get_css_variables()) == set()


def test_no_stylesheet_names_a_colour_itself() -> None:
    for path in FOLDER.rglob("*.tcss"):
        assert not re.search(r":\s*(#[0-9a-fA-F]{3,8}|rgb|hsl|ansi_)", path.read_text()), path.name
