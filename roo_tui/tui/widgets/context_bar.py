"""The context bar: tokens used and reserved, the trigger, and a button to condense now."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from roo_tui.plain_text import clean
from roo_tui.tui import strings
from roo_tui.tui.numbers import exact, short_tokens

if TYPE_CHECKING:  # only a name: importing what can be shown before the first frame would delay it
    from roo_tui.domain.views import ContextUse

_EIGHTHS = " ▏▎▍▌▋▊▉"
_SMALLEST, _LARGEST = 8, 48


def fullness(use: ContextUse) -> str:
    """Return `due`, `near` (within a tenth of the window of it) or `calm`."""
    if not use.window or use.used < use.trigger_tokens - use.window // 10:
        return "calm"
    return "due" if use.used >= use.trigger_tokens else "near"


def cells_of(use: ContextUse, width: int) -> tuple[str, str, str]:
    """Return the used, free and reserved parts of a bar of `width` cells, to scale.

    The reserved part takes at least one cell; the used part is exact to an eighth of a cell and never longer than the
    bar.
    """
    if use.window <= 0:
        return "", "░" * width, ""
    reserved = min(width, max(1, round(width * use.reserved / use.window))) if use.reserved else 0
    used, _ = bar(use.used, use.window, width)
    reserved = min(reserved, width - len(used))
    return used, "░" * (width - len(used) - reserved), "▒" * reserved


def bar(part: int, whole: int, width: int) -> tuple[str, str]:
    """Return the full and the empty part of a bar of `width` cells, exact to an eighth; a value above 0 shows."""
    eighths = min(width * 8, round(width * 8 * part / max(1, whole)))
    if part and not eighths:
        eighths = 1
    cells, rest = divmod(eighths, 8)
    full = "█" * cells + (_EIGHTHS[rest] if rest else "")
    return full, "░" * (width - len(full))


class ContextMeter(Widget):
    """The bar and its figures."""

    DEFAULT_CSS = "ContextMeter { height: 1; width: 1fr; pointer: pointer; }"
    COMPONENT_CLASSES: ClassVar[set[str]] = {"meter--used", "meter--free", "meter--reserved", "meter--muted"}

    use: reactive[ContextUse | None] = reactive(None)
    """None before the engine is there."""

    def watch_use(self, use: ContextUse | None) -> None:
        if use is None:
            return
        state = fullness(use)
        self.set_class(state == "near", "-near")
        self.set_class(state == "due", "-due")
        when = strings.CONTEXT_TIP_AUTO if use.auto_condense else strings.CONTEXT_TIP_MANUAL
        tip = strings.CONTEXT_TIP.format(
            window=exact(use.window),
            used=exact(use.used),
            available=exact(use.available),
            reserved=exact(use.reserved),
            when=when.format(trigger=exact(use.trigger_tokens)),
        )
        self.tooltip = Content("\n".join(part for part in (tip, clean(use.threshold_note)) if part))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(ContextBar.MeterPressed())

    def render(self) -> Content:
        use = self.use
        if use is None or not use.window:
            return Content.styled(strings.CONTEXT_UNKNOWN, self.get_visual_style("meter--muted", partial=True))
        figures = self._figures(use)
        bar = min(_LARGEST, max(_SMALLEST, self.size.width - len(figures) - 2))
        used, free, reserved = cells_of(use, bar)
        return Content.assemble(
            (used, self.get_visual_style("meter--used", partial=True)),
            (free, self.get_visual_style("meter--free", partial=True)),
            (reserved, self.get_visual_style("meter--reserved", partial=True)),
            "  ",
            figures,
        )

    def _figures(self, use: ContextUse) -> Content:
        """Return the figures, without what does not fit beside the smallest bar."""
        muted = self.get_visual_style("meter--muted", partial=True)
        used = strings.CONTEXT_USED.format(used=short_tokens(use.used), window=short_tokens(use.window))
        reserved = strings.CONTEXT_RESERVED.format(reserved=short_tokens(use.reserved))
        trigger = strings.CONTEXT_TRIGGER.format(trigger=short_tokens(use.trigger_tokens))
        if not use.auto_condense:
            trigger = strings.CONTEXT_AUTO_OFF
        room = self.size.width - _SMALLEST - 2
        for parts in ((reserved, trigger), (trigger,), ()):
            text = "   ".join(("", *parts)) if parts else ""
            if len(used) + len(text) <= room or not parts:
                break
        return Content.assemble(used, (text, muted))


class CondenseButton(Widget, can_focus=False):
    """The clickable word right of the bar."""

    DEFAULT_CSS = "CondenseButton { height: 1; width: auto; margin-left: 2; pointer: pointer; }"

    def on_mount(self) -> None:
        self.tooltip = Content(strings.CONDENSE_TIP)

    def render(self) -> Content:
        return Content(f"[{strings.CONDENSE}]")

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(ContextBar.CondensePressed())


class ContextBar(Horizontal):
    """Bar, figures and `[Condense]` on one line."""

    DEFAULT_CSS = "ContextBar { height: 1; padding: 0 1; }"

    class CondensePressed(Message):
        """`[Condense]` was clicked."""

    class MeterPressed(Message):
        """The bar was clicked: the user wants to see what fills the window."""

    def compose(self) -> ComposeResult:
        yield ContextMeter()
        yield CondenseButton()

    @property
    def use(self) -> ContextUse | None:
        """The figures shown."""
        return self.query_one(ContextMeter).use

    @use.setter
    def use(self, use: ContextUse) -> None:
        """Show other figures."""
        self.query_one(ContextMeter).use = use
