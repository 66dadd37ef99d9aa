"""Messages that wait for the agent: shown above the prompt, editable, removable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from roo_tui.plain_text import one_line
from roo_tui.tui import strings

if TYPE_CHECKING:  # only a name: importing the entries before the first frame would delay it
    from roo_tui.domain.entries import QueuedMessage


class QueuedLine(Widget, can_focus=True):
    """One waiting message."""

    DEFAULT_CSS = """
    QueuedLine { height: 1; padding: 0 1; link-style: none; link-style-hover: underline; }
    """
    HELP = strings.QUEUE_HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "edit", strings.QUEUE_EDIT, show=False),
        Binding("delete,backspace", "remove", strings.QUEUE_REMOVE, show=False),
    ]

    def __init__(self, item: QueuedMessage) -> None:
        super().__init__()
        self.item = item

    def render(self) -> Content:
        links = Content.assemble(
            "  ",
            (strings.QUEUE_EDIT, Style.from_meta({"@click": "edit"})),
            "  ",
            (strings.QUEUE_REMOVE, Style.from_meta({"@click": "remove"})),
        )
        label = f"{strings.QUEUED}  "
        text = Content(one_line(self.item.words, 500))
        room = max(4, self.size.width - len(label) - len(links.plain))
        if text.cell_length > room:
            text = text.truncate(room, ellipsis=True)
        gap = self.size.width - len(label) - text.cell_length - len(links.plain)
        return Content.assemble((label, "$text-warning"), text, " " * max(0, gap), links.stylize("$foreground-muted"))

    def action_edit(self) -> None:
        """Take the words back into the prompt."""
        self.post_message(QueueList.EditPressed(self.item))

    def action_remove(self) -> None:
        """Drop the message."""
        self.post_message(QueueList.RemovePressed(self.item))

    def on_click(self, event: events.Click) -> None:
        event.stop()


class QueueList(VerticalScroll, can_focus=False):
    """All waiting messages, in the order in which they will be sent."""

    DEFAULT_CSS = "QueueList { height: auto; max-height: 4; }"

    class EditPressed(Message):
        """A queued message is to be edited."""

        def __init__(self, item: QueuedMessage) -> None:
            super().__init__()
            self.item = item

    class RemovePressed(Message):
        """A queued message is to be dropped."""

        def __init__(self, item: QueuedMessage) -> None:
            super().__init__()
            self.item = item

    async def show(self, items: Sequence[QueuedMessage]) -> None:
        """Show exactly these messages."""
        if items == [line.item for line in self.query(QueuedLine)]:
            return
        await self.remove_children()
        await self.mount_all(QueuedLine(item) for item in items)
