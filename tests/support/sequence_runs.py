"""Generate sequences from a seed and play them: in memory, or on the whole engine with SQLite, threads and git."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings

from roo_tui.store import open_store
from tests.support.memory_store import MemoryStore
from tests.support.played import Conversation, Figures, prepare, without_waiting
from tests.support.sequences import Operation, Setting, sequences, settings


def play_many(
    count: int, start: int, folder: Path, *, whole: bool = False, shrink: bool = True, total: Figures | None = None
) -> Figures:
    """Play `count` sequences, the same ones for the same `start`, and return (and add to `total`) what happened.

    In memory everything runs in one thread, so that a failure comes again; `whole` uses the real store, threads and
    checkpoints.

    Raises:
        Broken: a law does not hold; with `shrink` for the shortest sequence that was found.
    """
    figures = Figures() if total is None else total
    play = _play_whole if whole else _play_in_memory

    @seed(start)
    @hypothesis_settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=False,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(settings, sequences)
    def every_sequence(setting: Setting, operations: list[Operation]) -> None:
        figures.different.add(hash(repr((setting, operations))))
        play(runner, folder, setting, operations, figures)

    prepare(folder / "workspace")
    with ExitStack() as stack:
        stack.enter_context(without_waiting())
        if not whole:
            stack.enter_context(patch("asyncio.to_thread", _at_once))
        runner = stack.enter_context(asyncio.Runner())
        every_sequence()
    return figures


def play_one(setting: Setting, operations: Sequence[Operation], folder: Path) -> Figures:
    """Play one sequence in memory and return what happened.

    Raises:
        Broken: a law does not hold.
    """
    figures = Figures()
    prepare(folder / "workspace")
    with without_waiting(), patch("asyncio.to_thread", _at_once), asyncio.Runner() as runner:
        _play_in_memory(runner, folder, setting, operations, figures)
    return figures


def _play_in_memory(
    runner: asyncio.Runner, folder: Path, setting: Setting, operations: Sequence[Operation], total: Figures
) -> None:
    store = MemoryStore()
    workspace = folder / "workspace"
    (workspace / "made.txt").unlink(missing_ok=True)
    _play(runner, Conversation(workspace, setting, lambda: store), operations, total)


def _play_whole(
    runner: asyncio.Runner, folder: Path, setting: Setting, operations: Sequence[Operation], total: Figures
) -> None:
    own = folder / f"whole-{total.sequences}"
    prepare(own / "workspace")
    conversation = Conversation(
        own / "workspace", setting, lambda: open_store(own / "roo-tui.db"), checkpoints=True, poll_s=0.002
    )
    _play(runner, conversation, operations, total)


def _play(runner: asyncio.Runner, conversation: Conversation, operations: Sequence[Operation], total: Figures) -> None:
    try:
        runner.run(conversation.play(operations))
    finally:
        total.add(conversation.figures)


async def _at_once(function: Callable[..., Any], *arguments: Any, **values: Any) -> Any:
    """Run in this thread what would run in another."""
    return function(*arguments, **values)
