"""A submitted message is in the log, in the queue, or handed back with a sentence: never lost and never doubled."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from roo_tui.domain.errors import Interrupted, RooError, StoreError
from roo_tui.domain.events import QueueChanged
from roo_tui.domain.views import UserRow
from roo_tui.engine import Engine
from roo_tui.engine import turn as turn_module
from roo_tui.engine.checkpointing import Checkpointing
from roo_tui.engine.context_gauge import ContextGauge
from roo_tui.engine.runtime import Runtime
from roo_tui.store import Store
from tests.support.engines import engine_on
from tests.support.scripted_model import ScriptedModel, hang


async def messages(engine: Engine) -> list[str]:
    """Return the user messages on the screen, then those in the queue."""
    rows = [row.body.words for row in await engine.read.rows() if isinstance(row.body, UserRow)]
    return rows + [item.words for item in engine.read.queue()]


@pytest.mark.parametrize("mention", ["@" + "a{color:red}" * 40, "@" + "ü" * 200, "@" + "d/" * 3000 + "f"])
async def test_pasted_css_after_an_at_sign_is_sent_like_any_other_text(tmp_path: Path, mention: str) -> None:
    model = ScriptedModel(["Fine."])
    async with engine_on(tmp_path, model) as (engine, recorder):
        assert (await recorder.turn(mention)).reason == "completed"
        assert await messages(engine) == [mention]


# Where a message is between `submit` and its commit, and right after it: (owner, name of what is called).
_BEFORE = [
    (Runtime, "read_project"),
    (turn_module, "close_open_calls"),
    (Checkpointing, "before_message"),
    (turn_module, "environment_details"),
    (turn_module, "compose"),
    (Store, "append"),
]
_AFTER = [(Store, "set_title"), (ContextGauge, "refresh")]


def fails_once(owner: object, name: str, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next call of a function raise an error; the calls after it work as ever."""
    real = getattr(owner, name)

    def failing(*arguments: object, **options: object) -> object:
        monkeypatch.setattr(owner, name, real)
        raise error

    monkeypatch.setattr(owner, name, failing)


@pytest.mark.parametrize(
    "error", [OSError(36, "File name too long"), ValueError("odd"), StoreError("The disk is full.")]
)
@pytest.mark.parametrize(("owner", "name"), _BEFORE, ids=[name for _, name in _BEFORE])
async def test_a_failure_before_the_commit_hands_the_message_back_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, error: Exception
) -> None:
    async with engine_on(tmp_path, ScriptedModel(["Fine."])) as (engine, _):
        fails_once(owner, name, error, monkeypatch)
        with pytest.raises(RooError) as refused:
            await engine.submit("my message")
        assert str(refused.value).endswith((".", ".log"))
        await engine.idle()
        assert await messages(engine) == []
        await engine.submit("my message")
        await engine.idle()
        assert await messages(engine) == ["my message"]


@pytest.mark.parametrize("error", [OSError(28, "No space left"), StoreError("The disk is full.")])
@pytest.mark.parametrize(("owner", "name"), _AFTER, ids=[name for _, name in _AFTER])
async def test_a_failure_after_the_commit_does_not_hand_the_message_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, error: Exception
) -> None:
    async with engine_on(tmp_path, ScriptedModel(["Fine."])) as (engine, _):
        fails_once(owner, name, error, monkeypatch)
        await engine.submit("my message")
        await engine.idle()
        assert await messages(engine) == ["my message"]


async def test_a_message_that_cannot_be_queued_is_handed_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = hang()
    async with engine_on(tmp_path, ScriptedModel([hanging])) as (engine, _):
        await engine.submit("first")
        await hanging.reached.wait()
        fails_once(Store, "enqueue", StoreError("The disk is full."), monkeypatch)
        with pytest.raises(StoreError):
            await engine.submit("second")
        assert await messages(engine) == ["first"]


def paused(owner: object, name: str, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let the next call of an async function wait for ever; the event is set when it does."""
    real: Callable[..., Awaitable[object]] = getattr(owner, name)
    reached = asyncio.Event()

    async def waiting(*arguments: object, **options: object) -> None:
        monkeypatch.setattr(owner, name, real)
        reached.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(owner, name, waiting)
    return reached


@pytest.mark.parametrize(
    ("owner", "name"), [(Runtime, "read_project"), (turn_module, "close_open_calls"), (Checkpointing, "before_message")]
)
async def test_escape_before_the_commit_hands_the_message_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    async with engine_on(tmp_path, ScriptedModel(["Fine."])) as (engine, _):
        reached = paused(owner, name, monkeypatch)
        sending = asyncio.ensure_future(engine.submit("my message"))
        await reached.wait()
        engine.cancel()
        with pytest.raises(Interrupted):
            await sending
        await engine.idle()
        assert await messages(engine) == []
        await engine.submit("my message")
        await engine.idle()
        assert await messages(engine) == ["my message"]


async def test_escape_before_the_turn_has_begun_hands_the_message_back(tmp_path: Path) -> None:
    async with engine_on(tmp_path, ScriptedModel(["Fine."])) as (engine, _):
        sending = asyncio.ensure_future(engine.submit("my message"))
        await asyncio.sleep(0)
        engine.cancel()
        with pytest.raises(Interrupted):
            await sending
        assert await messages(engine) == []


async def test_escape_during_the_commit_leaves_the_message_in_the_log_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, reached = Store.append, asyncio.Event()

    async def slow(*arguments: object, **options: object) -> object:
        reached.set()
        await asyncio.sleep(0.05)
        return await real(*arguments, **options)  # type: ignore[arg-type]

    async with engine_on(tmp_path, ScriptedModel(["Fine."])) as (engine, _):
        monkeypatch.setattr(Store, "append", slow)
        sending = asyncio.ensure_future(engine.submit("my message"))
        await reached.wait()
        engine.cancel()
        await sending
        await engine.idle()
        assert await messages(engine) == ["my message"]


async def test_after_escape_a_new_message_goes_behind_the_queued_ones(tmp_path: Path) -> None:
    hanging = hang()
    async with engine_on(tmp_path, ScriptedModel([hanging])) as (engine, recorder):
        await engine.submit("first")
        await hanging.reached.wait()
        await engine.submit("second")
        await engine.submit("third")
        engine.cancel()
        await engine.idle()
        await engine.submit("fourth")
        assert len(recorder.of(QueueChanged)[-1].items) == 3
        await engine.idle()
        assert await messages(engine) == ["first", "second", "third", "fourth"]
        assert engine.read.queue() == ()
