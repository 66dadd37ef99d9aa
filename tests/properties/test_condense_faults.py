"""Whatever the summariser does, a reduction changes nothing it should not, and the conversation is never stuck.

Faults: HTTP 500, timeout, empty answer, tool call as answer, answer longer than the history, cancel. After each the
history is identical to before, what it cost is known, and over the limit another rung makes room.
"""

import asyncio
import os
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from roo_tui.context.condense.request import prefix_hash
from roo_tui.context.condense.steps import condense
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.pairing import open_calls, repair, with_user_blocks
from roo_tui.context.ladder import reduce
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import failed
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text, ToolUse
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CondenseError, CondenseRefused, ModelError
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.domain.requests import Request, ToolSpec
from tests.support.api_rules import violations
from tests.support.histories import History
from tests.support.reductions import MODEL, inputs, services_for, summariser
from tests.support.scripted_model import SUMMARY, hang

EXAMPLES = int(os.environ.get("ROO_TUI_EXAMPLES", "0"))
COUNTER = TokenCounter()
WORDS = "alpha beta gamma delta " * 40
TOOLS = (ToolSpec("read_file", "Reads.", {"type": "object"}),)
# The cancel is no answer of the model: the test hangs up.
CANCEL = "cancel"

FAULTS: dict[str, Any] = {
    "500": ModelError("The service failed.", status=500, retryable=True),
    "timeout": ModelError("The request timed out.", status=504, code="timeout_error", retryable=True),
    "empty": " \n",
    "tool call": ToolUse("toolu_x", "read_file", {"path": "a.py"}),
    "longer": SUMMARY + " again and again" * 9_000,
    "no summary": "Sure, what shall I do?",
}
EVERY_FAULT = sorted((*FAULTS, CANCEL))

steps = st.lists(st.sampled_from(["user", "answer", "loop", "open", "big"]), min_size=1, max_size=14)
faults = st.sampled_from(EVERY_FAULT)


def built(kinds: list[str]) -> History:
    history = History()
    history.user(f"the first request {WORDS}")
    for number, kind in enumerate(kinds):
        match kind:
            case "user":
                history.user(f"{number} {WORDS}")
            case "answer":
                history.answer(f"{number} {WORDS * 2}")
            case "big":
                history.answer(f"{number} {WORDS * 8}")
            case _:
                history.call(f"t{number}")
                if kind == "loop":
                    history.result(f"t{number}", content=WORDS * 3)
    return history


def request_of(visible: tuple[Visible, ...]) -> Request:
    messages = repair(visible, provider=MODEL.provider, model=MODEL.id)
    return Request(with_user_blocks(messages, (Text("go on"),)), ("You are an agent.",), TOOLS)


async def attempted(history: History, fault: str, *, warm: bool, **values: Any) -> tuple[Body, ...]:
    """Run the ladder with a summariser that has this fault; a cancel comes while it writes.

    `warm`: the provider has the first message in its cache, so that the cached shape may be chosen.
    """
    hanging = hang()
    model = summariser(hanging if fault == CANCEL else FAULTS[fault])
    known: dict[str, Any] = {}
    if warm:
        first = repair(effective_history(history.path)[:1], provider=MODEL.provider, model=MODEL.id)
        known = {"last_prefix": prefix_hash(Request(first, ("You are an agent.",), TOOLS)), "idle_s": 1.0}
    here = inputs(history.path, COUNTER, tools=TOOLS, **(values | known))
    services = services_for(model, COUNTER)
    run = asyncio.create_task(reduce(here, services, ContextOptions()))
    if fault != CANCEL:
        return await run
    began = asyncio.create_task(hanging.reached.wait())
    await asyncio.wait([run, began], return_when=asyncio.FIRST_COMPLETED)
    if run.done():
        began.cancel()
        return await run
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert services.cost_usd is not None
    return (failed(here, services, "Cancelled.", cancelled=True),)


@pytest.mark.line("C27")
@settings(
    max_examples=EXAMPLES or 40,
    deadline=None,
    derandomize=not EXAMPLES,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
@given(
    steps,
    st.lists(st.tuples(faults, st.booleans(), st.sampled_from(["automatic", "forced"])), min_size=1, max_size=4),
    st.integers(4_000, 20_000),
    st.integers(5, 100),
)
async def test_no_fault_of_the_summariser_loses_anything_or_leaves_the_conversation_stuck(
    kinds: list[str], attempts: list[tuple[str, bool, Any]], window: int, percent: int
) -> None:
    history = built(kinds)
    for fault, warm, trigger in attempts:
        if open_calls(history.path):
            history.result(*(call.id for call in open_calls(history.path)))
        before, visible = history.path, effective_history(history.path)
        saved = [(entry.id, entry.body) for entry in before]
        bodies = await attempted(history, fault, warm=warm, trigger=trigger, window=window, percent=percent)
        assert history.path is before
        for body in bodies:
            seen = effective_history(history.path)
            history.add(body)
            now = effective_history(history.path)
            if isinstance(body, Condense | Truncation):
                assert COUNTER.count_messages(now) < COUNTER.count_messages(seen)
            else:
                assert now == seen
            if isinstance(body, Condense):
                assert body.figures.shape == "outline"
        assert [(entry.id, entry.body) for entry in history.path[: len(saved)]] == saved
        if all(isinstance(body, CondenseFailed) for body in bodies):
            assert effective_history(history.path) == visible
        # The model is asked again and answers.
        assert violations(request_of(effective_history(history.path)).messages, provider=MODEL.provider) == []
        history.user("go on")
        history.answer("going on")


@pytest.mark.parametrize("fault", EVERY_FAULT)
@pytest.mark.parametrize("shape", ["fresh", "cached", "staged"])
@pytest.mark.line("C27")
async def test_history_is_as_before_after_every_fault_in_every_shape(fault: str, shape: str) -> None:
    history = built(["loop"] * 12)
    history.answer("Done.")
    request = Request(
        repair(effective_history(history.path[:-1]), provider=MODEL.provider, model=MODEL.id),
        ("You are an agent.",),
        TOOLS,
    )
    values: dict[str, Any] = {"tools": TOOLS}
    if shape == "cached":
        values |= {"last_prefix": prefix_hash(request), "idle_s": 1.0}
    if shape == "staged":
        values |= {"window": 5_000}
    before, visible = history.path, effective_history(history.path)
    hanging = hang()
    model = summariser(hanging if fault == CANCEL else FAULTS[fault])
    here = inputs(history.path, COUNTER, **values)
    services = services_for(model, COUNTER)
    run = asyncio.create_task(condense(here, services, ContextOptions()))
    if fault == CANCEL:
        await hanging.reached.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    else:
        with pytest.raises((CondenseError, CondenseRefused)):
            await run
    assert history.path is before
    assert effective_history(history.path) == visible
    assert (services.cost_usd is not None) is (fault not in ("500", "timeout"))
    for asked in model.requests:
        assert violations(asked.messages, provider=MODEL.provider, model=MODEL.id) == []
