"""The line between transcript and prompt: a rule, or a notice that covers nothing."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from roo_tui.plain_text import clean
from roo_tui.tui import strings
from roo_tui.tui.numbers import now_ms

Level = Literal["information", "warning", "error"]

_LIFE_S: dict[Level, float] = {"information": 6.0, "warning": 12.0}
_MARKS: dict[Level, str] = {"information": "", "warning": "! ", "error": "✗ "}
_MOST_LINES = 4
_KEPT = 200


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """One notice."""

    text: str
    level: Level
    at_ms: int


class NoticeLine(Widget):
    """Shows the newest notice for some seconds, then dimmed for as long. Errors stay until dismissed.

    Without a notice it is a rule, or no line at all where `rule` is false.
    """

    DEFAULT_CSS = "NoticeLine { height: auto; }"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "notice--rule",
        "notice--information",
        "notice--warning",
        "notice--error",
        "notice--faded",
    }

    class Pressed(Message):
        """The notice was clicked: the user wants to see all of them."""

    def __init__(self, *, rule: bool = True) -> None:
        super().__init__()
        self._least = 1 if rule else 0
        self._past: list[ShownNotice] = []
        self._passing: ShownNotice | None = None
        self._standing: list[ShownNotice] = []
        self._faded = False
        self._timer: Timer | None = None

    @property
    def past(self) -> Sequence[ShownNotice]:
        """Every notice so far, oldest first."""
        return tuple(self._past)

    @property
    def shown(self) -> ShownNotice | None:
        """What is on the line."""
        return self._passing or (self._standing[-1] if self._standing else None)

    def say(self, text: str, level: Level = "information", *, seconds: float | None = None) -> None:
        """Show a notice; a repeated one shows once."""
        notice = ShownNotice(clean(text).strip(), level, now_ms())
        if not notice.text:
            return
        self._past = [*self._past[1 - _KEPT :], notice]
        life = seconds or _LIFE_S.get(level)
        if life is None:
            self._standing = [one for one in self._standing if one.text != notice.text] + [notice]
            self._pass(None, 0)
        else:
            self._pass(notice, life / 2)

    def dismiss(self) -> bool:
        """Dismiss the notice. Return whether there was one."""
        if self.shown is None:
            return False
        if self._passing is None:
            self._standing.pop()
        self._pass(None, 0)
        return True

    def let_go(self) -> None:
        """Remove outdated information; warnings and errors stay."""
        if self._passing is not None and self._passing.level == "information":
            self._pass(None, 0)

    def withdraw(self, text: str) -> None:
        """Remove a notice that no longer holds, at any level."""
        text = clean(text).strip()
        shown = self.shown
        self._standing = [one for one in self._standing if one.text != text]
        if shown is not None and shown.text == text:
            self._pass(None, 0)

    def _pass(self, notice: ShownNotice | None, half_s: float) -> None:
        self._passing, self._faded = notice, False
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(half_s, lambda: self._fade(half_s)) if notice is not None else None
        self.refresh(layout=True)

    def _fade(self, half_s: float) -> None:
        self._faded = True
        self._timer = self.set_timer(half_s, lambda: self._pass(None, 0))
        self.refresh()

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 (Textual's)
        """Return the whole width."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 (Textual's)
        """Return the lines of the notice, or of the rule."""
        return max(self._least, len(self._lines(width)))

    def _lines(self, width: int) -> list[str]:
        notice = self.shown
        if notice is None:
            return []
        room = max(16, width - 6 - len(strings.NOTICE_DISMISS) - len(_MARKS[notice.level]))
        lines = [part for line in notice.text.split("\n") for part in textwrap.wrap(line, room) or [""]]
        if len(lines) > _MOST_LINES:
            lines = [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1][: room - 1] + "…"]
        return [set_cell_size(line, room) if cell_len(line) > room else line for line in lines]

    def render(self) -> Content:
        notice, width = self.shown, self.size.width
        rule = self.get_visual_style("notice--rule", partial=True)
        if notice is None:
            return Content.styled("─" * width, rule)
        style = self.get_visual_style("notice--faded" if self._faded else f"notice--{notice.level}", partial=True)
        muted = self.get_visual_style("notice--faded", partial=True)
        mark = _MARKS[notice.level]
        first, *rest = self._lines(width)
        close = f" {strings.NOTICE_DISMISS} " if notice.level == "error" else ""
        line = max(0, width - 4 - cell_len(mark + first) - len(close))
        rows = [Content.assemble(("── ", rule), (mark + first, style), (" " + "─" * line, rule), (close, muted))]
        rows += [Content.assemble("   ", " " * len(mark), (line, style)) for line in rest]
        return Content("\n").join(rows)

    def on_click(self, event: events.Click) -> None:
        """The cross dismisses; a click elsewhere on a notice asks for all of them."""
        event.stop()
        notice = self.shown
        if notice is None:
            return
        if notice.level == "error" and event.y == 0 and event.x >= self.size.width - len(strings.NOTICE_DISMISS) - 2:
            self.dismiss()
        else:
            self.post_message(self.Pressed())
