"""The header: which task, profile and model, where, what it cost, how far the todos are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import money

if TYPE_CHECKING:  # only a name: importing what can be shown before the first frame would delay it
    from roo_tui.domain.views import Header

_GAP = "  "


class HeaderBar(Widget):
    """One line; drops what matters least where the terminal is narrow."""

    DEFAULT_CSS = """
    HeaderBar {
        height: 1;
        padding: 0 1;
        link-style: none;
        link-background-hover: transparent;
        link-style-hover: underline;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "header--name",
        "header--muted",
        "header--busy",
        "header--link",
    }

    header: reactive[Header | None] = reactive(None)
    """None before the engine is there."""
    condensing: reactive[bool] = reactive(False)

    class ProfilePressed(Message):
        """The profile was clicked."""

    class TodosPressed(Message):
        """The todo count was clicked."""

    def render(self) -> Content:
        left, right = self._parts()
        gap = self.size.width - _width(left) - _width(right)
        return Content.assemble(*left, " " * max(1, gap), *right)

    def _parts(self) -> tuple[list[Content], list[Content]]:
        """Return left and right parts that fit: first the folder gets shorter, then folder, model and todos go."""
        header, room = self.header, self.size.width - 1
        if header is None:
            return [self._styled(strings.APP, "name")], []
        workspace = _home_relative(header.workspace)
        for folder, model, todos in (
            (workspace, True, True),
            (_end_of(workspace, 20), True, True),
            (_end_of(workspace, 12), True, True),
            ("", True, True),
            ("", False, True),
            ("", False, False),
        ):
            left, right = self._left(header, model), self._right(header, folder, todos)
            if _width(left) + _width(right) <= room:
                break
        return left, right

    def _left(self, header: Header, with_model: bool) -> list[Content]:
        parts = [self._styled(strings.APP, "name")]
        if header.demo:
            parts.append(Content.styled(f" {strings.DEMO} ", "bold $background on $warning"))
        if header.profile:
            parts.append(self._link(f"{one_line(header.profile, 24)} ▾", "profile"))
        if with_model and header.model:
            parts.append(self._styled(one_line(header.model, 32), "muted"))
        return _spaced(parts)

    def _right(self, header: Header, folder: str, with_todos: bool) -> list[Content]:
        parts = []
        if self.condensing:
            parts.append(self._styled(strings.CONDENSING, "busy"))
        if header.read_only:
            parts.append(self._styled(strings.READ_ONLY, "busy"))
        if folder and not self.condensing:
            parts.append(self._styled(folder, "muted"))
        if header.task_id:
            known = header.price_known or header.cost_usd
            parts.append(Content(money(header.cost_usd) if known else strings.PRICE_UNKNOWN))
        if with_todos and header.todos:
            done = sum(state == "done" for _, state in header.todos)
            parts.append(self._link(strings.TODO_COUNT.format(done=done, total=len(header.todos)), "todos"))
        return _spaced(parts)

    def _styled(self, text: str, part: str) -> Content:
        return Content.styled(text, self.get_visual_style(f"header--{part}", partial=True))

    def _link(self, text: str, name: str) -> Content:
        style = self.get_visual_style("header--link", partial=True)
        return Content.styled(text, style + Style.from_meta({"@click": f"press('{name}')"}))

    def action_press(self, name: str) -> None:
        """A clickable part was clicked."""
        self.post_message(self.ProfilePressed() if name == "profile" else self.TodosPressed())

    def watch_header(self, header: Header | None) -> None:
        """Say what the demo is where there is one."""
        self.tooltip = strings.DEMO_TIP if header is not None and header.demo else None


def _spaced(parts: list[Content]) -> list[Content]:
    spaced: list[Content] = []
    for part in parts:
        spaced += [Content(_GAP), part] if spaced else [part]
    return spaced


def _width(parts: list[Content]) -> int:
    return sum(cell_len(part.plain) for part in parts)


def _home_relative(folder: str) -> str:
    folder, home = one_line(folder, 400), str(Path.home())
    return "~" + folder.removeprefix(home) if folder == home or folder.startswith(home + "/") else folder


def _end_of(text: str, limit: int) -> str:
    return text if len(text) <= limit else "…" + text[1 - limit :]
