"""The header and the footer of the chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import money, todo_count

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
            parts.append(self._link(todo_count(header.todos), "todos"))
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
        """Explain the demo in the tooltip."""
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


_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@dataclass(frozen=True, slots=True)
class KeyHint:
    """A key in the footer: its command, how the key is written, and its label."""

    command: str
    key: str
    label: str


class Footer(Widget):
    """One line; hints that do not fit are left out, the last ones first.

    The spinner turns while a job runs, and stops while a question waits for the user (`waiting`).
    """

    DEFAULT_CSS = """
    Footer {
        height: 1;
        padding: 0 1;
        link-style: none;
        link-style-hover: underline;
        link-background-hover: transparent;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--activity", "footer--hint", "footer--key", "footer--word"}

    activity: reactive[str] = reactive("")
    waiting: reactive[bool] = reactive(False)
    hint: reactive[str] = reactive("")
    keys: reactive[Sequence[KeyHint]] = reactive(())

    class KeyPressed(Message):
        """A key of the footer was clicked."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    def __init__(self) -> None:
        super().__init__()
        self._frame = 0
        self._spinner: Timer | None = None

    def on_mount(self) -> None:
        self._spinner = self.set_interval(1 / 10, self._turn, pause=not self.activity)

    def watch_activity(self) -> None:
        self._start_or_stop()

    def watch_waiting(self) -> None:
        self._start_or_stop()

    def _start_or_stop(self) -> None:
        if self._spinner is not None:
            if self.activity and not self.waiting:
                self._spinner.resume()
            else:
                self._spinner.pause()

    def _turn(self) -> None:
        # A picture of the app is only the same twice if nothing turns in it.
        if self.app.animation_level != "none":
            self._frame = (self._frame + 1) % len(_FRAMES)
            self.refresh()

    def render(self) -> Content:
        left = self._left()
        room = self.size.width - cell_len(left.plain) - 2
        right: list[Content] = []
        for hint in self.keys:
            part = self._key(hint)
            needed = cell_len(part.plain) + (2 if right else 0)
            if needed > room:
                break
            room -= needed
            right.append(part)
        keys = Content("  ").join(right)
        gap = self.size.width - cell_len(left.plain) - cell_len(keys.plain)
        return Content.assemble(left, " " * max(0, gap), keys)

    def _left(self) -> Content:
        hint = (self.hint, self.get_visual_style("footer--hint", partial=True))
        if not self.activity:
            return Content.assemble(hint)
        style = self.get_visual_style("footer--activity", partial=True)
        mark = "?" if self.waiting else _FRAMES[self._frame]
        return Content.assemble((f"{mark} {self.activity}", style), "  " if self.hint else "", hint)

    def _key(self, hint: KeyHint) -> Content:
        click = Style.from_meta({"@click": f"press('{hint.command}')"})
        return Content.assemble(
            (hint.key, self.get_visual_style("footer--key", partial=True) + click),
            (f" {hint.label}", self.get_visual_style("footer--word", partial=True) + click),
        )

    def action_press(self, command: str) -> None:
        """A key was clicked."""
        self.post_message(self.KeyPressed(command))
