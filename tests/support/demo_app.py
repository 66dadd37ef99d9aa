"""The real app on the real engine, store, git and tools; only the model is the demo's script, without its waiting."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from roo_tui import settings
from roo_tui.domain.views import Row
from roo_tui.engine import Engine
from roo_tui.llm.catalog import Catalog
from roo_tui.llm.demo.model import DemoModel
from roo_tui.llm.demo.workspace import make
from roo_tui.llm.options import Profile
from roo_tui.llm.protocol import Model
from roo_tui.tui.app import RooApp


class DemoScreen:
    """A person at the keyboard of the demo: presses keys, and waits for what they look for on the screen."""

    def __init__(self, app: RooApp, engine: Engine, pilot: Pilot[int]) -> None:
        self.app = app
        self.engine = engine
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        for character in text:
            await self.pilot.press({" ": "space"}.get(character, character))

    async def until(self, wanted: Callable[[], object], what: str, seconds: float = 40) -> None:
        """Wait until something is so; the screen is shown if it does not come."""
        try:
            async with asyncio.timeout(seconds):
                while not wanted():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"waited for {what}; the screen shows:\n{self.text()}") from None

    async def sees(self, text: str) -> None:
        await self.until(lambda: text in self.text(), f"“{text}”")

    async def rows(self) -> tuple[Row, ...]:
        return await self.engine.read.rows()

    def text(self) -> str:
        """Return what stands on the screen, a line for a line."""
        width, height = self.app.size
        lines = self.app.screen._compositor.render_strips()
        return "\n".join(strip.crop(0, width).text.rstrip() for strip in lines[:height])


@asynccontextmanager
async def demo_app(folder: Path, *, size: tuple[int, int] = (120, 40), speed: float = 0) -> AsyncIterator[DemoScreen]:
    """Run the app as `roo-tui --demo` does, in a sample project made in `folder`."""
    workspace = make(folder)
    engines: list[Engine] = []

    def models(profile: Profile) -> Model:
        return DemoModel(Catalog.load().info(profile.provider, profile.model), speed=speed)

    def build(as_demo: bool) -> Engine:
        engines.append(Engine(workspace, settings.load(workspace=workspace), demo=as_demo, models=models))
        return engines[-1]

    app = RooApp(build, demo=True)
    async with app.run_test(size=size) as pilot:
        screen = DemoScreen(app, engines[0] if engines else None, pilot)  # type: ignore[arg-type]
        await screen.until(lambda: engines and engines[0].read.header().task_id, "the engine")
        screen.engine = engines[0]
        yield screen
        if app.engine is not None:
            await app.action_quit()
