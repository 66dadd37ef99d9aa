"""The chat's widgets: transcript, open question, queue, prompt, header, context bar and footer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.notifications import SeverityLevel
from textual.screen import Screen

from roo_tui.engine_api import EngineApi
from roo_tui.tui import strings
from roo_tui.tui.bindings import footer_keys
from roo_tui.tui.prompt_history import PromptHistory
from roo_tui.tui.widgets.context_bar import ContextBar
from roo_tui.tui.widgets.dock import QuestionStack, QueueList, TodoList
from roo_tui.tui.widgets.notice_line import NoticeLine
from roo_tui.tui.widgets.prompt import Prompt
from roo_tui.tui.widgets.status_bars import Footer, HeaderBar

if TYPE_CHECKING:  # only names: importing what draws a conversation before the first frame would delay it
    from roo_tui.domain.entries import QueuedMessage
    from roo_tui.domain.views import ContextUse, Header
    from roo_tui.tui.widgets.transcript import TranscriptView

Work = Literal["turn", "condense"]


class ChatDisplay(Screen[None]):
    """The widgets of the chat and their values. `ChatScreen` handles what the user does with them."""

    AUTO_FOCUS = "PromptArea"

    def __init__(self) -> None:
        super().__init__()
        self._under_way: set[Work] = set()

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        yield Vertical(id="conversation")
        with Vertical(id="dock"):
            yield NoticeLine()
            yield TodoList()
            yield QuestionStack()
            yield QueueList()
            yield Prompt()
        yield ContextBar()
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Footer).keys = footer_keys()
        self.show_activity(strings.STARTING)

    async def show_transcript(self) -> None:
        """Mount the transcript. Importing it takes as long as everything painted before."""
        module = await asyncio.to_thread(import_module, "roo_tui.tui.widgets.transcript")
        if not self.transcripts():
            await self.query_one("#conversation", Vertical).mount(module.TranscriptView())

    @property
    def transcript(self) -> TranscriptView:
        """The transcript; missing until `show_transcript` has ended."""
        return self.transcripts()[0]

    def transcripts(self) -> list[TranscriptView]:
        """Return the transcript, or nothing before it is mounted."""
        return list(self.query("#conversation TranscriptView").results())  # type: ignore[arg-type]

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.query_one(Prompt)

    @property
    def notices(self) -> NoticeLine:
        """The line that shows notices."""
        return self.query_one(NoticeLine)

    @property
    def questions(self) -> QuestionStack:
        """The open questions."""
        return self.query_one(QuestionStack)

    @work(group="warm up", exclusive=True)
    async def warm_up(self, engine: EngineApi) -> None:
        """Load what drawing and dialogs need, so that nothing waits for it later.

        Each step blocks Python for up to a fifth of a second, so none begins while the user types.
        """
        for step in (self.transcript.warm_up, engine.measure, engine.warm_up):
            await self.prompt.until_nobody_types()
            await step()

    def use_history(self, history: PromptHistory) -> None:
        """Give the prompt the messages of earlier sessions."""
        self.prompt.history = history

    def show_empty(self, empty: bool, suggestion: str = "") -> None:
        """Welcome the user while a task is empty; `suggestion` is a task to try."""
        if not empty and self.transcript.display:
            return
        from roo_tui.tui.widgets.welcome import Welcome

        self.transcript.display = not empty
        self.prompt.suggestion = suggestion if empty else ""
        there = self.query(Welcome)
        if not empty:
            there.remove()
            return
        welcome = there.first() if there else Welcome()
        welcome.suggestion = suggestion
        if not there:
            self.query_one("#conversation", Vertical).mount(welcome)

    def show_header(self, header: Header) -> None:
        """Show task, model, cost and todo list."""
        self.query_one(HeaderBar).header = header
        todos = self.query_one(TodoList)
        if todos.items != header.todos:
            todos.items = header.todos

    def show_context(self, use: ContextUse) -> None:
        """Show how full the context window is."""
        self.query_one(ContextBar).use = use

    def show_work(self, work: Work, running: bool) -> None:
        """Show that a turn or a condense began or ended; a turn may hold a condense."""
        if running:
            self._under_way.add(work)
        else:
            self._under_way.discard(work)
        self._show_running()

    def _show_running(self) -> None:
        """Show the running job in header, footer and prompt: an open question first, then a condense, then a turn."""
        condensing = "condense" in self._under_way
        self.query_one(HeaderBar).condensing = condensing
        self.prompt.busy = bool(self._under_way)
        activity = strings.CONDENSING if condensing else strings.WORKING if self._under_way else ""
        hint = strings.ESC_CANCELS if condensing else strings.ESC_INTERRUPTS if self._under_way else ""
        waiting = self.questions.waiting
        if waiting:
            activity, hint = strings.WAITING_FOR_ANSWER, strings.TAB_ANSWERS if self.prompt.text.strip() else ""
        self.query_one(Footer).waiting = waiting
        self.show_activity(activity)
        self.show_hint(hint)

    def show_activity(self, text: str) -> None:
        """Show the current activity in the footer; empty for none."""
        self.query_one(Footer).activity = text

    def show_hint(self, text: str) -> None:
        """Show in the footer what the user can do now; blank for nothing."""
        self.query_one(Footer).hint = text

    async def show_queue(self, items: Sequence[QueuedMessage]) -> None:
        """Show the queued messages."""
        await self.query_one(QueueList).show(items)

    def restore_prompt(self, text: str) -> None:
        """Put a message back into the prompt for editing; ↑ brings back what was there."""
        if self.prompt.text.strip():
            self.prompt.history.add(self.prompt.text)
        self.prompt.put(text)
        self.prompt.area.focus()

    def tell(self, text: str, level: SeverityLevel = "information") -> None:
        """Show a notice."""
        self.app.notify(text, severity=level, markup=False)
