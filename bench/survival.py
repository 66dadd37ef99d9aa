"""What can the model still see, or recall once, after three condenses in a row without a model's help?

    python -m bench survival [--transcripts DIR] [--json]

Each conversation (`*.json.gz` or `*.json`, lists of Messages-API messages) is condensed at a third, at two thirds and
at its end, each time with the summary that is made from the log alone. Without a folder, generated conversations are
used. `bench/artefacts.py` takes what must survive from the raw messages, and each kind is reported apart. An artefact
survives in context if the model can see its text; otherwise one recall is made with a query that has no word of it; a
change is recalled by the reference that the summary shows beside its file. The floor is a bare cut: the newest text of
the conversation, as long as what the condenses left.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.artefacts import KINDS, Artefact, artefacts, conversations, read, whole_text
from bench.report import table
from roo_tui.context.condense.steps import outlined
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.history.recall import recall_hidden
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput, ReductionServices
from roo_tui.context.window.policy import limits
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import AssistantMessage, Body, UserMessage
from roo_tui.domain.errors import CondenseError, CondenseRefused, RooError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.recall import Recall
from roo_tui.domain.requests import ModelInfo
from roo_tui.store import Store, open_store
from roo_tui.store.exchange.messages import read_messages
from tests.support.conversations import KINDS as GENERATED

# What a summary made from the log promises to carry; changes and commands are only reported.
PROMISED = ("path", "failure", "todo", "request")
LEAST_IN_CONTEXT = 0.90
LEAST_WITH_RECALL = 0.98

_MODEL = ModelInfo("bench", "bench", window=200_000, token_factor=1.0)
_REFERENCE = re.compile(r"\be\d+\b")
_COMPARED = {"command": 300, "failure": 300}
_LONGEST_COMPARED = 2_000
_SEEDS = 2
_QUERIES = {
    "path": "edited changed written modified file",
    "change": "changed edited",
    "command": "command run",
    "failure": "last failing command error",
    "todo": "todo list open items pending steps",
    "request": "last thing the user requested",
}


@dataclass(slots=True)
class Survival:
    """How many artefacts of one kind there were, and how many were found where."""

    artefacts: int = 0
    in_context: int = 0
    only_by_recall: int = 0
    by_recall: int = 0
    in_floor: int = 0

    def add(self, other: "Survival") -> None:
        """Add the counts of another conversation."""
        self.artefacts += other.artefacts
        self.in_context += other.in_context
        self.only_by_recall += other.only_by_recall
        self.by_recall += other.by_recall
        self.in_floor += other.in_floor


@dataclass(slots=True)
class Judged:
    """One conversation after its condenses."""

    name: str
    condenses: int
    tokens_before: int
    tokens_after: int
    kinds: dict[str, Survival] = field(default_factory=lambda: {kind: Survival() for kind in KINDS})
    lost: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)


async def measure(paths: Sequence[Path]) -> list[Judged]:
    """Return what survives of each conversation."""
    counter = TokenCounter()
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(Path(scratch) / "bench.db")
        try:
            return [await _judged(path, store, counter) for path in paths]
        finally:
            await store.close()


async def _judged(path: Path, store: Store, counter: TokenCounter) -> Judged:
    bodies, messages = read_messages(path), read(path)
    task_id, log, refusals = await _condensed_thrice(store, bodies, counter)
    visible = effective_history(log.path())
    shown = "\n".join(_text(block) for message in visible for block in message.blocks)
    seen = _plain(shown)
    tail = _plain(whole_text(messages))[-len(seen) :]
    judged = Judged(
        path.name.partition(".json")[0],
        3 - len(refusals),
        counter.count_messages(body for body in bodies if isinstance(body, UserMessage | AssistantMessage)),
        counter.count_messages(visible),
        refusals=refusals,
    )
    for artefact in artefacts(messages):
        kind = judged.kinds[artefact.kind]
        recalled = _plain(await recall_hidden(_wanted(artefact, shown), log.path(), _finder(store, task_id)))
        here, back = _holds(seen, artefact), _holds(recalled, artefact)
        kind.add(Survival(1, here, back and not here, back, _holds(tail, artefact)))
        if artefact.kind in PROMISED and not (here or back):
            judged.lost.append(f"{artefact.kind}: {_plain(artefact.texts[0])[:100]}")
    return judged


async def _condensed_thrice(store: Store, bodies: Sequence[Body], counter: TokenCounter) -> tuple[str, Log, list[str]]:
    """Return the task and log of a conversation that was condensed at each third, and the refusals."""
    task = await store.create_task("bench")
    log, done, refusals = Log(), 0, []
    for third in (1, 2, 3):
        end = len(bodies) * third // 3
        await _append(store, task.id, log, bodies[done:end])
        # A condense runs only where no call is open.
        while end < len(bodies) and not _is_quiet(log):
            await _append(store, task.id, log, bodies[end : end + 1])
            end += 1
        done = end
        try:
            marker = await outlined(_situation(log, counter), ReductionServices(_no_model, counter), ContextOptions())
        except (CondenseRefused, CondenseError) as refusal:
            refusals.append(f"third {third}: {refusal}")
            continue
        await _append(store, task.id, log, [marker])
    return task.id, log, refusals


def _no_model(request: object) -> Any:
    raise AssertionError(f"no model may be asked: {request!r:.80}")


async def _append(store: Store, task_id: str, log: Log, bodies: Sequence[Body]) -> None:
    log.add(await store.append(task_id, bodies, parent=log.head))


def _is_quiet(log: Log) -> bool:
    visible = effective_history(log.path())
    return legal_cuts(visible)[-1] == len(visible)


def _situation(log: Log, counter: TokenCounter) -> ReductionInput:
    raw = counter.count_messages(effective_history(log.path()))
    return ReductionInput(
        path=log.path(),
        system=(),
        tools=(),
        model=_MODEL,
        limits=limits(_MODEL),
        context_tokens=raw,
        ratio=1.0,
        trigger="automatic",
    )


def _finder(store: Store, task_id: str) -> Any:
    async def find(query: str) -> list[EntryId]:
        return [hit.entry_id for hit in await store.search.find(query, task_id=task_id, limit=500)]

    return find


def _wanted(artefact: Artefact, shown: str) -> Recall:
    """Return what to recall an artefact by: the reference shown beside its subject, or words that are none of its."""
    if artefact.subject:
        beside = [line for line in shown.splitlines() if artefact.subject in line]
        after = [line.rpartition(artefact.subject)[2] for line in beside]
        if references := [found for text in after for found in _REFERENCE.finditer(text)]:
            return Recall(entries=((int(references[-1][0][1:]), 0),))
    own = {word for text in artefact.texts for word in re.findall(r"\w+", text.casefold())}
    own |= {part for word in own for part in word.split("_")}
    words = [*_QUERIES[artefact.kind].split(), *re.findall(r"\w+", "/".join(artefact.subject.split("/")[-2:]))]
    if artefact.kind in ("path", "command"):
        words += sorted(set(re.findall(r"[^\W\d_]{5,}", artefact.near)), key=len, reverse=True)[:8]
    return Recall((" ".join(word for word in words if word.casefold() not in own),))


def _holds(text: str, artefact: Artefact) -> bool:
    most = _COMPARED.get(artefact.kind, _LONGEST_COMPARED)
    return all(_plain(wanted)[:most] in text for wanted in artefact.texts)


def _plain(text: str) -> str:
    """Return the text without what quoting and wrapping add."""
    return " ".join(word for line in text.splitlines() for word in line.lstrip(" >").split())


def _text(block: Block) -> str:
    match block:
        case Text(text=text):
            return text
        case ToolResult():
            return result_text(block)
        case ToolUse(input=given):
            return "\n".join(str(value) for value in given.values())
        case _:
            return ""


def generate(folder: Path) -> list[Path]:
    """Write generated conversations as raw messages and return the files; those that hold markers are left out."""
    paths = []
    for kind, make in GENERATED.items():
        for seed in range(_SEEDS):
            bodies = [entry.body for entry in make(seed)]
            messages = [
                {"role": _role(body), "content": [_raw(block) for block in body.blocks]}
                for body in bodies
                if isinstance(body, UserMessage | AssistantMessage)
            ]
            if len(messages) == len(bodies):
                paths.append(folder / f"{kind}-{seed}.json")
                paths[-1].write_text(json.dumps(messages), encoding="utf-8")
    return paths


def _role(body: UserMessage | AssistantMessage) -> str:
    return "user" if isinstance(body, UserMessage) else "assistant"


def _raw(block: Block) -> dict[str, Any]:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case ToolUse(id=call_id, name=name, input=given):
            return {"type": "tool_use", "id": call_id, "name": name, "input": given}
        case ToolResult(tool_use_id=call_id, is_error=is_error):
            content = result_text(block)
            return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
        case _:
            raise ValueError(f"a generated conversation holds {block!r:.80}")


def total(judged: Sequence[Judged], kinds: Sequence[str]) -> Survival:
    """Return the counts of some kinds over all conversations."""
    found = Survival()
    for one in judged:
        for kind in kinds:
            found.add(one.kinds[kind])
    return found


def holds(found: Survival) -> bool:
    """Say whether enough of what is promised survived."""
    in_context, with_recall = _part(found, found.in_context), _part(found, found.in_context + found.only_by_recall)
    return in_context >= LEAST_IN_CONTEXT and with_recall >= LEAST_WITH_RECALL


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench survival", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--transcripts", type=Path, help="folder of conversations (default: generated ones)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        paths = conversations(options.transcripts) if options.transcripts else generate(Path(scratch))
        if not paths:
            print(f"There are no conversations (*.json, *.json.gz) in {options.transcripts}.", file=sys.stderr)
            return 2
        try:
            judged = asyncio.run(measure(paths))
        except (RooError, ValueError) as error:
            print(f"The bench survival failed, nothing was measured. {error}", file=sys.stderr)
            return 1
    kept = holds(total(judged, PROMISED))
    print(json.dumps(_json(judged, kept)) if options.json else _report(judged, kept))
    return 0 if kept else 1


def _json(judged: Sequence[Judged], kept: bool) -> dict[str, Any]:
    kinds = {kind: asdict(total(judged, (kind,))) for kind in KINDS}
    each = [asdict(one) for one in judged]
    return {"question": "survival", "holds": kept, "promised": PROMISED, "kinds": kinds, "each": each}


def _report(judged: Sequence[Judged], kept: bool) -> str:
    rows = [("", "condenses", "tokens", *(f"{kind}s" for kind in KINDS))]
    rows += [
        (
            one.name[:40],
            f"{one.condenses}",
            f"{one.tokens_before:,} → {one.tokens_after:,}",
            *(_counts(one.kinds[kind]) for kind in KINDS),
        )
        for one in judged
    ]
    notes = [f"{one.name}: {text}" for one in judged for text in (*one.refusals, *(f"lost {it}" for it in one.lost))]
    kinds: list[tuple[str, ...]] = [
        ("", "artefacts", "in context", "with one recall", "by recall alone", "bare cut", ""),
        *((f"{kind}s", *_shares(total(judged, (kind,))), "promised" if kind in PROMISED else "") for kind in KINDS),
        ("promised together", *_shares(total(judged, PROMISED)), "holds" if kept else "MISSED"),
    ]
    return "\n".join(
        [
            "In context + only by recall, of how many:",
            table(rows),
            *notes,
            "",
            table(kinds),
            f"Of what is promised, at least {LEAST_IN_CONTEXT:.0%} in context and {LEAST_WITH_RECALL:.0%} with recall.",
        ]
    )


def _counts(found: Survival) -> str:
    return f"{found.in_context} + {found.only_by_recall} of {found.artefacts}" if found.artefacts else "-"


def _shares(found: Survival) -> tuple[str, ...]:
    counts = (found.in_context, found.in_context + found.only_by_recall, found.by_recall, found.in_floor)
    return (f"{found.artefacts:,}", *(f"{_part(found, count):.1%}" if found.artefacts else "-" for count in counts))


def _part(found: Survival, count: int) -> float:
    return count / found.artefacts if found.artefacts else 1.0


if __name__ == "__main__":
    sys.exit(main())
