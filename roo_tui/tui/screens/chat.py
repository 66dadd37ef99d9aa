"""The chat: transcript, what waits for an answer, prompt, context bar. Here it is decided what keys and clicks do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from roo_tui.commands import by_slash
from roo_tui.domain.errors import MissingKey, RooError, WouldOverwrite
from roo_tui.domain.ids import parse_entry_ref
from roo_tui.plain_text import clean
from roo_tui.prompt_files import render
from roo_tui.tui import words
from roo_tui.tui.bindings import bindings_of, footer_keys, slash_suggestions
from roo_tui.tui.engine_protocol import EngineProtocol
from roo_tui.tui.prompt_history import PromptHistory
from roo_tui.tui.widgets.context_bar import ContextBar
from roo_tui.tui.widgets.footer import Footer
from roo_tui.tui.widgets.header import HeaderBar
from roo_tui.tui.widgets.prompt import Prompt
from roo_tui.tui.widgets.question_panel import Answered, QuestionPanel
from roo_tui.tui.widgets.queue_list import QueueList
from roo_tui.tui.widgets.todo_list import TodoList

if TYPE_CHECKING:  # only names: importing what draws a conversation before the first frame would delay it
    from roo_tui.domain.entries import QueuedMessage
    from roo_tui.domain.events import Question
    from roo_tui.domain.views import ContextUse, Header, Row
    from roo_tui.tui.widgets.transcript import Transcript

_SLASH = re.compile(r"/([\w.-]+)(?:\s+(.*))?\Z", re.DOTALL)


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
        self._engine: EngineProtocol | None = None
        self._held: list[str] = []
        self._turn_running = False
        self._condensing = False
        self._questions: dict[str, Question] = {}

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        yield Vertical(id="conversation")
        with Vertical(id="dock"):
            yield TodoList()
            yield Vertical(id="questions")
            yield QueueList()
            yield Prompt()
        yield ContextBar()
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(Footer).keys = footer_keys()
        self.show_activity(words.STARTING)

    # What the engine and the app show here

    async def show_transcript(self) -> None:
        """Put the transcript in its place. Importing it takes as long as all that is painted before it is there."""
        module = await asyncio.to_thread(import_module, "roo_tui.tui.widgets.transcript")
        place = self.query_one("#conversation", Vertical)
        if not place.children:
            await place.mount(module.Transcript())

    @property
    def transcript(self) -> Transcript:
        """The conversation; there is none before `show_transcript` has ended."""
        return self._transcripts()[0]

    def _transcripts(self) -> list[Transcript]:
        return cast("list[Transcript]", list(self.query_one("#conversation").children))

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.query_one(Prompt)

    async def attach(self, engine: EngineProtocol) -> None:
        """The engine is ready: take its commands and files, and send what was typed meanwhile."""
        self._engine = engine
        self.prompt.commands = slash_suggestions(engine.read.custom_commands())
        self.prompt.file_source = engine.read.files
        self._show_work()
        held, self._held = self._held, []
        for text in held:
            await self._submit(text)

    def use_history(self, history: PromptHistory) -> None:
        """Give the prompt what was sent in earlier sessions."""
        self.prompt.history = history

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
        activity = words.CONDENSING if self._condensing else words.WORKING if self._turn_running else ""
        hint = words.ESC_INTERRUPTS if busy else ""
        if self._questions:
            activity, hint = words.WAITING_FOR_ANSWER, words.TAB_ANSWERS if self.prompt.text.strip() else ""
        self.query_one(Footer).waiting = bool(self._questions)
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
        """Show a sentence for the moment."""
        self.notify(clean(text), severity=level, markup=False)

    # Questions

    async def show_questions(self, questions: Sequence[Question]) -> None:
        """Show exactly these questions, the first one open."""
        self._questions = {question.id: question for question in questions}
        await self._show_first_question()

    async def ask(self, question: Question) -> None:
        """Add a question; it is shown when those before it are answered."""
        self._questions[question.id] = question
        await self._show_first_question()

    async def close_question(self, question_id: str) -> None:
        """Take a question away: answered or withdrawn."""
        if self._questions.pop(question_id, None) is not None:
            await self._show_first_question()

    async def _show_first_question(self) -> None:
        holder = self.query_one("#questions", Vertical)
        question = next(iter(self._questions.values()), None)
        shown = self._panel()
        if shown is not None and question is not None and shown.question.id == question.id:
            return
        had_focus = shown is not None and shown.has_focus_within
        await holder.remove_children()
        if question is None:
            if had_focus or self.focused is None:
                self.prompt.area.focus()
            self._show_work()
            return
        panel = _panel_for(question)
        await holder.mount(panel)
        # Somebody who is typing must not answer by accident.
        if not self.prompt.text.strip():
            panel.take_focus()
        self._show_work()

    def _panel(self) -> QuestionPanel | None:
        panels = self.query_one("#questions", Vertical).children
        panel = panels[0] if panels else None
        return panel if isinstance(panel, QuestionPanel) else None

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        event.stop()
        if self._engine is not None:
            self._engine.answer(event.question_id, event.option, event.text)

    # Sending

    @on(Prompt.Submitted)
    def _sent(self, event: Prompt.Submitted) -> None:
        event.stop()
        editing = event.editing
        if editing is not None and any(item.id == editing.id for item in self._queued()):
            self._do(lambda engine: engine.edit_queued(editing.id, event.text))
            return
        slash = _SLASH.match(event.text.strip())
        if slash and (command := by_slash(slash[1])):
            self.run_command(command.id, (slash[2] or "").strip())
        elif slash and self._engine is not None and slash[1] not in dict(self._engine.read.custom_commands()):
            self.tell(words.NO_SUCH_COMMAND.format(name=slash[1]), "warning")
            self.prompt.put(event.text)
        elif self._engine is None:
            self._held.append(event.text)
            self.show_hint(words.NOT_READY)
        else:
            self._send(event.text)

    @work(group="submit")
    async def _send(self, text: str) -> None:
        await self._submit(text)

    async def _submit(self, text: str) -> None:
        engine = self._engine
        if engine is None:
            return
        try:
            await engine.submit(text)
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

    def _queued(self) -> Sequence[QueuedMessage]:
        return self._engine.read.queue() if self._engine is not None else ()

    @on(QueueList.EditPressed)
    def _edit_queued(self, event: QueueList.EditPressed) -> None:
        self.prompt.edit(event.item)

    @on(QueueList.RemovePressed)
    def _remove_queued(self, event: QueueList.RemovePressed) -> None:
        self._do(lambda engine: engine.remove_queued(event.item.id))
        self.prompt.area.focus()

    @on(Prompt.PageWanted)
    def _page(self, event: Prompt.PageWanted) -> None:
        for transcript in self._transcripts():
            if event.pages < 0:
                transcript.scroll_page_up(animate=False)
            else:
                transcript.scroll_page_down(animate=False)

    # Commands

    def action_run_command(self, command_id: str) -> None:
        """Every key, palette entry and footer word ends here."""
        self.run_command(command_id)

    def run_command(self, command_id: str, arguments: str = "") -> None:
        """Run a command of the table; `arguments` is what followed the slash word."""
        handler: Callable[[str], None] = getattr(self, f"_command_{command_id}")
        handler(arguments)

    def _do(self, call: Callable[[EngineProtocol], Awaitable[Any]], done: str = "") -> None:
        """Ask the engine for something; what it refuses becomes a notice."""
        if self._engine is None:
            self.tell(words.STARTING)
        else:
            self._call(self._engine, call, done)

    @work(group="engine calls")
    async def _call(self, engine: EngineProtocol, call: Callable[[EngineProtocol], Awaitable[Any]], done: str) -> None:
        try:
            await call(engine)
        except RooError as error:
            self.tell(str(error), "warning")
        else:
            if done:
                self.tell(done)

    def _command_condense(self, arguments: str) -> None:
        self._do(lambda engine: engine.condense(arguments))

    def _command_truncate(self, _: str) -> None:
        self._do(lambda engine: engine.truncate())

    def _command_undo(self, _: str) -> None:
        self._open(lambda: self._undo_or_redo("undo"))

    def _command_redo(self, _: str) -> None:
        self._open(lambda: self._undo_or_redo("redo"))

    def _command_interrupt(self, _: str) -> None:
        panel = self._panel()
        if self.prompt.less() or (panel is not None and panel.less()):
            return
        if self._engine is not None and self._engine.busy:
            self.show_hint(words.CANCELLING)
            self._engine.cancel()
        self.prompt.area.focus()

    def _command_new_task(self, _: str) -> None:
        self._do(lambda engine: engine.new_task(), words.NEW_TASK)

    def _command_expand_all(self, _: str) -> None:
        for transcript in self._transcripts():
            transcript.expand_all()

    def _command_fold_all(self, _: str) -> None:
        for transcript in self._transcripts():
            transcript.fold_all()

    def _command_copy(self, _: str) -> None:
        if text := self.get_selected_text():
            self.app.copy_to_clipboard(text)
            self.tell(words.COPIED)
        else:
            self._open(self._ask_to_quit)

    def _command_quit(self, _: str) -> None:
        self._open(self.app.action_quit)

    def _command_rewind(self, _: str) -> None:
        self._open(self._rewind)

    def _command_tasks(self, _: str) -> None:
        self._open(self._choose_task)

    def _command_profile(self, arguments: str) -> None:
        self._open(lambda: self._choose_profile(arguments))

    def _command_theme(self, _: str) -> None:
        self._open(self._choose_theme)

    def _command_settings(self, _: str) -> None:
        self._open(self._settings)

    def _command_help(self, _: str) -> None:
        self._open(self._help)

    # Screens: each is imported where it is opened

    def _open(self, flow: Callable[[], Awaitable[None]]) -> None:
        """Run a flow that waits for screens; one at a time."""
        if self.is_current:
            self._run_flow(flow)

    @work(group="flow", exclusive=True)
    async def _run_flow(self, flow: Callable[[], Awaitable[None]]) -> None:
        try:
            await flow()
        except RooError as error:
            self.tell(str(error), "warning")

    async def _rewind(self) -> None:
        from roo_tui.tui.screens.rewind import RewindScreen

        engine = self._ready()
        screen = RewindScreen(await engine.read.rewind_points(), engine.read.rewind_preview)
        choice = await self.app.push_screen_wait(screen)
        if choice is not None:
            await engine.rewind(
                choice.entry_id, conversation=choice.conversation, files=choice.files, overwrite=choice.overwrite
            )
            self.tell(words.REWOUND)

    async def _undo_or_redo(self, which: Literal["undo", "redo"]) -> None:
        """Files that the person changed are overwritten only after a question."""
        engine = self._ready()
        call = engine.undo if which == "undo" else engine.redo
        try:
            await call()
        except WouldOverwrite as refused:
            from roo_tui.tui.screens.confirm import ConfirmScreen

            screen = ConfirmScreen(
                words.REWIND_CONFLICT_TITLE, str(refused), yes=words.REWIND_CONFLICT_YES, no=words.REWIND_CONFLICT_NO
            )
            if await self.app.push_screen_wait(screen):
                await call(overwrite=True)

    async def _choose_task(self) -> None:
        from roo_tui.tui.numbers import now_ms
        from roo_tui.tui.screens.tasks import NEW, TasksScreen

        engine = self._ready()
        header = engine.read.header()
        screen = TasksScreen(
            await engine.read.tasks(), now_ms=now_ms(), current=header.task_id, workspace=header.workspace
        )
        choice = await self.app.push_screen_wait(screen)
        if choice == NEW:
            await engine.new_task()
        elif choice is not None and choice != header.task_id:
            await engine.open_task(choice)

    async def _choose_profile(self, name: str) -> None:
        engine = self._ready()
        if not name:
            from roo_tui.tui.screens.choose import ChooseScreen

            settings = engine.settings
            choices = [(profile.name, f"{profile.provider}  {profile.model}") for profile in settings.profiles.values()]
            screen = ChooseScreen(words.SETTINGS_ACTIVE_PROFILE, choices, settings.profile)
            name = await self.app.push_screen_wait(screen)
        if name:
            await engine.choose_profile(name)
            self.tell(words.PROFILE_CHOSEN.format(name=name))

    async def _choose_theme(self) -> None:
        from roo_tui.tui.screens.choose import ChooseScreen

        themes = [(theme.name, "") for theme in self.app.available_themes.values()]
        name = await self.app.push_screen_wait(ChooseScreen(words.THEME_TITLE, sorted(themes), self.app.theme))
        if name:
            self.post_message(self.ThemeChosen(name))
            if self._engine is not None:
                await self._engine.change_settings({"appearance.theme": name})

    async def _settings(self) -> None:
        from roo_tui.tui.screens.settings import SettingsScreen

        engine = self._ready()
        prompt = await asyncio.to_thread(render, "condense/request")
        screen = SettingsScreen(
            engine.settings, engine.read.context_use(), sorted(self.app.available_themes), condense_prompt=prompt
        )
        changes = await self.app.push_screen_wait(screen)
        if not changes:
            return
        await engine.change_settings(changes)
        if theme := changes.get("appearance.theme"):
            self.post_message(self.ThemeChosen(theme))
        self.tell(words.SETTINGS_SAVED)

    async def _help(self) -> None:
        from roo_tui.tui.screens.help import HelpScreen

        about = next((node.HELP for node in self._focus_chain() if getattr(node, "HELP", None)), "")
        await self.app.push_screen_wait(HelpScreen(about or ""))

    def _focus_chain(self) -> list[Any]:
        return [] if self.focused is None else list(self.focused.ancestors_with_self)

    async def _ask_to_quit(self) -> None:
        from roo_tui.tui.screens.confirm import ConfirmScreen

        busy = self._engine is not None and self._engine.busy
        text = words.QUIT_BUSY if busy else words.QUIT_TEXT
        screen = ConfirmScreen(words.QUIT_TITLE, text, yes=words.QUIT_YES, no=words.QUIT_NO)
        if await self.app.push_screen_wait(screen):
            await self.app.action_quit()

    def offer_demo(self, reason: str = "") -> None:
        """Say that there is no key and offer the demo."""

        async def flow() -> None:
            from roo_tui.tui.screens.no_key import NoKeyScreen

            if await self.app.push_screen_wait(NoKeyScreen(reason)) == "demo":
                self.post_message(self.DemoWanted())
            else:
                await self.app.action_quit()

        self._open(flow)

    def _ready(self) -> EngineProtocol:
        if self._engine is None:
            raise RooError(words.STARTING)
        return self._engine

    # Clicks

    @on(ContextBar.CondensePressed)
    def _condense_clicked(self) -> None:
        self.run_command("condense")

    @on(Footer.KeyPressed)
    def _key_clicked(self, event: Footer.KeyPressed) -> None:
        self.run_command(event.command)

    @on(HeaderBar.ProfilePressed)
    def _profile_clicked(self) -> None:
        self.run_command("profile")

    @on(HeaderBar.TodosPressed)
    def _todos_clicked(self) -> None:
        todos = self.query_one(TodoList)
        todos.folded = not todos.folded

    def on_transcript_row_action(self, event: Transcript.RowAction) -> None:
        """A key shown in a row's title was pressed or clicked."""
        match event.action:
            case "undo":
                self._do(lambda engine: engine.undo(parse_entry_ref(event.key)))
            case "redo":
                self._do(lambda engine: engine.redo(parse_entry_ref(event.key)))
            case "retry":
                self._open(lambda: self._retry(event.key))
            case "append_receipt":
                self._open(lambda: self._append_receipt(event.key))
            case "copy":
                self._open(lambda: self._copy_row(event.key))

    async def _retry(self, key: str) -> None:
        from roo_tui.domain.views import FailureRow

        engine = self._ready()
        row = await self._row(key)
        if row is not None and isinstance(row.body, FailureRow) and row.body.title == "Condense failed":
            await engine.condense()
        else:
            await engine.submit("")

    async def _copy_row(self, key: str) -> None:
        from roo_tui.tui.widgets.rows import text_of

        row = await self._row(key)
        if row is not None:
            self.app.copy_to_clipboard(text_of(row.body))
            self.tell(words.COPIED)

    async def _append_receipt(self, key: str) -> None:
        """Put what the summary left out into the prompt, to be sent with the next message."""
        from roo_tui.domain.views import ReductionRow

        row = await self._row(key)
        if row is not None and isinstance(row.body, ReductionRow) and row.body.receipt:
            lines = "\n".join(f"- {line}" for line in row.body.receipt)
            self.restore_prompt(f"{words.RECEIPT_INTRODUCTION}\n{lines}\n\n{self.prompt.text}")

    async def _row(self, key: str) -> Row | None:
        return next((row for row in await self._ready().read.rows() if row.key == key), None)


def _panel_for(question: Question) -> QuestionPanel:
    from roo_tui.domain.events import Approval
    from roo_tui.tui.widgets.approval import ApprovalPanel
    from roo_tui.tui.widgets.question import ChoicePanel

    body = question.body
    return ApprovalPanel(question, body) if isinstance(body, Approval) else ChoicePanel(question, body)
