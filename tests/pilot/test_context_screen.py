"""The context screen on the real engine: what is pinned there is pinned in the task."""

from pathlib import Path

from textual.widgets import OptionList

from tests.support.demo_app import demo_app


async def test_x_pins_an_entry_of_the_task_and_t_compares_what_is_stored(tmp_path: Path) -> None:
    async with demo_app(tmp_path / "sample", size=(80, 24)) as screen:
        await screen.type("Fix the failing date test")
        await screen.press("enter")
        await screen.sees("Allow execute_command?")
        await screen.press("escape")
        await screen.until(lambda: not screen.engine.busy, "the interruption")

        await screen.press("f5")
        await screen.sees("Entries, oldest first")
        entries = screen.app.screen.query_one(OptionList)
        await screen.until(lambda: entries.max_scroll_y and entries.scroll_y == entries.max_scroll_y, "the highlight")
        await screen.press("home", "x")
        await screen.sees("pinned: 1")
        (entry_id,) = screen.engine.read.pinned()
        await screen.sees(f"● e{entry_id}")

        await screen.press("t")
        await screen.sees("smart aggressive")
        await screen.press("escape")
        await screen.sees("pinned: 1")
        await screen.press("home", "x")
        await screen.until(lambda: not screen.engine.read.pinned(), "the pin to come off")
