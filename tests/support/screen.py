"""Starts the app with a scripted engine and looks at what it shows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widget import Widget

from roo_tui.domain.events import Approval, Choice, Option, Question
from roo_tui.domain.views import DiffView
from roo_tui.tui.app import RooApp
from roo_tui.tui.screens.chat.screen import ChatScreen
from tests.support.scripted_engine import ScriptedEngine

APPROVAL = Question(
    "q1",
    Approval(
        "c1",
        "apply_diff",
        "src/dates.py",
        "edit",
        DiffView(
            "src/dates.py",
            "def load(value):\n    # [red]not markup[/red]\n    return parse(value)\n",
            "def load(value):\n    # [red]not markup[/red]\n    return parse(value, tz=UTC)\n",
            added=1,
            removed=1,
        ),
        ("it writes outside the workspace",),
    ),
    (Option("allow", "Allow"), Option("always", "Always allow"), Option("deny", "Deny")),
)
CHOICE = Question(
    "q2",
    Choice("Which database should the tests use?"),
    (Option("1", "sqlite in memory"), Option("2", "a temporary [file]"), Option("3", "the real one")),
)


class Started:
    """A running app, its engine and its pilot."""

    def __init__(self, app: RooApp, engine: ScriptedEngine, pilot: Pilot[int]) -> None:
        self.app = app
        self.engine = engine
        self.pilot = pilot

    @property
    def chat(self) -> ChatScreen:
        return self.app.chat

    @property
    def prompt(self) -> str:
        return self.chat.prompt.text

    async def type(self, text: str) -> None:
        """Press the keys of a text, as fast as a quick hand (or a paste into a plain terminal) does."""
        for character in text:
            self.app.post_message(Key(_character_to_key(character), character))
        await self.settle()

    async def press(self, *keys: str) -> None:
        """Press keys and let what they start come to rest."""
        await self.pilot.press(*keys)
        await self.settle()

    async def burst(self, *keys: str) -> None:
        """Press keys that all arrive before the first of them is handled."""
        for key in keys:
            self.app.post_message(Key(_character_to_key(key) if len(key) == 1 else key, key if len(key) == 1 else None))
        await self.settle()

    async def settle(self) -> None:
        """Let events, workers and messages come to rest."""
        for _ in range(3):
            await self.pilot.pause()

    async def ready(self) -> None:
        """Wait until the engine is started and its task is shown."""
        async with asyncio.timeout(10):
            while ("warm_up",) not in self.engine.calls:
                await self.pilot.pause()
        await self.settle()

    async def until(self, text: str) -> None:
        """Wait until a text stands on the screen."""
        async with asyncio.timeout(5):
            while text not in self.text():
                await self.pilot.pause()

    def called(self, name: str) -> list[tuple[object, ...]]:
        """The arguments of each call of an engine command."""
        return [call[1:] for call in self.engine.calls if call[0] == name]

    def text(self, widget: Widget | None = None) -> str:
        """What stands on the screen, or in one widget, line by line."""
        lines = [strip.text for strip in self.app.screen._compositor.render_strips()]
        if widget is not None:
            region = widget.region
            lines = [line[region.x : region.right] for line in lines[region.y : region.bottom]]
        return "\n".join(line.rstrip() for line in lines)

    def notices(self) -> str:
        """Every notice so far."""
        return "\n".join(notice.text for notice in self.chat.notices.past)


@asynccontextmanager
async def started(
    engine: ScriptedEngine | None = None, *, size: tuple[int, int] = (80, 24), theme: str = "", resume: str = ""
) -> AsyncIterator[Started]:
    """Run the app with an engine (a new scripted one by default) until its prompt is ready."""
    engine = engine or ScriptedEngine()
    app = RooApp(lambda demo: engine, theme=theme, resume=resume)
    async with app.run_test(size=size) as pilot:
        screen = Started(app, engine, pilot)
        await screen.ready()
        yield screen
