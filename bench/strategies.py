"""What do the strategies free, do order and pairs hold, can it be written out again, and how long does it take?

    python -m bench strategies [--transcripts DIR] [--json] [--seeds N]

Conversations are those of the folder (`*.json.gz` or `*.json`, lists of Messages-API messages) and generated ones of
every kind in `tests/support/conversations.py`. Each is reduced by every strategy and preset, as by hand, with a model
that answers at once. Order and pairs are looked at by rules of their own, content is written out again from the
effective history alone, and what lossless frees is held against `bench/bound.py`. Times are of the strategy's own work,
processor time, the best of three, with a token counter that knows the conversation, as in a running task.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from bench.bound import Shown, size_of, upper_bound
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.strategies.pieces import masks_in_force, string_at
from roo_tui.context.strategies.plugins import built_in
from roo_tui.context.strategies.protocol import StrategyOptions
from roo_tui.context.strategies.runner import Runner
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, ToolResult, ToolUse
from roo_tui.domain.entries import Entry, UserMessage
from roo_tui.domain.errors import CondenseRefused, RooError
from roo_tui.domain.markers import MaskItem
from roo_tui.store.exchange.messages import read_messages
from tests.support.conversations import KINDS, entries
from tests.support.fake_summariser import Summariser, inputs
from tests.support.rebuilding import Rebuilt, points

WAYS = (
    ("native", ""),
    ("lossless", ""),
    ("truncation", ""),
    ("smart", "conservative"),
    ("smart", "balanced"),
    ("smart", "aggressive"),
)
LEAST_OF_BOUND = 0.80
MOST_MS = {"truncation": 10.0, "smart balanced": 150.0}
MOST_LOSSLESS_MS_PER_MB = 100.0
_ROUNDS = 3
# Small times per megabyte say more about the clock than about the strategy.
_LEAST_MB = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """One strategy on one conversation. `rebuilt` of `to_rebuild` placeholders gave exactly what they stand for."""

    conversation: str
    way: str
    refused: str
    messages: int
    megabytes: float
    tokens_before: int
    tokens_after: int
    order_broken: int
    pairs_broken: int
    to_rebuild: int
    rebuilt: int
    freed_bytes: int
    bound_bytes: int
    ms: float


def main(argv: Sequence[str]) -> int:
    """Print the table or JSON; 1 where something is broken or a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench strategies")
    parser.add_argument("--transcripts", type=Path, help="folder with recorded conversations")
    parser.add_argument("--seeds", type=int, default=2, help="how many generated conversations of each kind")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    counter = TokenCounter()
    counter.load()
    outcomes = [
        asyncio.run(_outcome(name, path, way, preset, counter))
        for name, path in _conversations(given.transcripts, given.seeds)
        for way, preset in WAYS
    ]
    summary = [_summary([one for one in outcomes if one.way == way]) for way in dict.fromkeys(o.way for o in outcomes)]
    missed = _missed(outcomes)
    if given.json:
        answer = {"holds": not missed, "missed": missed, "summary": summary, "outcomes": [asdict(o) for o in outcomes]}
        print(json.dumps(answer, indent=1))
    else:
        _print(summary, missed)
    return 1 if missed else 0


def _conversations(folder: Path | None, seeds: int) -> Iterator[tuple[str, tuple[Entry, ...]]]:
    files = sorted(folder.glob("*.json*")) if folder else []
    for file in files:
        if file.name != "index.json":
            yield file.name.partition(".json")[0], entries(read_messages(file))
    for kind, make in KINDS.items():
        for seed in range(seeds):
            yield f"generated {kind} {seed}", make(seed)


async def _outcome(name: str, path: tuple[Entry, ...], way: str, preset: str, counter: TokenCounter) -> Outcome:
    now = inputs(path, counter, window=2_000_000)
    options = StrategyOptions(counter, preset=preset or "balanced")
    registry = built_in()
    strategy = registry.get(way)
    before = effective_history(path)
    best, refused = float("inf"), ""
    for _ in range(_ROUNDS):
        started = time.thread_time()
        try:
            strategy.prepare(now, options)
        except CondenseRefused as refusal:
            refused = str(refusal)
        best = min(best, time.thread_time() - started)
    after_path = path
    try:
        bodies = await Runner(registry).run(now, Summariser().services(counter), options, way)
        after_path = appended(path, *bodies)
    except RooError as error:
        refused = str(error)
    after = effective_history(after_path)
    to_rebuild, rebuilt = _rebuilt(path, after_path)
    calls = {entry.id: entry.body.calls for entry in path if isinstance(entry.body, UserMessage)}
    shown = [Shown(message.blocks, calls.get(message.entry_id, ())) for message in before]
    bound = upper_bound(shown)
    return Outcome(
        conversation=name,
        way=f"{way} {preset}".strip(),
        refused=refused,
        messages=len(before),
        megabytes=bound.total / 1e6,
        tokens_before=now.context_tokens,
        tokens_after=now.context_tokens - counter.count_messages(before) + counter.count_messages(after),
        order_broken=_order_broken(path, before, after),
        pairs_broken=len(_broken_pairs(after) - _broken_pairs(before)),
        to_rebuild=to_rebuild,
        rebuilt=rebuilt,
        freed_bytes=bound.total - size_of([Shown(message.blocks) for message in after]),
        bound_bytes=bound.removable,
        ms=best * 1000,
    )


def _order_broken(path: Sequence[Entry], before: Sequence[Visible], after: Sequence[Visible]) -> int:
    """Return how many messages stand before one they came after, or are not of the path at all."""
    place = {entry.id: at for at, entry in enumerate(path)}
    roles = {message.entry_id: message.role for message in before}
    shown = [message for message in after if message.source == "entry"]
    foreign = sum(message.entry_id not in place or roles[message.entry_id] != message.role for message in shown)
    order = [place[message.entry_id] for message in shown if message.entry_id in place]
    return foreign + sum(later <= earlier for earlier, later in pairwise(order))


def _broken_pairs(messages: Sequence[Visible]) -> Counter[str]:
    """Return the calls without a result in the next user turn, and the results without their call just before."""
    turns: list[tuple[str, list[Block]]] = []
    for message in messages:
        if turns and turns[-1][0] == message.role:
            turns[-1][1].extend(message.blocks)
        else:
            turns.append((message.role, list(message.blocks)))
    broken: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for role, blocks in turns:
        if role == "user":
            answered = Counter(block.tool_use_id for block in blocks if isinstance(block, ToolResult))
            broken += (asked - answered) + (answered - asked)
            asked = Counter()
        else:
            asked = Counter(block.id for block in blocks if isinstance(block, ToolUse))
    return broken + asked


def _rebuilt(path: Sequence[Entry], after_path: tuple[Entry, ...]) -> tuple[int, int]:
    """Return how many masks point to their content, and how many of them give it exactly."""
    raw = {entry.id: getattr(entry.body, "blocks", ()) for entry in path}
    after = Rebuilt(effective_history(after_path))
    masks: dict[tuple[int, int, str], list[MaskItem]] = {}
    for item in masks_in_force(after_path):
        masks.setdefault((item.entry_id, item.block, item.field), []).append(item)
    total = exact = 0
    for key, items in masks.items():
        wanted = [item for item in sorted(items, key=lambda item: item.start) if points(item.placeholder)]
        shown = after.placeholders(key)
        # Of stretches within each other only the outer one shows.
        wanted = [item for item in wanted if item.placeholder in shown]
        total += len(wanted)
        try:
            contents = after.contents(key)
        except LookupError:
            continue
        exact += sum(
            string_at(raw[item.entry_id], item) == content for item, content in zip(wanted, contents, strict=False)
        )
    return total, exact


def _summary(outcomes: Sequence[Outcome]) -> dict[str, object]:
    before, after = sum(o.tokens_before for o in outcomes), sum(o.tokens_after for o in outcomes)
    speeds = [o.ms / o.megabytes for o in outcomes if o.megabytes >= _LEAST_MB]
    bound = sum(o.bound_bytes for o in outcomes)
    return {
        "way": outcomes[0].way,
        "conversations": len(outcomes),
        "refused": sum(bool(o.refused) for o in outcomes),
        "order_broken": sum(o.order_broken for o in outcomes),
        "pairs_broken": sum(o.pairs_broken for o in outcomes),
        "tokens_freed": before - after,
        "freed_percent": round(100 * (before - after) / before, 1),
        "to_rebuild": sum(o.to_rebuild for o in outcomes),
        "rebuilt": sum(o.rebuilt for o in outcomes),
        "freed_of_bound_percent": round(100 * sum(o.freed_bytes for o in outcomes) / bound, 1) if bound else 0.0,
        "most_ms": round(max(o.ms for o in outcomes), 2),
        "most_ms_per_mb": round(max(speeds, default=0.0), 1),
    }


def _missed(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a sentence for each target that is missed."""
    missed = []
    for one in outcomes:
        who = f"{one.way} on {one.conversation}"
        if one.order_broken or one.pairs_broken:
            missed.append(f"{who}: order broken {one.order_broken}, pairs broken {one.pairs_broken}")
        if one.rebuilt < one.to_rebuild:
            missed.append(f"{who}: {one.rebuilt} of {one.to_rebuild} rebuilt")
        if one.ms > MOST_MS.get(one.way, float("inf")):
            missed.append(f"{who}: {one.ms:.1f} ms, at most {MOST_MS[one.way]:.0f}")
        if one.way == "lossless":
            if one.freed_bytes > one.bound_bytes:
                missed.append(f"{who}: frees {one.freed_bytes:,} bytes, above the bound of {one.bound_bytes:,}")
            if one.freed_bytes < LEAST_OF_BOUND * one.bound_bytes:
                missed.append(f"{who}: frees {one.freed_bytes:,} bytes of a bound of {one.bound_bytes:,}")
            if one.megabytes >= _LEAST_MB and one.ms > MOST_LOSSLESS_MS_PER_MB * one.megabytes:
                missed.append(f"{who}: {one.ms / one.megabytes:.0f} ms per megabyte")
    return missed


def _print(summary: Sequence[dict[str, object]], missed: Sequence[str]) -> None:
    columns = list(summary[0])
    rows = [columns, *([str(row[column]) for column in columns] for row in summary)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(columns))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    print("\n".join(missed) if missed else "Every target holds.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
