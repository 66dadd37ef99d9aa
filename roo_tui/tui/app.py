"""The app: show the first frame, start the engine; handle themes, quitting and unexpected errors."""

import asyncio
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import work
from textual.app import App
from textual.command import Provider
from textual.notifications import SeverityLevel
from textual.screen import Screen

from roo_tui import paths
from roo_tui.domain.errors import MissingKey, RooError
from roo_tui.engine_api import EngineApi
from roo_tui.plain_text import clean
from roo_tui.tui import strings
from roo_tui.tui.prompt_history import PromptHistory
from roo_tui.tui.screens.chat.screen import ChatScreen
from roo_tui.tui.themes import DARK, THEMES
from roo_tui.tui.widgets.notice_line import NoticeLine

if TYPE_CHECKING:
    from roo_tui.settings import Settings

log = logging.getLogger(__name__)

_BREATH_S = 0.05
_SWITCH_S = 0.001
"""How long a thread may hold Python while the screen wants it; Python's own 5 ms are felt when typing."""

_TWICE_S = 2.0
"""Two presses of Ctrl+C within this time leave."""

BuildEngine = Callable[[bool], EngineApi]
"""Imports and makes the engine, of the demo where the argument is true. Runs in a thread. Raises MissingKey."""


def _palette() -> type[Provider]:
    from roo_tui.tui.bindings import CommandProvider

    return CommandProvider


class RooApp(App[int]):
    """Ends with 0, or 1 after an unexpected error. `resume` is a task id; `latest` opens the newest task instead."""

    TITLE = strings.APP
    COMMANDS = {_palette}
    # Textual reads the stylesheets of screens that are pushed, not of the default one.
    CSS_PATH = "screens/chat/screen.tcss"

    def __init__(
        self, build: BuildEngine, *, demo: bool = False, resume: str = "", latest: bool = False, theme: str = ""
    ) -> None:
        super().__init__()
        self._build = build
        self._demo = demo
        self._resume = resume
        self._latest = latest
        self._wanted_theme = theme
        self._chat: ChatScreen | None = None
        self._leaves_until = 0.0
        self.engine: EngineApi | None = None
        self.farewell = ""
        """How to resume the task, printed once the app has ended."""
        for own in THEMES:
            self.register_theme(own)
        self.theme = theme if theme in self.available_themes else DARK.name

    @property
    def chat(self) -> ChatScreen:
        """The chat screen."""
        if self._chat is None:
            self._chat = ChatScreen()
        return self._chat

    def get_default_screen(self) -> Screen[Any]:
        """Return the chat."""
        return self.chat

    def on_mount(self) -> None:
        if self._wanted_theme and self._wanted_theme not in self.available_themes:
            sentence = strings.NO_SUCH_THEME.format(name=self._wanted_theme)
            self.call_after_refresh(self.notify, sentence, severity="warning")
        # The terminal comes back empty from a suspension, also where nothing has changed here.
        self.app_resume_signal.subscribe(self, lambda _: self.screen.refresh(layout=True))
        start = partial(self._start_engine, self._demo)
        if self._resume or self._latest:
            self.call_after_refresh(start)
        else:
            # A user who types at once is served first: importing the engine keeps Python busy.
            self.call_after_refresh(self.set_timer, _BREATH_S, start)

    @work(group="engine", exclusive=True)
    async def _start_engine(self, demo: bool) -> None:
        """Build and start the engine, open the task, and show its events until the app ends."""
        chat = self.chat
        await chat.show_transcript()
        history = asyncio.create_task(asyncio.to_thread(PromptHistory.load, paths.state_dir() / "prompts.jsonl"))
        try:
            engine = await asyncio.to_thread(self._build, demo)
            await engine.start()
        except MissingKey as error:
            chat.use_history(await history)
            chat.show_activity("")
            chat.offer_demo(str(error))
            _collect_garbage_again()
            return
        except RooError as error:
            await history
            self._give_up(str(error))
            return
        self.engine = engine
        chat.use_history(await history)
        from roo_tui.tui.dispatcher import Dispatcher

        events = asyncio.create_task(Dispatcher(engine, chat).run())
        try:
            await self._open_task(engine)
            await chat.attach(engine)
            _collect_garbage_again()
            for problem in getattr(engine.settings, "problems", ()):
                chat.tell(problem, "warning")
            await events
        finally:
            events.cancel()

    async def _open_task(self, engine: EngineApi) -> None:
        """Open the requested task; if that fails, say so and open a new one."""
        wanted = self._resume or (await engine.latest_task() if self._latest else None)
        if wanted:
            try:
                await engine.open_task(wanted)
            except RooError as error:
                self.chat.tell(str(error), "error")
            else:
                return
        await engine.new_task()

    def on_chat_screen_demo_wanted(self) -> None:
        """Restart as the demo."""
        self.chat.show_activity(strings.STARTING)
        self._start_engine(True)

    def on_chat_screen_theme_chosen(self, event: ChatScreen.ThemeChosen) -> None:
        """Show another theme."""
        if event.name in self.available_themes:
            self.theme = event.name

    def notify(
        self,
        message: str,
        *,
        title: str = "",  # noqa: ARG002 (Textual's)
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,  # noqa: ARG002 (Textual's)
    ) -> None:
        """Show a notice on a line of its own: a box over the screen would hide what the user reads or types."""
        lines = [*self.chat.query(NoticeLine), *(self.screen.query(NoticeLine) if self.screen is not self.chat else ())]
        for line in lines:
            line.say(message, severity, seconds=timeout)

    # The end

    def leave_soon(self) -> None:
        """Quit; may be called from any thread, and does not wait."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self.action_quit(), self._loop)

    async def action_quit(self) -> None:
        """Close the engine, then quit. Everything shown is already stored."""
        if self.engine is not None:
            engine, self.engine = self.engine, None
            try:
                if await engine.read.rows():
                    header = engine.read.header()
                    options = "--demo " if header.demo else ""
                    self.farewell = strings.RESUME_WITH.format(options=options, task_id=header.task_id)
                await engine.close()
            except RooError as error:
                log.warning("closing: %s", error)
        self.exit(0)

    def action_help_quit(self) -> None:
        """Copy the selection; without one, quit on the second Ctrl+C within two seconds."""
        if text := self.screen.get_selected_text():
            self.copy_to_clipboard(text)
            self.notify(strings.COPIED)
        elif monotonic() < self._leaves_until:
            self.run_worker(self.action_quit())
        else:
            self._leaves_until = monotonic() + _TWICE_S
            self.notify(strings.QUIT_AGAIN, timeout=_TWICE_S)

    def _give_up(self, sentence: str) -> None:
        self.exit(1, return_code=1, message=Text(f"{strings.START_FAILED_TITLE}: {clean(sentence)}"))

    def _handle_exception(self, error: Exception) -> None:
        """Log the error and name the log file; no traceback reaches the screen."""
        log.error("unexpected error", exc_info=error)
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self.panic(Text(strings.UNEXPECTED.format(file=paths.log_file())))


def _collect_garbage_again() -> None:
    """Keep what is loaded so far out of later collections, which would delay typing."""
    gc.freeze()
    gc.enable()


def run(
    workspace: Path,
    settings: "Settings",
    *,
    demo: bool = False,
    auto_approve: bool = False,
    resume: str = "",
    latest: bool = False,
) -> int:
    """Show the app until the user quits; return the exit code. The engine is imported after the first frame."""

    def build(as_demo: bool) -> EngineApi:
        """Import and build the engine."""
        from roo_tui.engine import Engine, sample_workspace
        from roo_tui.settings import find_key, needs_key

        provider = settings.active.provider
        if not as_demo and needs_key(provider) and not find_key(provider):
            raise MissingKey("")
        offered = as_demo and not demo
        return Engine(sample_workspace() if offered else workspace, settings, demo=as_demo, auto_approve=auto_approve)

    gc.disable()
    sys.setswitchinterval(_SWITCH_S)
    app = RooApp(build, demo=demo, resume=resume, latest=latest, theme=settings.appearance.theme)
    watch_terminal(app.leave_soon)
    result = app.run(mouse=settings.appearance.mouse)
    if app.farewell:
        print(app.farewell)
    return result if result is not None else (app.return_code or 0)


log = logging.getLogger(__name__)

_CHECK_S = 2.0
_GRACE_S = 3.0
_HUNG_UP = 129
"""128 and the number of the signal a closed terminal sends."""


def watch_terminal(leave: Callable[[], None]) -> None:
    """Watch the terminal, if there is one. `leave` is called from another thread when it is gone.

    The process ends some seconds later in any case: everything shown is on disk.
    """
    if _is_there():
        threading.Thread(target=_watch, args=(leave,), name="terminal watch", daemon=True).start()


def _watch(leave: Callable[[], None]) -> None:
    while _is_there():
        time.sleep(_CHECK_S)
    log.warning("the terminal is gone")
    leave()
    time.sleep(_GRACE_S)
    os._exit(_HUNG_UP)


def _is_there() -> bool:
    return sys.__stdin__ is not None and sys.__stdin__.isatty()
