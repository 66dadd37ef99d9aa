"""How often does a recall show what was asked for among its first three hits, and how long does it take?

    python -m bench recall [--transcripts DIR --questions FILE] [--json]

Each conversation (`*.json.gz` or `*.json`, lists of Messages-API messages) is condensed without a model, and each
question is asked of what that hides. The questions are JSON Lines: `{"conversation": NAME, "queries": [...], "answer":
REGEX, "kind": WORD}`, and an answer counts if the text of one of the first three hits matches. Without questions, one
generated conversation of 10,000 entries is asked for facts that were said once.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.artefacts import conversations
from bench.report import table
from roo_tui.context.history.log import Log
from roo_tui.context.history.recall import recall_hidden
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallFacts, CallRecord, UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense
from roo_tui.domain.recall import Recall
from roo_tui.store import Store, open_store
from roo_tui.store.exchange.messages import read_messages

FIRST = 3
LONGEST_MS = 50.0
LEAST_FOUND = 0.95

_ENTRIES = 10_000
_FACTS = 100
_HIT = re.compile(r"\n\n(?=\[e\d+: |Also found)")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a conversation; `answer` is a regular expression."""

    conversation: str
    queries: tuple[str, ...]
    answer: str
    kind: str = "plain"


@dataclass(slots=True)
class Answered:
    """How one question went: the place of the hit that answers it, None if none does, and the time of its searches."""

    question: Question
    place: int | None
    search_ms: float


async def measure(talks: dict[str, Sequence[Body]], questions: Sequence[Question]) -> tuple[list[Answered], float]:
    """Return how each question went, and how many seconds it took to index the conversations."""
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(Path(scratch) / "bench.db")
        try:
            tasks = {name: await _hidden(store, bodies) for name, bodies in talks.items()}
            started = time.perf_counter()
            await store.search.catch_up()
            indexing = time.perf_counter() - started
            return [await _ask(store, *tasks[one.conversation], one) for one in questions], indexing
        finally:
            await store.close()


async def _hidden(store: Store, bodies: Sequence[Body]) -> tuple[str, Log]:
    task, log = await store.create_task("bench"), Log()
    log.add(await store.append(task.id, bodies, parent=None))
    everything = Condense(tuple(entry.id for entry in log.path()), (Text("A summary."),))
    log.add(await store.append(task.id, [everything], parent=log.head))
    return task.id, log


async def _ask(store: Store, task_id: str, log: Log, question: Question) -> Answered:
    spent = 0.0

    async def find(query: str) -> list[EntryId]:
        nonlocal spent
        started = time.perf_counter()
        hits = await store.search.find(query, task_id=task_id, limit=500)
        spent = max(spent, time.perf_counter() - started)
        return [hit.entry_id for hit in hits]

    hits = _HIT.split(await recall_hidden(Recall(question.queries), log.path(), find))
    places = (number for number, hit in enumerate(hits, 1) if re.search(question.answer, hit))
    return Answered(question, next(places, None), spent * 1000)


def generate(entries: int = _ENTRIES) -> tuple[list[Body], list[Question]]:
    """Return a conversation that says 100 facts once each, among words that recur, and the questions for them."""
    chance = random.Random(1)
    syllables = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "er")]
    words = ["".join(chance.choices(syllables, k=3)) for _ in range(20_000)]
    places = sorted(chance.sample(range(0, entries - 4, 4), _FACTS))
    said, questions = {}, []
    for number, place in enumerate(places):
        subject, owner = chance.sample(words, 2)
        said[place] = f"The {subject} of the {owner} is {7_000_000 + number}."
        questions.append(Question("generated", (f"What was the {subject} of the {owner}?",), str(7_000_000 + number)))
    bodies: list[Body] = []
    for place in range(0, entries, 4):
        prose = " ".join(chance.choices(words, k=60))
        path, call_id = f"src/{chance.choice(words)}.py", f"t{place}"
        lines = "\n".join(" ".join(chance.choices(words, k=8)) for _ in range(30))
        record = CallRecord(call_id, "read_file", CallFacts("read", path))
        bodies += [
            UserMessage((Text(f"{prose} {said.get(place, '')}"),), words=prose),
            AssistantMessage((Text(prose[:200]), ToolUse(call_id, "read_file", {"path": path}))),
            UserMessage((ToolResult(call_id, lines),), source="tools", calls=(record,)),
            AssistantMessage((Text(" ".join(chance.choices(words, k=40))),)),
        ]
    return bodies, questions


def read_questions(file: Path) -> list[Question]:
    """Return the questions of a file of JSON Lines.

    Raises:
        ValueError: a line is not a question.
    """
    questions = []
    for line in filter(None, file.read_text(encoding="utf-8").splitlines()):
        given = json.loads(line)
        if not isinstance(given, dict) or not {"conversation", "queries", "answer"} <= given.keys():
            raise ValueError(f"Not a question: {line[:80]}")
        kind = str(given.get("kind", "plain"))
        questions.append(Question(given["conversation"], tuple(given["queries"]), given["answer"], kind))
    return questions


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench recall", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--transcripts", type=Path, help="folder of conversations (default: a generated one)")
    parser.add_argument("--questions", type=Path, help="questions to ask of them, as JSON Lines")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    if (options.transcripts is None) != (options.questions is None):
        parser.error("give both --transcripts and --questions, or neither")
    try:
        if options.questions is None:
            generated, questions = generate()
            talks: dict[str, Sequence[Body]] = {"generated": generated}
        else:
            questions = read_questions(options.questions)
            asked = {question.conversation for question in questions}
            files = {path.name.partition(".json")[0]: path for path in conversations(options.transcripts)}
            if missing := sorted(asked - files.keys()):
                raise ValueError(f"There is no conversation {missing[0]} in {options.transcripts}.")
            talks = {name: read_messages(files[name]) for name in sorted(asked)}
        answered, indexing_s = asyncio.run(measure(talks, questions))
    except (RooError, ValueError, OSError) as error:
        print(f"The bench recall failed, nothing was measured. {error}", file=sys.stderr)
        return 1
    entries = sum(len(bodies) for bodies in talks.values())
    holds = median(one.search_ms for one in answered) <= LONGEST_MS
    if options.questions is None:
        holds = holds and _found(answered) >= LEAST_FOUND
    show = _json if options.json else _report
    print(show(answered, entries, indexing_s, holds))
    return 0 if holds else 1


def _found(answered: Sequence[Answered]) -> float:
    return sum(one.place is not None and one.place <= FIRST for one in answered) / len(answered)


def _by_kind(answered: Sequence[Answered]) -> dict[str, list[Answered]]:
    kinds: dict[str, list[Answered]] = {}
    for one in answered:
        kinds.setdefault(one.question.kind, []).append(one)
    return kinds


def _json(answered: Sequence[Answered], entries: int, indexing_s: float, holds: bool) -> str:
    found = {kind: _found(some) for kind, some in _by_kind(answered).items()}
    times = [one.search_ms for one in answered]
    figures = {"entries": entries, "indexing_s": indexing_s, "median_ms": median(times), "longest_ms": max(times)}
    return json.dumps({"question": "recall", "holds": holds, "found": found, **figures})


def _report(answered: Sequence[Answered], entries: int, indexing_s: float, holds: bool) -> str:
    rows: list[tuple[str, ...]] = [("", "questions", f"among the first {FIRST}", "first", "median", "longest")]
    for kind, some in _by_kind(answered).items():
        times = [one.search_ms for one in some]
        first = sum(one.place == 1 for one in some) / len(some)
        shares = (f"{_found(some):.1%}", f"{first:.1%}")
        rows.append((kind, f"{len(some)}", *shares, f"{median(times):.1f} ms", f"{max(times):.1f} ms"))
    lost = [one.question for one in answered if one.place is None or one.place > FIRST]
    return "\n".join(
        [
            f"{entries:,} entries, indexed in {indexing_s:.1f} s. Times are of one query.",
            table(rows),
            *(f"not found: {question.conversation}: {' | '.join(question.queries)}" for question in lost),
            f"At most {LONGEST_MS:.0f} ms: {'holds' if holds else 'MISSED'}.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
