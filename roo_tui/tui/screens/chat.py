"""The chat: transcript, what waits for an answer, prompt, context bar. It shows; what keys do is in `commands`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from roo_tui.commands import by_slash
from roo_tui.domain.errors import MissingKey, RooError
from roo_tui.engine_api import EngineApi
from roo_tui.tui import strings
from roo_tui.tui.bindings import bindings_of, footer_keys, slash_suggestions
from roo_tui.tui.prompt_history import PromptHistory
from roo_tui.tui.widgets.context_bar import ContextBar
from roo_tui.tui.widgets.footer import Footer
from roo_tui.tui.widgets.header import HeaderBar
from roo_tui.tui.widgets.notice_line import NoticeLine
from roo_tui.tui.widgets.prompt import Prompt
from roo_tui.tui.widgets.question_panel import QuestionAnswered
from roo_tui.tui.widgets.question_stack import QuestionStack
from roo_tui.tui.widgets.queue_list import QueueList
from roo_tui.tui.widgets.todo_list import TodoList

if TYPE_CHECKING:  # only names: importing what draws a conversation before the first frame would delay it
    from roo_tui.domain.entries import QueuedMessage
    from roo_tui.domain.views import ContextUse, Header
    from roo_tui.tui.widgets.transcript import TranscriptView

_SLASH = re.compile(r"/([\w.-]+\??)(?:\s+(.*))?\Z", re.DOTALL)


class ChatScreen(Screen[None]):
    """The one screen that is always there. Others are opened over it."""

    AUTO_FOCUS = "PromptArea"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("app")

    class DemoWanted(Message):
        """There is no key, and the person wants the demo."""

    class ThemeChosen(Message):
        """Another theme is to be shown and remembered."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self) -> None:
        super().__init__()
        self.engine: EngineApi | None = None
        """None until it is ready."""
        self._held: list[str] = []
        self._turn_running = False
        self._condensing = False

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

    # What the engine and the app show here

    async def show_transcript(self) -> None:
        """Put the transcript in its place. Importing it takes as long as all that is painted before it is there."""
        module = await asyncio.to_thread(import_module, "roo_tui.tui.widgets.transcript")
        if not self.transcripts():
            await self.query_one("#conversation", Vertical).mount(module.TranscriptView())

    @property
    def transcript(self) -> TranscriptView:
        """The conversation; there is none before `show_transcript` has ended."""
        return self.transcripts()[0]

    def transcripts(self) -> list[TranscriptView]:
        """The conversation, or nothing."""
        return list(self.query("#conversation TranscriptView").results())  # type: ignore[arg-type]

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.query_one(Prompt)

    @property
    def notices(self) -> NoticeLine:
        """Where sentences for the moment are shown."""
        return self.query_one(NoticeLine)

    @property
    def questions(self) -> QuestionStack:
        """What waits for an answer."""
        return self.query_one(QuestionStack)

    async def attach(self, engine: EngineApi) -> None:
        """The engine is ready: take its commands and files, and send what was typed meanwhile."""
        self.engine = engine
        self.prompt.commands = slash_suggestions(engine.read.custom_commands())
        self.prompt.file_source = engine.read.files
        self._show_work()
        held, self._held = self._held, []
        for text in held:
            await self._submit(text)

    @work(group="warm up", exclusive=True)
    async def warm_up(self, engine: EngineApi) -> None:
        """A conversation is shown: load what drawing and asking need next, so that nothing waits for it then.

        Each step holds Python for up to a fifth of a second, so none begins while somebody types.
        """
        for step in (self.transcript.warm_up, engine.measure, engine.warm_up):
            await self.prompt.until_nobody_types()
            await step()

    def use_history(self, history: PromptHistory) -> None:
        """Give the prompt what was sent in earlier sessions."""
        self.prompt.history = history

    def show_empty(self, empty: bool, suggestion: str = "") -> None:
        """Welcome the person where a task holds nothing yet; `suggestion` is a task to try."""
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
        self.query_one(HeaderBar).header = header
        todos = self.query_one(TodoList)
        if todos.items != header.todos:
            todos.items = header.todos

    def show_context(self, use: ContextUse) -> None:
        self.query_one(ContextBar).use = use

    def show_turn(self, running: bool) -> None:
        """A turn runs, or has ended."""
        self._turn_running = running
        self._show_work()

    def show_condensing(self, condensing: bool) -> None:
        """A condense runs, or has ended."""
        self._condensing = condensing
        self.query_one(HeaderBar).condensing = condensing
        self._show_work()

    def _show_work(self) -> None:
        """Say in footer and prompt what goes on; an open question comes before a condense before a turn."""
        busy = self._turn_running or self._condensing
        self.prompt.busy = busy
        activity = strings.CONDENSING if self._condensing else strings.WORKING if self._turn_running else ""
        hint = strings.ESC_CANCELS if self._condensing else strings.ESC_INTERRUPTS if self._turn_running else ""
        waiting = self.questions.waiting
        if waiting:
            activity, hint = strings.WAITING_FOR_ANSWER, strings.TAB_ANSWERS if self.prompt.text.strip() else ""
        self.query_one(Footer).waiting = waiting
        self.show_activity(activity)
        self.show_hint(hint)

    def show_activity(self, text: str) -> None:
        """Say in the footer what goes on; empty for nothing."""
        self.query_one(Footer).activity = text

    def show_hint(self, text: str) -> None:
        self.query_one(Footer).hint = text

    async def show_queue(self, items: Sequence[QueuedMessage]) -> None:
        await self.query_one(QueueList).show(items)

    def restore_prompt(self, text: str) -> None:
        """Put words back for editing; what stood there is one ↑ away."""
        if self.prompt.text.strip():
            self.prompt.history.add(self.prompt.text)
        self.prompt.put(text)
        self.prompt.area.focus()

    def tell(self, text: str, level: SeverityLevel = "information") -> None:
        """Say a sentence for the moment."""
        self.app.notify(text, severity=level, markup=False)

    # Questions

    @on(QuestionStack.Changed)
    def _question_shown(self, event: QuestionStack.Changed) -> None:
        event.stop()
        if event.panel is None:
            if event.had_focus or self.focused is None:
                self.prompt.area.focus()
        # Somebody who is typing must not answer by accident.
        elif event.panel.is_attached and not self.prompt.text.strip():
            event.panel.take_focus()
        self._show_work()

    @on(QuestionAnswered)
    def _answered(self, event: QuestionAnswered) -> None:
        event.stop()
        if self.engine is not None:
            self.engine.answer(event.question_id, event.option, event.text)

    # Sending

    @on(Prompt.Submitted)
    def _sent(self, event: Prompt.Submitted) -> None:
        event.stop()
        engine, editing = self.engine, event.editing
        if editing is not None and engine is not None and any(item.id == editing.id for item in engine.read.queue()):
            self.do(lambda engine: engine.edit_queued(editing.id, event.text))
            return
        slash = _SLASH.match(event.text.strip())
        if slash and (command := by_slash(slash[1])):
            self.run_command(command.id, (slash[2] or "").strip())
        elif slash and engine is not None and slash[1] not in dict(engine.read.custom_commands()):
            self.tell(strings.NO_SUCH_COMMAND.format(name=slash[1]), "warning")
            self.prompt.put(event.text)
        elif engine is None:
            self._held.append(event.text)
            self.show_hint(strings.NOT_READY)
        else:
            self._send(event.text)

    @work(group="submit")
    async def _send(self, text: str) -> None:
        await self._submit(text)

    async def _submit(self, text: str) -> None:
        if self.engine is None:
            return
        try:
            await self.engine.submit(text)
        except MissingKey as error:
            self._give_back(text)
            self.offer_demo(str(error))
        except RooError as error:
            self._give_back(text)
            self.tell(str(error), "error")

    def _give_back(self, text: str) -> None:
        """Nothing that was typed may be lost."""
        if not self.prompt.text.strip():
            self.prompt.put(text)

    @on(QueueList.EditPressed)
    def _edit_queued(self, event: QueueList.EditPressed) -> None:
        self.prompt.edit(event.item)

    @on(QueueList.RemovePressed)
    def _remove_queued(self, event: QueueList.RemovePressed) -> None:
        self.do(lambda engine: engine.remove_queued(event.item.id))
        self.prompt.area.focus()

    @on(Prompt.PageWanted)
    def _page(self, event: Prompt.PageWanted) -> None:
        for transcript in self.transcripts():
            transcript.action_page(event.pages)

    # Commands

    def action_run_command(self, command_id: str) -> None:
        """Every key, palette entry and footer word ends here."""
        self.run_command(command_id)

    def run_command(self, command_id: str, arguments: str = "") -> None:
        """Run a command of the table; `arguments` is what followed the slash word."""
        from roo_tui.tui.screens.chat_commands import ChatCommands

        handler: Callable[[str], None] = getattr(ChatCommands(self), command_id)
        handler(arguments)

    def do(self, call: Callable[[EngineApi], Awaitable[Any]], done: str = "") -> None:
        """Ask the engine for something; what it refuses becomes a notice."""
        if self.engine is None:
            self.tell(strings.STARTING)
        else:
            self._call(self.engine, call, done)

    @work(group="engine calls")
    async def _call(self, engine: EngineApi, call: Callable[[EngineApi], Awaitable[Any]], done: str) -> None:
        try:
            await call(engine)
        except RooError as error:
            self.tell(str(error), "warning")
        else:
            if done:
                self.tell(done)

    def open(self, flow: Callable[[], Awaitable[None]]) -> None:
        """Run a flow that waits for screens; one at a time."""
        if self.is_current:
            self._run_flow(flow)

    @work(group="flow", exclusive=True)
    async def _run_flow(self, flow: Callable[[], Awaitable[None]]) -> None:
        try:
            await flow()
        except RooError as error:
            self.tell(str(error), "warning")

    def offer_demo(self, reason: str = "") -> None:
        """Say that there is no key and offer the demo."""
        from roo_tui.tui.screens.flows import Flows

        self.open(lambda: Flows(self).offer_demo(reason))

    # Clicks

    @on(Prompt.CommandWanted)
    @on(Footer.KeyPressed)
    def _command_clicked(self, event: Prompt.CommandWanted | Footer.KeyPressed) -> None:
        self.run_command(event.command)

    @on(ContextBar.CondensePressed)
    def _condense_clicked(self) -> None:
        self.run_command("condense")

    @on(ContextBar.MeterPressed)
    def _meter_clicked(self) -> None:
        self.run_command("context")

    @on(NoticeLine.Pressed)
    def _notice_clicked(self) -> None:
        self.run_command("notices")

    @on(HeaderBar.ProfilePressed)
    def _profile_clicked(self) -> None:
        self.run_command("profile")

    @on(HeaderBar.TodosPressed)
    def _todos_clicked(self) -> None:
        todos = self.query_one(TodoList)
        todos.folded = not todos.folded

    def on_transcript_view_row_action(self, event: TranscriptView.RowAction) -> None:
        """A key shown in a row's title was pressed or clicked."""
        from roo_tui.tui.screens.row_actions import RowActions

        RowActions(self).run(event.key, event.action)
