"""Shell hooks: what they get, what they may say, and that a broken one changes nothing."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from roo_tui.context.strategies.hooks import CondenseHooks, HookReply
from roo_tui.context.strategies.protocol import StrategyEvent
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.markers import Condense, Reduction
from tests.support.histories import History
from tests.support.reductions import inputs

PATH = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def event(counter: TokenCounter) -> StrategyEvent:
    history = History()
    history.user("the task")
    history.answer("done")
    return StrategyEvent("start", "native", inputs(history.path, counter, instructions="Be brief."))


def hooks(folder: Path, *before: str, timeout_s: float = 10.0) -> CondenseHooks:
    return CondenseHooks(before=before, folder=folder, environment=PATH, timeout_s=timeout_s)


async def test_a_hook_gets_the_figures_as_json(event: StrategyEvent, tmp_path: Path):
    assert await hooks(tmp_path, "cat > got.json").run_before(event) == HookReply()
    got = json.loads((tmp_path / "got.json").read_text())
    assert got == {
        "event": "before_condense",
        "strategy": "native",
        "trigger": "manual",
        "context_tokens": event.given.context_tokens,
        "trigger_tokens": event.given.limits.trigger_tokens,
        "window": 100_000,
        "model": "summariser",
        "instructions": "Be brief.",
        "messages": 2,
    }


async def test_instructions_of_several_hooks_are_joined(event: StrategyEvent, tmp_path: Path):
    first, second = ("""echo '{"instructions": " Keep the port. "}'""", """echo '{"instructions": "And the host."}'""")
    reply = await hooks(tmp_path, first, second).run_before(event)
    assert reply == HookReply(instructions="Keep the port.\n\nAnd the host.")


async def test_a_hook_blocks_by_its_answer_or_its_exit_code(event: StrategyEvent, tmp_path: Path):
    by_answer = await hooks(tmp_path, """echo '{"block": true, "reason": "not now"}'""").run_before(event)
    assert by_answer == HookReply(True, "not now")
    by_code = await hooks(tmp_path, "echo 'not\033[31m here' >&2; exit 2").run_before(event)
    assert by_code == HookReply(True, "not here")


@pytest.mark.parametrize(
    "command",
    ["exit 1", "echo some words", "echo '[1]'", "no-such-command", "exec <&-; exit 0", """echo '{"block": "yes"}'"""],
)
async def test_anything_else_a_hook_does_changes_nothing(event: StrategyEvent, tmp_path: Path, command: str):
    assert await hooks(tmp_path, command).run_before(event) == HookReply()


async def test_a_hook_that_does_not_end_is_ended_with_what_it_started(event: StrategyEvent, tmp_path: Path):
    # The child holds the other end of the pipe open for as long as it lives.
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    command = "exec 3> pipe; sleep 60 & echo started >&3; sleep 60"
    reply = await hooks(tmp_path, command, timeout_s=1.0).run_before(event)
    assert reply == HookReply()
    with os.fdopen(reader, "rb") as pipe:
        os.set_blocking(reader, True)
        assert await asyncio.wait_for(asyncio.to_thread(pipe.read), 10) == b"started\n"


async def test_a_hook_in_a_folder_that_is_gone_changes_nothing(event: StrategyEvent, tmp_path: Path):
    assert await hooks(tmp_path / "gone", "true").run_before(event) == HookReply()


async def test_a_hook_has_the_given_environment_only(event: StrategyEvent, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "secret")
    await hooks(tmp_path, "env > seen").run_before(event)
    assert "secret" not in (tmp_path / "seen").read_text()


async def test_after_hooks_are_told_how_it_ended(event: StrategyEvent, tmp_path: Path):
    body = Condense((1, 2), (), Reduction(cost_usd=0.25))
    ended = StrategyEvent("success", "native", event.given, (body,), 1_234)
    await CondenseHooks(after=("cat > got.json",), folder=tmp_path, environment=PATH).run_after(ended)
    got = json.loads((tmp_path / "got.json").read_text())
    assert (got["event"], got["outcome"], got["tokens_after"], got["cost_usd"]) == (
        "after_condense",
        "success",
        1_234,
        0.25,
    )
