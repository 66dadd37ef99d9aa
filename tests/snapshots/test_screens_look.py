"""How a few telling states look. Read the picture before accepting a changed one."""

import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from textual.pilot import Pilot

from roo_tui.domain.views import (
    AnswerRow,
    ContextBreakdown,
    DiffView,
    EntryShare,
    FileChange,
    FileView,
    KindShare,
    ReductionRow,
    RewindPoint,
    RewindPreview,
    Row,
    Todos,
    ToolRow,
    UserRow,
)
from roo_tui.tui.app import RooApp
from tests.support.screen import APPROVAL, CHOICE, Started
from tests.support.scripted_engine import T0, TASK, ScriptedEngine

SMALL, LARGE = (80, 24), (120, 40)
TODOS: Todos = (("Read the failing test", "done"), ("Fix the date parser", "in_progress"), ("Run the tests", "pending"))
Steps = Callable[[Started], Awaitable[None]]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Same clock everywhere, nothing moves."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("HOME", "/srv/ada")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def conversation() -> ScriptedEngine:
    """A short conversation with a read, an edit and a condense."""
    engine = ScriptedEngine()
    old, new = "def load(value):\n    return parse(value)\n", "def load(value):\n    return parse(value, tz=UTC)\n"
    test = FileView("tests/test_dates.py", "import dates\n")
    for row in (
        Row("e1", 1, UserRow("fix the failing date test", T0), in_context=False),
        Row("e2.0", 2, AnswerRow("I'll look at the **test** first. It calls `load`."), in_context=False),
        Row("call:1", 2, ToolRow("1", "read_file", "tests/test_dates.py", "done", "120 lines", test), in_context=False),
        Row("e3", 3, ReductionRow("condense", True, 148_210, 9_874, 0.08, "manual", "native, fresh", 3)),
        Row("e4", 4, UserRow("go on [with the edit]", T0 + 120_000)),
        Row(
            "call:2",
            5,
            ToolRow(
                "2", "apply_diff", "src/dates.py", "done", "+1 −1", DiffView("src/dates.py", old, new), "allowed", 0.2
            ),
        ),
    ):
        engine.append(row)
    engine.read.the_header = type(engine.read.the_header)(
        task_id=TASK,
        workspace="/srv/ada/src/app",
        profile="default",
        model="claude-sonnet-5-5",
        cost_usd=0.42,
        todos=TODOS,
    )
    engine.read.points = (
        RewindPoint(1, "user", "fix the failing date test", T0, "t1", "fix the failing date test"),
        RewindPoint(3, "condense", "Context condensed", T0 + 60_000),
        RewindPoint(5, "tool", "apply_diff src/dates.py", T0 + 130_000, "t2"),
    )
    files = (FileChange("src/dates.py", "restore", 1, 1, conflict=True), FileChange("notes.txt", "delete", 0, 9))
    engine.read.previews = {
        point.entry_id: RewindPreview(point, 3, files, ("big.bin",)) for point in engine.read.points
    }
    return engine


async def nothing(screen: Started) -> None:
    await screen.settle()


async def approval(screen: Started) -> None:
    screen.engine.ask(APPROVAL)
    await screen.settle()


async def question(screen: Started) -> None:
    screen.engine.set_header(demo=True)
    screen.engine.ask(CHOICE)
    await screen.settle()


async def nearly_full(screen: Started) -> None:
    screen.engine.set_use(used=165_000)
    screen.engine.busy = True
    for text in ("also look at the docs", "and [then] the changelog"):
        await screen.engine.submit(text)
    await screen.type("/re")


async def rewind(screen: Started) -> None:
    await screen.press("ctrl+r")


async def settings(screen: Started) -> None:
    await screen.press("f2")
    # How long the form is says nothing about how it looks.
    screen.app.screen.query_one("#form").styles.scrollbar_size_vertical = 0


async def context(screen: Started) -> None:
    kinds = (KindShare("results of read_file", 5_200), KindShare("summaries", 3_600), KindShare("[tools]", 1_074))
    entries = (EntryShare(3, "user", "## Conversation Summary", 3_600), EntryShare(4, "user", "go on [with]", 40))
    screen.engine.read.breakdown = ContextBreakdown(9_874, kinds, entries)
    await screen.press("f5")


async def failed(screen: Started) -> None:
    screen.chat.tell("The provider refused the request: the key is not valid. " * 3, "error")
    await screen.settle()


LOOKS = {
    "chat 80x24": (nothing, SMALL, ""),
    "chat 120x40": (nothing, LARGE, ""),
    "chat 120x40 light": (nothing, LARGE, "roo-light"),
    "approval 80x24": (approval, SMALL, ""),
    "approval 120x40 ansi": (approval, LARGE, "ansi-dark"),
    "question 80x24": (question, SMALL, ""),
    "nearly full 80x24": (nearly_full, SMALL, ""),
    "rewind 80x24": (rewind, SMALL, ""),
    "rewind 120x40": (rewind, LARGE, ""),
    "settings 80x24": (settings, SMALL, ""),
    "context 80x24 ansi": (context, SMALL, "ansi-dark"),
    "failed 80x24 light": (failed, SMALL, "roo-light"),
}


@pytest.mark.parametrize(("steps", "size", "theme"), LOOKS.values(), ids=LOOKS)
def test_look(snap_compare: Any, steps: Steps, size: tuple[int, int], theme: str) -> None:
    engine = conversation()
    app = RooApp(lambda demo: engine, theme=theme)
    app.animation_level = "none"

    async def before(pilot: Pilot[int]) -> None:
        screen = Started(app, engine, pilot)
        await screen.ready()
        screen.chat.prompt.area.cursor_blink = False
        await steps(screen)
        for area in app.screen.query("Input, TextArea"):
            area.cursor_blink = False  # type: ignore[attr-defined]
        await screen.settle()

    assert snap_compare(app, run_before=before, terminal_size=size)
