"""The widgets above the prompt: the todo list, the open question and the queued messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import todo_count
from roo_tui.tui.widgets.question import QuestionPanel

if TYPE_CHECKING:  # only names: importing entries and events before the first frame would delay it
    from roo_tui.domain.entries import QueuedMessage
    from roo_tui.domain.events import Question

State = Literal["pending", "in_progress", "done"]
Items = Sequence[tuple[str, State]]

_MARKS: dict[State, tuple[str, str]] = {
    "done": ("✓", "$text-success"),
    "in_progress": ("●", "$text-warning"),
    "pending": ("○", "$foreground-muted"),
}


class TodoList(VerticalScroll, can_focus=False):
    """Hidden without items, and folded once all are done."""

    DEFAULT_CSS = """
    TodoList { height: auto; max-height: 8; padding: 0 1; display: none; }
    TodoList.-any { display: block; }
    TodoList Static { height: auto; }
    TodoList > #todo-head { height: 1; text-overflow: ellipsis; text-wrap: nowrap; }
    """

    items: reactive[Items] = reactive((), always_update=True)
    folded: reactive[bool] = reactive(True)

    def compose(self) -> ComposeResult:
        yield Static(id="todo-head", markup=False)
        yield Static(id="todo-items", markup=False)

    def watch_items(self) -> None:
        self.set_class(bool(self.items) and any(state != "done" for _, state in self.items), "-any")
        self._draw()

    def watch_folded(self) -> None:
        if self.items:
            self.add_class("-any")
        self._draw()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.folded = not self.folded

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        head = (strings.TODOS_FOLDED if self.folded else strings.TODOS_OPEN).format(count=todo_count(self.items))
        current = next((text for text, state in self.items if state != "done"), "")
        self.query_one("#todo-head", Static).update(
            Content.assemble(
                (head, "$foreground-muted"), (f"  {one_line(current, 200)}" if self.folded and current else "", "$text")
            )
        )
        body = self.query_one("#todo-items", Static)
        body.display = not self.folded
        lines = []
        for text, state in self.items:
            mark, colour = _MARKS[state]
            style = "$foreground-muted strike" if state == "done" else "bold" if state == "in_progress" else ""
            lines.append(Content.assemble("  ", (mark, colour), " ", (one_line(text, 300), style)))
        body.update(Content("\n").join(lines))


class QuestionStack(Vertical):
    """Open questions, oldest first; only the first one is shown. Its panel posts `QuestionAnswered`."""

    DEFAULT_CSS = "QuestionStack { height: auto; }"

    class Changed(Message):
        """Another question is shown, or none. `had_focus` says whether the previous one had the focus."""

        def __init__(self, panel: QuestionPanel | None, had_focus: bool) -> None:
            super().__init__()
            self.panel = panel
            self.had_focus = had_focus

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[str, Question] = {}

    @property
    def waiting(self) -> bool:
        """Whether any question is open."""
        return bool(self._open)

    @property
    def panel(self) -> QuestionPanel | None:
        """The panel that is shown."""
        panel = self.children[0] if self.children else None
        return panel if isinstance(panel, QuestionPanel) else None

    async def show(self, questions: Sequence[Question]) -> None:
        """Show exactly these questions."""
        self._open = {question.id: question for question in questions}
        await self._show_first()

    async def ask(self, question: Question) -> None:
        """Add a question; it shows once the earlier ones are answered."""
        self._open[question.id] = question
        await self._show_first()

    async def close_question(self, question_id: str) -> None:
        """Remove a question that was answered or withdrawn."""
        if self._open.pop(question_id, None) is not None:
            await self._show_first()

    async def _show_first(self) -> None:
        question = next(iter(self._open.values()), None)
        shown = self.panel
        if (shown.question.id if shown else None) == (question.id if question else None):
            return
        had_focus = shown is not None and shown.has_focus_within
        await self.remove_children()
        panel = _panel_for(question) if question is not None else None
        if panel is not None:
            await self.mount(panel)
        self.post_message(self.Changed(panel, had_focus))


def _panel_for(question: Question) -> QuestionPanel:
    from roo_tui.domain.events import Approval
    from roo_tui.tui.widgets.approval import ApprovalPanel
    from roo_tui.tui.widgets.question import ChoicePanel

    body = question.body
    return ApprovalPanel(question, body) if isinstance(body, Approval) else ChoicePanel(question, body)


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
        """Edit the message in the prompt."""
        self.post_message(QueueList.EditPressed(self.item))

    def action_remove(self) -> None:
        """Remove the message from the queue."""
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
