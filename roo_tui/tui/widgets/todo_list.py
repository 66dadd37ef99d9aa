"""The todo list above the prompt: one line while folded, every item when opened."""

from collections.abc import Sequence
from typing import Literal

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from roo_tui.plain_text import one_line
from roo_tui.tui import strings

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
        done = sum(state == "done" for _, state in self.items)
        head = (strings.TODOS_FOLDED if self.folded else strings.TODOS_OPEN).format(done=done, total=len(self.items))
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
