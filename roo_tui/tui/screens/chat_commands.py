"""What each command of the table does in the chat: one method a command, named by its id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from roo_tui.tui import strings

if TYPE_CHECKING:
    from roo_tui.tui.screens.chat import ChatScreen
    from roo_tui.tui.screens.flows import Flows


class ChatCommands:
    """Handlers of the commands. Each takes what followed its slash word, empty where it was pressed as a key."""

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat

    def _open(self, flow: Callable[[Flows], Awaitable[None]]) -> None:
        """Run a flow over other screens; they are imported when the first of them is opened."""

        async def run() -> None:
            from roo_tui.tui.screens.flows import Flows

            await flow(Flows(self._chat))

        self._chat.open(run)

    # Context

    def condense(self, arguments: str) -> None:
        self._chat.do(lambda engine: engine.condense(arguments))

    def forecast(self, arguments: str) -> None:
        self._open(lambda flows: flows.forecast(arguments))

    def truncate(self, _: str) -> None:
        self._chat.do(lambda engine: engine.truncate())

    def context(self, _: str) -> None:
        self._open(lambda flows: flows.context())

    def undo(self, _: str) -> None:
        self._open(lambda flows: flows.undo_or_redo("undo"))

    def redo(self, _: str) -> None:
        self._open(lambda flows: flows.undo_or_redo("redo"))

    def rewind(self, _: str) -> None:
        self._open(lambda flows: flows.rewind())

    # Task

    def interrupt(self, _: str) -> None:
        """Less: close what is open, or stop what runs, or dismiss what was said."""
        chat = self._chat
        panel = chat.questions.panel
        if chat.prompt.less() or (panel is not None and panel.less()):
            return
        if chat.engine is not None and chat.engine.cancel():
            chat.show_hint(strings.CANCELLING)
        else:
            chat.notices.dismiss()
        chat.prompt.area.focus()

    def new_task(self, _: str) -> None:
        self._chat.do(lambda engine: engine.new_task(), strings.NEW_TASK)

    def tasks(self, _: str) -> None:
        self._open(lambda flows: flows.choose_task())

    def find(self, arguments: str) -> None:
        self._open(lambda flows: flows.find(arguments))

    # Transcript

    def expand_all(self, _: str) -> None:
        for transcript in self._chat.transcripts():
            transcript.expand_all()

    def fold_all(self, _: str) -> None:
        for transcript in self._chat.transcripts():
            transcript.fold_all()

    # Program

    def profile(self, arguments: str) -> None:
        self._open(lambda flows: flows.choose_profile(arguments))

    def theme(self, _: str) -> None:
        self._open(lambda flows: flows.choose_theme())

    def settings(self, _: str) -> None:
        self._open(lambda flows: flows.settings())

    def help(self, _: str) -> None:
        self._open(lambda flows: flows.help())

    def notices(self, _: str) -> None:
        self._open(lambda flows: flows.notices())

    def copy(self, _: str) -> None:
        self._chat.app.action_help_quit()

    def suspend(self, _: str) -> None:
        self._chat.app.action_suspend_process()

    def quit(self, _: str) -> None:
        async def leave() -> None:
            await self._chat.app.action_quit()

        self._chat.open(leave)
