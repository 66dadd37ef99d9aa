"""Engines with everything real but the model: store, git, tools, files."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from roo_tui import settings
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.events import Approval, Choice, Event, Question, QuestionAsked, TurnEnded
from roo_tui.engine import Engine
from roo_tui.engine.session import Session
from roo_tui.llm import retry
from tests.support.scripted_model import ScriptedModel

Answerer = Callable[[Question], tuple[str, str]]
Kind = TypeVar("Kind", bound=Body)
SomeEvent = TypeVar("SomeEvent", bound=Event)


def allow_all(question: Question) -> tuple[str, str]:
    """Allow every call, and choose the first answer of every question."""
    if isinstance(question.body, Approval):
        return "allow", ""
    assert isinstance(question.body, Choice)
    return (question.options[0].id, "") if question.options else ("", "yes")


def session_of(engine: Engine) -> Session:
    """Return what belongs to the open task."""
    assert engine.read.session is not None
    return engine.read.session


def path_of(engine: Engine) -> tuple[Entry, ...]:
    """Return the entries of the open task's path, oldest first."""
    return session_of(engine).task.log.path()


def bodies(engine: Engine, kind: type[Kind]) -> list[Kind]:
    """Return the bodies of a kind on the path, oldest first."""
    return [entry.body for entry in path_of(engine) if isinstance(entry.body, kind)]


class Recorder:
    """Every event of an engine; answers questions as it is told."""

    def __init__(self, engine: Engine, answer: Answerer) -> None:
        self.events: list[Event] = []
        self._engine = engine
        self._answer = answer
        self._stream = engine.subscribe()

    def drain(self) -> list[Event]:
        """Return all events so far."""
        while not self._stream._queue.empty():
            event = self._stream._queue.get_nowait()
            if event is not None:
                self._take(event)
        return self.events

    async def until(self, wanted: Callable[[Event], bool]) -> Event:
        """Return the first event from now on that is wanted."""
        async for event in self._stream:
            self._take(event)
            if wanted(event):
                return event
        raise AssertionError("the events ended before it came")

    async def turn(self, message: str) -> TurnEnded:
        """Submit a message and return the end of the turn."""
        await self._engine.submit(message)
        end = await self.until(lambda event: isinstance(event, TurnEnded))
        await self._engine.idle()
        assert isinstance(end, TurnEnded)
        return end

    def of(self, kind: type[SomeEvent]) -> list[SomeEvent]:
        """Return the events of a kind so far."""
        return [event for event in self.drain() if isinstance(event, kind)]

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, QuestionAsked):
            self._engine.answer(event.question.id, *self._answer(event.question))


def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let failed requests be tried again at once, as often as ever."""
    _, *rest = retry.with_retries.__defaults__ or ()
    monkeypatch.setattr(retry.with_retries, "__defaults__", ((0.0, 0.0, 0.0), *rest))


@asynccontextmanager
async def engine_on(
    workspace: Path,
    model: ScriptedModel,
    *,
    answer: Answerer = allow_all,
    task: str | None = None,
    auto_approve: bool = False,
) -> AsyncIterator[tuple[Engine, Recorder]]:
    """A started engine with a task open (a new one unless named)."""
    engine = Engine(workspace, settings.load(workspace=workspace), auto_approve=auto_approve, models=lambda _: model)
    await engine.start()
    recorder = Recorder(engine, answer)
    try:
        if task is None:
            await engine.new_task()
        else:
            await engine.open_task(task)
            await engine.measure()
        yield engine, recorder
    finally:
        await engine.close()
