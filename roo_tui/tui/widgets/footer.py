"""The footer: what is going on, and the keys that matter here; keys can be clicked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@dataclass(frozen=True, slots=True)
class KeyHint:
    """A key of the footer: the command it stands for, how the key is written, its word."""

    command: str
    key: str
    label: str


class Footer(Widget):
    """One line; hints that do not fit are left out, the last ones first.

    The spinner turns only while something works; it stands still while a person is waited for (`waiting`).
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
