"""The tasks screen: search tasks, resume one, or start a new one."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.domain.entries import TaskInfo
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import age, counted, money
from roo_tui.tui.screens.page import Page

NEW = "new"


class TasksScreen(Page[str | None]):
    """Dismisses with a task's id, `NEW`, or None. The search line keeps the focus; arrows move in the list."""

    TITLE_TEXT = strings.TASKS_TITLE
    KEYS_TEXT = strings.TASKS_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
        Binding("ctrl+n", "new", show=False, priority=True),
    ]

    def __init__(self, tasks: Sequence[TaskInfo], *, now_ms: int, current: str = "", workspace: str = "") -> None:
        super().__init__()
        self._tasks = list(tasks)
        self._now_ms = now_ms
        self._current = current
        self._workspace = workspace
        self._shown: list[TaskInfo] = []

    def body(self) -> Iterable[Widget]:
        """Yield the search line and the tasks."""
        yield Input(placeholder=strings.TASKS_SEARCH, compact=True, id="search")
        options = OptionList(markup=False)
        options.can_focus = False
        yield options
        yield Static(id="nothing", markup=False)

    def on_mount(self) -> None:
        self._show("")

    def on_resize(self) -> None:
        self._show(self.query_one(Input).value)

    def _show(self, typed: str) -> None:
        wanted = typed.lower().split()
        self._shown = [
            task for task in self._tasks if all(word in f"{task.title} {task.workspace}".lower() for word in wanted)
        ]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(Option(self._line(task)) for task in self._shown)
        options.display = bool(self._shown)
        nothing = self.query_one("#nothing", Static)
        nothing.display = not self._shown
        nothing.update(strings.TASKS_NONE_FOUND if self._tasks else strings.TASKS_EMPTY)
        if self._shown:
            options.highlighted = 0

    def _line(self, task: TaskInfo) -> Content:
        """Return the title, then folder (unless it is this one) and figures in columns."""
        width = max(40, self.size.width - 6)
        folder = "" if task.workspace == self._workspace else task.workspace.rstrip("/").rpartition("/")[2]
        figures = f"{one_line(folder, 14):<14}{counted(strings.TASKS_ENTRIES, task.entries):>13}"
        figures += f"{money(task.cost_usd):>9}{age(task.updated_ms, self._now_ms):>11}"
        title = Content(one_line(task.title, 200) or strings.TASKS_UNTITLED)
        room = width - len(figures) - 4
        if title.cell_length > room:
            title = title.truncate(room, ellipsis=True)
        mark = ("● ", "$text-success") if task.id == self._current else "  "
        gap = " " * (room + 2 - title.cell_length)
        return Content.assemble(mark, title, gap, (figures, "$foreground-muted"))

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        self._show(event.value)

    @on(Input.Submitted)
    def _resume(self) -> None:
        highlighted = self.query_one(OptionList).highlighted
        if highlighted is not None:
            self.dismiss(self._shown[highlighted].id)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index].id)

    def action_move(self, lines: int) -> None:
        """Move the highlight while the search line has the focus."""
        options = self.query_one(OptionList)
        if options.highlighted is not None and self._shown:
            options.highlighted = min(max(0, options.highlighted + lines), len(self._shown) - 1)

    def action_new(self) -> None:
        """Start a new task."""
        self.dismiss(NEW)

    def action_less(self) -> None:
        """Clear the search first, then go back."""
        search = self.query_one(Input)
        if search.value:
            search.value = ""
        else:
            self.dismiss(None)
