"""What does each strategy free, is anything damaged, and how long does it take, cold and warm?

    python -m bench strategies [--transcripts DIR] [--json] [--seeds N]

Conversations are those of the folder (`*.json.gz` or `*.json`, lists of Messages-API messages) and generated ones of
every kind in `tests/support/conversations.py`. Each is reduced by every strategy and preset, with a model that answers
at once. Order and pairs are checked by rules of the bench's own, content is rebuilt from the effective history alone,
and what lossless frees is compared with the bound of `bench/bound.py`.

Times are processor time of the strategy's own work, the best of three. Cold: the caches are empty, so every text is
counted anew, as right after a task is opened; the vocabulary is loaded. Warm: a token counter that has counted the
conversation, as in a running task. The floor is the smallest pass that could find what repeats: it splits every text
into lines and hashes each.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path

from bench.artefacts import conversations
from bench.bound import Shown, size_of, texts_of, upper_bound
from bench.report import table
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies.pieces import masks_in_force, string_at
from roo_tui.context.strategies.plugins import built_in
from roo_tui.context.strategies.protocol import Strategy, StrategyOptions
from roo_tui.context.strategies.runner import Runner
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, ToolResult, ToolUse
from roo_tui.domain.entries import Entry, UserMessage
from roo_tui.domain.errors import CondenseRefused, RooError
from roo_tui.domain.markers import MaskItem
from roo_tui.store.exchange.messages import read_messages
from tests.support.conversations import KINDS, entries
from tests.support.rebuilding import Rebuilt, points
from tests.support.reductions import inputs, services_for, summariser

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
# For small conversations a time per megabyte says more about the clock than about the strategy.
_LEAST_MB = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """One strategy on one conversation. `rebuilt` of `to_rebuild` placeholders gave back exactly what they replace."""

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
    warm_ms: float
    cold_ms: float
    floor_ms: float


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench strategies", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--transcripts", type=Path, help="folder of recorded conversations (default: none)")
    parser.add_argument("--seeds", type=int, default=2, help="generated conversations of each kind (default: 2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(argv)
    if given.transcripts and not conversations(given.transcripts):
        print(f"There are no conversations (*.json, *.json.gz) in {given.transcripts}.", file=sys.stderr)
        return 2
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
        answer = {
            "question": "strategies",
            "holds": not missed,
            "missed": missed,
            "summary": summary,
            "outcomes": [asdict(o) for o in outcomes],
        }
        print(json.dumps(answer, indent=1))
    else:
        print(_text(summary, missed))
    return 1 if missed else 0


def _conversations(folder: Path | None, seeds: int) -> Iterator[tuple[str, tuple[Entry, ...]]]:
    for file in conversations(folder) if folder else ():
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
    refused, warm_ms = _timed(strategy, now, options)
    _, cold_ms = _timed(strategy, now, options, cold=True)
    after_path = path
    try:
        bodies = await Runner(registry).run(now, services_for(summariser(), counter), options, way)
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
        warm_ms=warm_ms,
        cold_ms=cold_ms,
        floor_ms=_floor_ms(shown),
    )


def _timed(
    strategy: Strategy, now: ReductionInput, options: StrategyOptions, *, cold: bool = False
) -> tuple[str, float]:
    """Return the reason where the strategy refuses, and the ms its work takes at best."""
    best, refused = float("inf"), ""
    for _ in range(_ROUNDS):
        # A counter remembers what it counted; nothing else that a strategy uses outlives a run.
        given = replace(options, counter=TokenCounter()) if cold else options
        started = time.thread_time()
        try:
            strategy.prepare(now, given)
        except CondenseRefused as refusal:
            refused = str(refusal)
        best = min(best, time.thread_time() - started)
    return refused, best * 1000


def _floor_ms(messages: Sequence[Shown]) -> float:
    """Return the ms it takes at best to hash each line of every text once."""
    best = float("inf")
    for _ in range(_ROUNDS):
        started = time.thread_time()
        {hash(line) for text in texts_of(messages) for line in text.split("\n")}
        best = min(best, time.thread_time() - started)
    return best * 1000


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
    large = [o for o in outcomes if o.megabytes >= _LEAST_MB]
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
        "freed_of_lossless_bound_percent": round(100 * sum(o.freed_bytes for o in outcomes) / bound, 1)
        if bound
        else 0.0,
        "most_warm_ms": round(max(o.warm_ms for o in outcomes), 2),
        "most_cold_ms": round(max(o.cold_ms for o in outcomes), 2),
        "most_warm_ms_per_mb": round(max((o.warm_ms / o.megabytes for o in large), default=0.0), 1),
        "warm_of_floor": round(sum(o.warm_ms for o in outcomes) / sum(o.floor_ms for o in outcomes), 2),
        "cold_of_floor": round(sum(o.cold_ms for o in outcomes) / sum(o.floor_ms for o in outcomes), 2),
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
        if one.warm_ms > MOST_MS.get(one.way, float("inf")):
            missed.append(f"{who}: {one.warm_ms:.1f} ms warm, at most {MOST_MS[one.way]:.0f}")
        if one.way == "lossless":
            if one.freed_bytes > one.bound_bytes:
                missed.append(f"{who}: frees {one.freed_bytes:,} bytes, above the bound of {one.bound_bytes:,}")
            if one.freed_bytes < LEAST_OF_BOUND * one.bound_bytes:
                missed.append(f"{who}: frees only {one.freed_bytes:,} of {one.bound_bytes:,} bytes")
            if one.megabytes >= _LEAST_MB and one.warm_ms > MOST_LOSSLESS_MS_PER_MB * one.megabytes:
                missed.append(f"{who}: {one.warm_ms / one.megabytes:.0f} ms per megabyte warm")
    return missed


def _text(summary: Sequence[dict[str, object]], missed: Sequence[str]) -> str:
    columns = list(summary[0])
    rows = [[column.replace("_", " ") for column in columns], *([str(row[one]) for one in columns] for row in summary)]
    # Transposed: a strategy a column, so that the table fits a terminal.
    return "\n".join([table(list(zip(*rows, strict=True))), *(missed or ["Every target holds."])])


if __name__ == "__main__":
    sys.exit(main())
