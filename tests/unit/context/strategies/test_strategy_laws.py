"""The laws every strategy keeps, on generated conversations: valid, reversible, order and pairs, progress."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import Log, appended
from roo_tui.context.history.pairing import repair, with_user_blocks
from roo_tui.context.history.undo import redo_marker, undo_marker
from roo_tui.context.strategies.plugins import built_in
from roo_tui.context.strategies.protocol import StrategyOptions
from roo_tui.context.strategies.runner import Runner
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Image, Opaque, Text, Thinking, ToolResult, ToolUse, tool_results, tool_uses
from roo_tui.domain.entries import (
    AssistantMessage,
    Body,
    CallFacts,
    CallRecord,
    Entry,
    Noted,
    Pinned,
    UserMessage,
)
from roo_tui.domain.errors import CondenseError, CondenseRefused
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Truncation
from tests.support.api_rules import violations
from tests.support.conversations import KINDS, entries
from tests.support.reductions import inputs, services_for, summariser

PROVIDER, MODEL = "anthropic", "model-a"
WAYS = [("native", ""), ("lossless", ""), ("truncation", "")]
WAYS += [("smart", preset) for preset in ("conservative", "balanced", "aggressive")]
COUNTER = TokenCounter()


async def reduced(path: tuple[Entry, ...], way: str, preset: str) -> tuple[Entry, ...] | None:
    options = StrategyOptions(COUNTER, preset=preset or "balanced")
    now = inputs(path, COUNTER, window=1_000_000)
    try:
        bodies = await Runner(built_in()).run(now, services_for(summariser(), COUNTER), options, way)
    except CondenseRefused:
        return None
    assert bodies
    return appended(path, *bodies)


def count(path: tuple[Entry, ...]) -> int:
    return COUNTER.count_messages(effective_history(path))


def calls_of(path: tuple[Entry, ...]) -> list[tuple[EntryId, str, str]]:
    """Return entry, kind and id of every call and result that is visible, in order."""
    found = []
    for message in effective_history(path):
        if message.source == "entry":
            found += [(message.entry_id, "call", call.id) for call in tool_uses(message.blocks)]
            found += [(message.entry_id, "result", result.tool_use_id) for result in tool_results(message.blocks)]
    return found


def assert_valid(path: tuple[Entry, ...]) -> None:
    messages = repair(effective_history(path), provider=PROVIDER, model=MODEL)
    if not messages or messages[-1].role == "assistant":
        messages = with_user_blocks(messages, (Text("Go on."),))
    assert violations(messages, provider=PROVIDER, model=MODEL) == []


@pytest.mark.parametrize(("way", "preset"), WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_strategy_keeps_the_laws_on_a_conversation_of_every_kind(kind: str, way: str, preset: str):
    path = KINDS[kind](1)
    after = await reduced(path, way, preset)
    if after is None:
        return
    assert count(after) < count(path)
    assert_valid(after)
    assert after[: len(path)] == path
    before_calls = calls_of(path)
    seen = calls_of(after)
    assert [one for one in before_calls if one in set(seen)] == seen
    visible = effective_history(after)
    assert {call for _, kind, call in seen if kind == "call"} == {call for _, kind, call in seen if kind == "result"}
    entries = [message.entry_id for message in visible if message.source == "entry"]
    assert all(earlier < later for earlier, later in pairwise(entries))


@settings(max_examples=25)
@given(
    st.sampled_from(["mixed", "repeated-reads", "already-condensed", "write-heavy"]),
    st.integers(0, 10_000),
    st.lists(st.sampled_from(WAYS), min_size=1, max_size=3),
    st.integers(8, 60),
)
async def test_any_strategies_in_a_row_can_be_taken_back_one_by_one(kind, seed, ways, length):
    path = KINDS[kind](seed)[:length]
    log = Log(path, path[-1].id)
    undone: list[tuple[EntryId, tuple[object, ...]]] = []
    for way, preset in ways:
        before = effective_history(log.path())
        after = await reduced(log.path(), way, preset)
        if after is None:
            continue
        new = after[len(log.path()) :]
        assert count(after) < COUNTER.count_messages(before)
        assert_valid(after)
        for marker in new:
            undone.append((marker.id, effective_history(log.path())))
            log.add([marker])
    for marker_id, expected in reversed(undone):
        state = effective_history(log.path())
        log.add([Entry(log.path()[-1].id + 1, log.head, 0, undo_marker(log.path(), marker_id))])
        assert effective_history(log.path()) == expected
        assert_valid(log.path())
        log.add([Entry(log.path()[-1].id + 1, log.head, 0, redo_marker(log.path(), marker_id))])
        assert effective_history(log.path()) == state
        log.add([Entry(log.path()[-1].id + 1, log.head, 0, undo_marker(log.path(), marker_id))])
    assert effective_history(log.path()) == effective_history(path)


words = st.text(st.sampled_from("ab c\n\ud800é"), max_size=12) | st.sampled_from(
    ["a long sentence about the matter, " * 12, "".join(f"{at} | line {at}\n" for at in range(40)), "\ud800x\n" * 300]
)
call_ids = st.sampled_from(["t1", "t2", "call.4|x", ""])
pictures = st.builds(Image, st.sampled_from(["image/png", "image/tiff"]), st.sampled_from(["aGk=", ""]))
of = st.sampled_from([(PROVIDER, MODEL), ("", "")])
thoughts = st.builds(lambda text, signature, by: Thinking(text, signature, *by), words, st.sampled_from(["", "s"]), of)
opaque = st.builds(
    lambda kind, by: Opaque(by[0], by[1], {"type": kind}), st.sampled_from(["document", "redacted_thinking"]), of
)
arguments = st.dictionaries(words, words | st.lists(words | st.integers(), max_size=2), max_size=2)
calls = st.builds(ToolUse, call_ids, st.sampled_from(["read_file", "odd.name", ""]), arguments)
results = st.builds(
    ToolResult, call_ids, words | st.lists(st.builds(Text, words) | pictures, max_size=2).map(tuple), st.booleans()
)
facts = st.builds(
    CallFacts,
    st.sampled_from(["read", "write", "list", "search", "other"]),
    st.sampled_from(["a.py", "./a.py", ""]),
    st.sampled_from([None, (1, 40), (5, 1)]),
    st.booleans(),
)


@st.composite
def odd_bodies(draw: st.DrawFn) -> Body:
    """Anything an imported or crashed log may hold."""
    kind = draw(st.integers(0, 9))
    if kind < 4:
        blocks = tuple(draw(st.lists(st.builds(Text, words) | results | pictures | opaque, max_size=3)))
        records = tuple(
            CallRecord(block.tool_use_id, "read_file", draw(facts)) for block in blocks if isinstance(block, ToolResult)
        )
        return UserMessage(blocks, source="import", calls=records)
    if kind < 9:
        said = tuple(draw(st.lists(st.builds(Text, words) | calls | thoughts | opaque, max_size=3)))
        return AssistantMessage(said, provider=PROVIDER, model=MODEL)
    others: list[Body] = [Pinned(1), Noted("info", "a remark"), Truncation((2, 3)), Condense((1, 2), ())]
    return draw(st.sampled_from(others))


@settings(max_examples=120)
@given(st.lists(odd_bodies(), min_size=2, max_size=25), st.sampled_from(WAYS))
async def test_no_log_is_so_odd_that_a_strategy_breaks_it(bodies: list[Body], way: tuple[str, str]):
    path = entries(bodies)
    try:
        after = await reduced(path, *way)
    except CondenseError:
        return
    if after is None:
        return
    assert count(after) < count(path)
    assert_valid(after)
    position = {entry.id: at for at, entry in enumerate(path)}
    places = [position[one.entry_id] for one in effective_history(after) if one.source == "entry"]
    assert places == sorted(places)
