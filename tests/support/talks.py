"""What tests ask of a conversation on the real engine: what the model was sent, what the log holds, a condense."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from roo_tui import settings
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.domain.blocks import Message, Text, result_text, tool_results
from roo_tui.domain.previews import CondenseRequest
from roo_tui.domain.requests import ModelInfo, Request
from roo_tui.engine import Engine
from roo_tui.tui.app import RooApp
from tests.support.demo_app import DemoScreen
from tests.support.engines import path_of
from tests.support.scripted_model import SCRIPTED, ScriptedModel, asks_for_summary


def small(window: int = 20_000, max_output: int = 1_000, **values: object) -> ModelInfo:
    """Return a model with a small context window."""
    return replace(SCRIPTED, window=window, max_output=max_output, **values)  # type: ignore[arg-type]


def long(number: int) -> str:
    """Return about 1,800 tokens of text that no other number has."""
    return "".join(f"Sentence {line} of text {number} takes its share. " for line in range(150))


def said(request: Request) -> str:
    """Return every text and result of a request's messages, a line apart."""
    return "\n".join(texts_of(request.messages))


def texts_of(messages: Sequence[Message]) -> list[str]:
    """Return every text and result of messages, in order."""
    found = []
    for message in messages:
        found += [block.text for block in message.blocks if isinstance(block, Text)]
        found += [result_text(result) for result in tool_results(message.blocks)]
    return found


def summarising(model: ScriptedModel) -> list[Request]:
    """Return the requests for a summary."""
    return [request for request in model.requests if asks_for_summary(request)]


def talking(model: ScriptedModel) -> list[Request]:
    """Return the requests of the conversation itself."""
    return [request for request in model.requests if not asks_for_summary(request)]


def effective(engine: Engine) -> tuple[Visible, ...]:
    """Return what the model would see now."""
    return effective_history(path_of(engine))


async def condensed(engine: Engine, instructions: str = "") -> None:
    """Condense by hand and wait for the end of it."""
    await engine.condense(CondenseRequest(instructions))
    await engine.idle()


@asynccontextmanager
async def scripted_app(
    workspace: Path, model: ScriptedModel, *, task: str | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[DemoScreen]:
    """Run the app on the real engine with a model that plays a script."""
    engines: list[Engine] = []

    def build(as_demo: bool) -> Engine:
        engines.append(Engine(workspace, settings.load(workspace=workspace), models=lambda _: model))
        return engines[-1]

    app = RooApp(build, resume=task) if task else RooApp(build)
    async with app.run_test(size=size) as pilot:
        screen = DemoScreen(app, engines[0] if engines else None, pilot)  # type: ignore[arg-type]
        await screen.until(lambda: engines and engines[0].read.header().task_id, "the engine")
        screen.engine = engines[0]
        yield screen
        if app.engine is not None:
            await app.action_quit()
