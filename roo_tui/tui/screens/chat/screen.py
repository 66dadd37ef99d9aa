"""The chat screen: transcript, open question, prompt, context bar. `commands` holds what its keys do."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on, work
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from roo_tui.commands import by_slash
from roo_tui.domain.errors import MissingKey, RooError
from roo_tui.engine_api import EngineApi
from roo_tui.tui import strings
from roo_tui.tui.bindings import bindings_of, slash_suggestions
from roo_tui.tui.screens.chat import dialogs
from roo_tui.tui.screens.chat.commands import HANDLERS, ROW_ACTIONS
from roo_tui.tui.screens.chat.display import ChatDisplay
from roo_tui.tui.widgets.context_bar import ContextBar
from roo_tui.tui.widgets.dock import QuestionStack, QueueList, TodoList
from roo_tui.tui.widgets.notice_line import NoticeLine
from roo_tui.tui.widgets.prompt import Prompt
from roo_tui.tui.widgets.question import QuestionAnswered
from roo_tui.tui.widgets.status_bars import Footer, HeaderBar

if TYPE_CHECKING:  # only names: importing what draws a conversation before the first frame would delay it
    from roo_tui.tui.widgets.notice_line import ShownNotice
    from roo_tui.tui.widgets.transcript import TranscriptView

Result = TypeVar("Result")

_SLASH = re.compile(r"/([\w.-]+\??)(?:\s+(.*))?\Z", re.DOTALL)


class ChatScreen(ChatDisplay):
    """The screen that is always open. Others open over it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("app")

    class DemoWanted(Message):
        """There is no API key, and the user wants the demo."""

    class ThemeChosen(Message):
        """The user chose a theme, to be shown and remembered."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self) -> None:
        super().__init__()
        self.engine: EngineApi | None = None
        """None until it is ready."""
        self._held: list[str] = []

    async def attach(self, engine: EngineApi) -> None:
        """Take over commands and files from the ready engine, and send what was typed meanwhile."""
        self.engine = engine
        self.prompt.commands = slash_suggestions(engine.read.custom_commands())
        self.prompt.file_source = engine.read.files
        self._show_running()
        held, self._held = self._held, []
        for text in held:
            await self._submit(text)

    # Questions

    @on(QuestionStack.Changed)
    def _question_shown(self, event: QuestionStack.Changed) -> None:
        event.stop()
        if event.panel is None:
            if event.had_focus or self.focused is None:
                self.prompt.area.focus()
        # A user who is typing must not answer by accident.
        elif event.panel.is_attached and not self.prompt.text.strip():
            event.panel.take_focus()
        self._show_running()

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
        """Put an unsent message back into the prompt."""
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
        """Run a command; every key, palette entry and footer word calls this."""
        self.run_command(command_id)

    def run_command(self, command_id: str, arguments: str = "") -> None:
        """Run a command of the table; `arguments` is what followed the slash word."""
        HANDLERS[command_id](self, arguments)

    def do(self, call: Callable[[EngineApi], Awaitable[object]], done: str = "") -> None:
        """Ask the engine for something; a refusal becomes a notice."""
        if self.engine is None:
            self.tell(strings.STARTING)
        else:
            self._call(self.engine, call, done)

    @work(group="engine calls")
    async def _call(self, engine: EngineApi, call: Callable[[EngineApi], Awaitable[object]], done: str) -> None:
        try:
            await call(engine)
        except RooError as error:
            self.tell(str(error), "warning")
        else:
            if done:
                self.tell(done)

    def open(self, dialog: Callable[[], Awaitable[None]]) -> None:
        """Run a dialog that waits for screens; one at a time."""
        if self.is_current:
            self._run_dialog(dialog)

    @work(group="dialog", exclusive=True)
    async def _run_dialog(self, dialog: Callable[[], Awaitable[None]]) -> None:
        try:
            await dialog()
        except RooError as error:
            self.tell(str(error), "warning")

    async def ask(self, screen: Screen[Result]) -> Result | None:
        """Open a screen and return what it was dismissed with."""
        return await self.app.push_screen_wait(screen)

    def offer_demo(self, reason: str = "") -> None:
        """Say that there is no key and offer the demo."""
        self.open(lambda: dialogs.offer_demo(self, reason))

    # What commands do here

    @property
    def past_notices(self) -> Sequence[ShownNotice]:
        """The recent notices, oldest first."""
        return self.notices.past

    def close_something(self) -> bool:
        """Close an open list, edit or line of the prompt or the question. Return whether there was one."""
        panel = self.questions.panel
        return self.prompt.less() or (panel is not None and panel.less())

    def dismiss_notice(self) -> None:
        """Dismiss the notice on the screen."""
        self.notices.dismiss()

    def focus_prompt(self) -> None:
        """Focus the prompt."""
        self.prompt.area.focus()

    def fold_rows(self, *, expanded: bool) -> None:
        """Open or fold every row of the transcript."""
        for transcript in self.transcripts():
            transcript.set_all(expanded)

    def reveal_row(self, key: str) -> None:
        """Bring a row into view and put the cursor on it."""
        self.transcript.scroll_to_key(key)
        self.transcript.focus()

    def copy_text(self, text: str) -> None:
        """Copy a text to the clipboard."""
        self.app.copy_to_clipboard(text)

    def copy_selection(self) -> None:
        """Copy what is selected; twice without a selection quits."""
        self.app.action_help_quit()

    @property
    def help_of_focus(self) -> str:
        """The help of the focused widget, or of the nearest one around it."""
        chain = [] if self.focused is None else self.focused.ancestors_with_self
        return next((node.HELP for node in chain if isinstance(node, Widget) and node.HELP), "")

    @property
    def themes(self) -> Sequence[str]:
        """The names of all themes, the current one first."""
        return [self.app.theme, *(name for name in self.app.available_themes if name != self.app.theme)]

    def show_theme(self, name: str) -> None:
        """Show another theme."""
        self.post_message(self.ThemeChosen(name))

    def start_demo(self) -> None:
        """Restart as the demo."""
        self.post_message(self.DemoWanted())

    def suspend(self) -> None:
        """Suspend the app to the shell."""
        self.app.action_suspend_process()

    async def quit(self) -> None:
        """Close the engine and quit."""
        await self.app.action_quit()

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
        ROW_ACTIONS[event.action](self, event.key)
