"""Engines with everything real but the model: store, git, tools, files."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from roo_tui import settings
from roo_tui.domain.events import Approval, Choice, Event, Question, QuestionAsked, TurnEnded
from roo_tui.engine import Engine
from tests.support.scripted_model import ScriptedModel

Answerer = Callable[[Question], tuple[str, str]]


def allow_all(question: Question) -> tuple[str, str]:
    """Allow every call, and choose the first answer of every question."""
    if isinstance(question.body, Approval):
        return "allow", ""
    assert isinstance(question.body, Choice)
    return (question.options[0].id, "") if question.options else ("", "yes")


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

    async def turn(self, words: str) -> TurnEnded:
        """Submit words and return the end of the turn."""
        await self._engine.submit(words)
        end = await self.until(lambda event: isinstance(event, TurnEnded))
        await self._engine.idle()
        assert isinstance(end, TurnEnded)
        return end

    def of(self, kind: type[Event]) -> list[Event]:
        """Return the events of a kind so far."""
        return [event for event in self.drain() if isinstance(event, kind)]

    def _take(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, QuestionAsked):
            self._engine.answer(event.question.id, *self._answer(event.question))


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
