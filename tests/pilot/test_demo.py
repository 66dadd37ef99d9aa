"""The whole path, pressed by the keys a user presses: only the model is scripted."""

from pathlib import Path

import pytest

from roo_tui.domain.views import AnswerRow, ReductionRow, ToolRow, UserRow
from tests.support.demo_app import DemoScreen, demo_app

TASK = "Fix the failing date test"


async def allow(screen: DemoScreen, tool: str) -> None:
    """Answer the approval of a tool with the key the panel shows."""
    await screen.sees(f"Allow {tool}?")
    await screen.press("tab")
    await screen.press("y")
    await screen.until(lambda: f"Allow {tool}?" not in screen.text() or screen.engine.read.questions(), "the answer")


async def reduction(screen: DemoScreen) -> ReductionRow:
    rows = [row.body for row in await screen.rows() if isinstance(row.body, ReductionRow)]
    assert rows, screen.text()
    return rows[0]


@pytest.mark.line("A4", "A5b")
async def test_the_demo_from_the_first_keystroke_to_the_last_row(tmp_path: Path) -> None:
    async with demo_app(tmp_path / "sample") as screen:
        engine, dates = screen.engine, tmp_path / "sample" / "billing" / "dates.py"
        as_found = dates.read_text()
        await screen.sees("DEMO")
        await screen.type(TASK)
        await screen.press("enter")

        await allow(screen, "execute_command")
        await allow(screen, "apply_diff")
        await allow(screen, "execute_command")
        await screen.until(lambda: not engine.busy, "the end of the turn")
        assert dates.read_text() != as_found
        runs = [r.body for r in await screen.rows() if isinstance(r.body, ToolRow) and r.body.tool == "execute_command"]
        assert [run.view.exit_code for run in runs if run.view and run.view.type == "command"] == [1, 0]

        condensed = await reduction(screen)
        assert condensed.on and condensed.trigger == "automatic"
        assert condensed.tokens_after < condensed.tokens_before and condensed.cost_usd
        numbers = f"{condensed.tokens_before:,} → {condensed.tokens_after:,} tokens"
        await select(screen, "condense")
        await screen.sees(numbers)
        await screen.press("enter")
        await screen.sees("Primary request")
        used = engine.read.context_use().used
        await screen.press("u")
        await screen.until(lambda: engine.read.context_use().used > used, "the undo")
        assert not (await reduction(screen)).on
        await screen.press("u")
        await screen.until(lambda: engine.read.context_use().used == used, "the redo")
        assert (await reduction(screen)).on

        await screen.press("escape")
        await screen.press("ctrl+r")
        await screen.sees("Rewind")
        await screen.press("end")
        await screen.sees("billing/dates.py")
        await screen.press("b")
        await screen.until(lambda: dates.read_text() == as_found, "the files")
        await screen.until(lambda: screen.app.chat.prompt.text == TASK, "the message in the prompt")
        assert not [row for row in await screen.rows() if isinstance(row.body, UserRow)]

        await screen.press("enter")
        await screen.sees("Allow execute_command?")
        await screen.press("escape")
        await screen.until(lambda: not engine.busy, "the interruption")
        assert [row for row in await screen.rows() if isinstance(row.body, AnswerRow)]


async def select(screen: DemoScreen, kind: str) -> None:
    """Go to the transcript and move its cursor to the row of a reduction, as with Tab and the arrow keys."""
    row = next(r for r in await screen.rows() if isinstance(r.body, ReductionRow) and r.body.kind == kind)
    transcript = screen.app.chat.transcript
    for _ in range(6):
        if transcript.has_focus:
            break
        await screen.press("shift+tab")
    assert transcript.has_focus
    await screen.press("end")
    for _ in range(200):
        if transcript.selected_key == row.key:
            return
        await screen.press("up")
    raise AssertionError(f"the row of the {kind} cannot be reached")
