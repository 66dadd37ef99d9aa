"""The bench of the strategies: its bound is one, its generated conversations hold, its checks see what is broken."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench import strategies as bench
from bench.bound import Shown, size_of, upper_bound
from roo_tui.context.history.effective import Visible, effective_history, with_marker
from roo_tui.context.strategies.lossless.lossless import lossless_items
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse
from roo_tui.domain.entries import CallFacts, CallRecord, UserMessage
from roo_tui.domain.markers import Mask
from tests.support.conversations import KINDS

LINES = [f"a line of some length, number {number}" for number in range(40)]


def shown(*results: str, facts: tuple[CallFacts, ...] = ()) -> list[Shown]:
    messages = []
    for number, text in enumerate(results):
        fact = facts[number] if facts else CallFacts()
        messages.append(Shown((ToolUse(f"c{number}", "read_file", {}),)))
        messages.append(Shown((ToolResult(f"c{number}", text),), (CallRecord(f"c{number}", "read_file", fact),)))
    return messages


def test_the_bound_counts_every_copy_but_one_and_leaves_room_for_placeholders():
    text = "\n".join(LINES)
    assert upper_bound(shown(text, text, text)).duplicates == 2 * (len(text) - 24)
    assert upper_bound(shown("short", "short")).removable == 0


def test_the_bound_counts_runs_of_twenty_lines_without_their_numbers():
    numbered = [f"{number} | {line}" for number, line in enumerate(LINES, 7)]
    found = upper_bound(shown("\n".join(["x", *LINES]), "\n".join(numbered)))
    assert found.repeats == sum(len(line) + 1 for line in LINES) - 24
    assert upper_bound(shown("\n".join(["x", *LINES[:19]]), "\n".join(LINES[:19]))).removable == 0


def test_the_bound_counts_superseded_reads():
    facts = (CallFacts("read", "a.py", (1, 9)), CallFacts("read", "./a.py", full_content=True))
    first, second = "\n".join(LINES[:10]), "\n".join(LINES[10:])
    assert upper_bound(shown(first, second, facts=facts)).superseded == len(first) - 24
    assert upper_bound(shown(first, second, facts=facts[::-1])).superseded == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_lossless_frees_nearly_the_bound_and_never_more(kind: str, seed: int):
    path = KINDS[kind](seed)
    calls = {entry.id: entry.body.calls for entry in path if isinstance(entry.body, UserMessage)}
    before = [Shown(message.blocks, calls.get(message.entry_id, ())) for message in effective_history(path)]
    bound = upper_bound(before)
    after = with_marker(path, Mask(lossless_items(path)))
    freed = size_of(before) - size_of([Shown(message.blocks) for message in after])
    assert bench.LEAST_OF_BOUND * bound.removable <= freed <= bound.removable


def test_generated_conversations_are_the_same_for_the_same_seed():
    for make in KINDS.values():
        assert make(3) == make(3)


def test_broken_order_and_pairs_are_seen():
    path = KINDS["mixed"](1)
    before = effective_history(path)
    assert bench._order_broken(path, before, before) == 0
    assert bench._order_broken(path, before, (*before[2:], *before[:2])) > 0
    assert not bench._broken_pairs(before)
    call = next(at for at, message in enumerate(before) if isinstance(message.blocks[-1], ToolUse))
    assert bench._broken_pairs(before[: call + 1] + before[call + 2 :])
    assert bench._broken_pairs(before[:call] + before[call + 1 :])


def test_a_mask_that_points_to_the_wrong_place_is_seen():
    path = KINDS["repeated-reads"](1)
    items = lossless_items(path)
    total, exact = bench._rebuilt(path, (*path, replace(path[-1], id=len(path) + 1, body=Mask(items))))
    assert total == exact > 0
    first = next(item for item in items if "lines, the same as" in item.placeholder)
    wrong = replace(first, placeholder=first.placeholder.replace("from its line ", "from its line 1"))
    others = tuple(wrong if item is first else item for item in items)
    total, exact = bench._rebuilt(path, (*path, replace(path[-1], id=len(path) + 1, body=Mask(others))))
    assert exact < total


def test_recorded_conversations_are_measured_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = "\n".join(LINES)
    messages: list[dict[str, object]] = [{"role": "user", "content": "go"}]
    for number in range(8):
        use = {"type": "tool_use", "id": f"t{number}", "name": "read_file", "input": {"path": "a.py"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    messages.append({"role": "assistant", "content": "done"})
    (tmp_path / "one.json").write_text(json.dumps(messages))
    bench.main(["--transcripts", str(tmp_path), "--seeds", "0", "--json"])
    answer = json.loads(capsys.readouterr().out)
    ways = {row["way"]: row for row in answer["summary"]}
    assert set(ways) == {f"{way} {preset}".strip() for way, preset in bench.WAYS}
    assert all(row["order_broken"] == row["pairs_broken"] == 0 for row in answer["summary"])
    assert ways["lossless"]["tokens_freed"] > 0
    assert ways["lossless"]["freed_of_lossless_bound_percent"] > 90


def test_pieces_that_are_no_strings_are_no_bytes():
    blocks: tuple[Block, ...] = (Text("abc"), ToolUse("c", "t", {"n": 3, "deep": [{"x": "défg"}]}))
    assert size_of([Shown(Visible(1, "assistant", blocks).blocks)]) == 8
