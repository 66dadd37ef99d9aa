"""What survives three condenses in a row with the outline summary alone, in context or by one recall?

    python -m bench survival --transcripts DIR [--json]

Each conversation (`*.json.gz` or `*.json`, lists of Messages-API messages) is condensed at a third, at two thirds and
at its end. Artefacts are taken from the messages themselves: every edited file, the last failing command with its error
line, the open todo items, the last request a person typed. One survives in context if the model can see it as it was;
else one recall is made, whose query has no word of it: words for what it is, and, for a file, words
that stood near its change.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roo_tui.context.condense.steps import ReductionInput, ReductionServices, outlined
from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.history.recall import recall_hidden
from roo_tui.context.options import ContextOptions
from roo_tui.context.window.policy import limits
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse, result_text, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, Body, UserMessage
from roo_tui.domain.errors import CondenseError, CondenseRefused
from roo_tui.domain.ids import EntryId
from roo_tui.domain.requests import ModelInfo
from roo_tui.store import Store, open_store
from roo_tui.store.exchange.messages import read_messages

LEAST_IN_CONTEXT = 0.90
LEAST_WITH_RECALL = 0.98

_MODEL = ModelInfo("bench", "bench", window=200_000, token_factor=1.0)
_ERROR = re.compile(r"\b(error|exception|failed|failure|fatal|panic|traceback|not found|denied)\b|^E\s", re.IGNORECASE)
_CHECKBOX = re.compile(r"\s*(?:[-*+]|\d+[.)])?\s*\[([ xX~-]?)\]\s*(\S.*)")
_COMPARED = 2_000
_KIND_QUERIES = {
    "edited file": "edited changed written modified file",
    "failing command": "last failing command error",
    "open todo": "todo list open items pending steps",
    "last request": "last thing the person requested",
}


@dataclass(frozen=True, slots=True)
class Artefact:
    """Something that must survive: the texts that must all be there. `near` are words that stood around it."""

    kind: str
    texts: tuple[str, ...]
    near: str = ""


def artefacts(bodies: Sequence[Body]) -> list[Artefact]:
    """Return what of a conversation must survive, from its messages alone."""
    found = [Artefact("edited file", (path,), near) for path, near in _edited(bodies).items()]
    if (failing := _failing(bodies)) is not None:
        found.append(failing)
    found += [Artefact("open todo", (text,)) for text in _open_todos(bodies)]
    typed = [
        (body.words, _before(bodies, at))
        for at, body in enumerate(bodies)
        if isinstance(body, UserMessage) and body.words.strip()
    ]
    if typed:
        found.append(Artefact("last request", (typed[-1][0],), typed[-1][1]))
    return found


def _edited(bodies: Sequence[Body]) -> dict[str, str]:
    files: dict[str, str] = {}
    for at, body in enumerate(bodies):
        if isinstance(body, UserMessage):
            for record in body.calls:
                files |= {path: _before(bodies, at) for path in record.facts.changed}
    return files


def _failing(bodies: Sequence[Body]) -> Artefact | None:
    """Return the last command whose result tells of a failure: an exit code other than 0, or marked as an error."""
    for at in range(len(bodies) - 1, -1, -1):
        body = bodies[at]
        if not isinstance(body, UserMessage):
            continue
        results = {result.tool_use_id: result for result in tool_results(body.blocks)}
        for record in reversed(body.calls):
            facts, result = record.facts, results.get(record.call_id)
            if facts.kind != "command" or not facts.query or result is None:
                continue
            if facts.exit_code or (facts.exit_code is None and result.is_error):
                return Artefact("failing command", (facts.query[:300], _error_line(result)), _before(bodies, at))
    return None


def _error_line(result: ToolResult) -> str:
    lines = [line.strip() for line in result_text(result).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1] if lines else "")[:300]


def _open_todos(bodies: Sequence[Body]) -> list[str]:
    for body in reversed(bodies):
        if isinstance(body, AssistantMessage):
            for call in reversed(tool_uses(body.blocks)):
                if (items := _todo_items(call)) is not None:
                    return items
    return []


def _todo_items(call: ToolUse) -> list[str] | None:
    """Return the texts of the open items of a call that sets a todo list, None of any other call."""
    if call.name not in ("TodoWrite", "update_plan", "update_todo_list"):
        return None
    given = call.input.get("todos", call.input.get("plan"))
    if isinstance(given, str):
        matches = (_CHECKBOX.fullmatch(line) for line in given.splitlines())
        return [match[2] for match in matches if match and match[1] not in ("x", "X")]
    if isinstance(given, list):
        items = [item for item in given if isinstance(item, dict) and item.get("status") != "completed"]
        return [str(item.get("content") or item.get("step")) for item in items]
    return None


def _before(bodies: Sequence[Body], at: int) -> str:
    """Return what the agent said just before."""
    for body in reversed(bodies[:at]):
        if isinstance(body, AssistantMessage):
            return " ".join(block.text for block in body.blocks if isinstance(block, Text))[:400]
    return ""


async def condensed_thrice(store: Store, bodies: Sequence[Body], counter: TokenCounter) -> tuple[str, Log, int]:
    """Return the task and log of a conversation that was condensed at each third, and how many condenses were made."""
    task = await store.create_task("bench")
    log, done, condenses = Log(), 0, 0
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
            print(f"  third {third}: {refusal}", file=sys.stderr)
            continue
        await _append(store, task.id, log, [marker])
        condenses += 1
    return task.id, log, condenses


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


async def judge(path: Path, store: Store, counter: TokenCounter) -> dict[str, Any]:
    """Return how many artefacts of one conversation survive, by kind, and which were lost."""
    bodies = read_messages(path)
    task_id, log, condenses = await condensed_thrice(store, bodies, counter)
    visible = effective_history(log.path())
    seen = _plain("\n".join(_text(block) for message in visible for block in message.blocks))
    wanted = artefacts(bodies)
    total, in_context, recalled, by_recall = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    lost = []
    for artefact in wanted:
        total[artefact.kind] += 1
        back = _holds(_plain(await recall_hidden(_query(artefact), log.path(), _finder(store, task_id))), artefact)
        by_recall[artefact.kind] += back
        if _holds(seen, artefact):
            in_context[artefact.kind] += 1
        elif back:
            recalled[artefact.kind] += 1
        else:
            lost.append(f"{artefact.kind}: {artefact.texts[0][:100]}")
    return {
        "name": path.name,
        "messages": len(bodies),
        "condenses": condenses,
        "tokens_before": counter.count_messages(
            body for body in bodies if isinstance(body, UserMessage | AssistantMessage)
        ),
        "tokens_after": counter.count_messages(visible),
        "artefacts": dict(total),
        "in_context": dict(in_context),
        "only_by_recall": dict(recalled),
        "by_recall_alone": dict(by_recall),
        "lost": lost,
    }


def _messages(bodies: Sequence[Body]) -> list[UserMessage | AssistantMessage]:
    return [body for body in bodies if isinstance(body, UserMessage | AssistantMessage)]


def _finder(store: Store, task_id: str) -> Any:
    async def find(query: str) -> list[EntryId]:
        return [hit.entry_id for hit in await store.search.find(query, task_id=task_id, limit=500)]

    return find


def _query(artefact: Artefact) -> str:
    """Return words to recall it by, none of which is a word of it."""
    own = {word for text in artefact.texts for word in re.findall(r"\w+", text.casefold())}
    own |= {part for word in own for part in word.split("_")}
    near = sorted(set(re.findall(r"[^\W\d_]{5,}", artefact.near)), key=len, reverse=True)[:8]
    words = [*_KIND_QUERIES[artefact.kind].split(), *(near if artefact.kind == "edited file" else ())]
    return " ".join(word for word in words if word.casefold() not in own)


def _holds(text: str, artefact: Artefact) -> bool:
    return all(_plain(wanted[:_COMPARED]) in text for wanted in artefact.texts)


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


async def measure(folder: Path) -> dict[str, Any]:
    """Return the figures of every conversation in a folder."""
    counter = TokenCounter()
    paths = sorted([*folder.glob("*.json.gz"), *(path for path in folder.glob("*.json") if path.name != "index.json")])
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(Path(scratch) / "bench.db")
        try:
            judged = [await judge(path, store, counter) for path in paths]
        finally:
            await store.close()
    total = sum(sum(one["artefacts"].values()) for one in judged)
    in_context = sum(sum(one["in_context"].values()) for one in judged)
    recalled = sum(sum(one["only_by_recall"].values()) for one in judged)
    alone = sum(sum(one["by_recall_alone"].values()) for one in judged)
    context_share = in_context / max(1, total)
    recall_share = (in_context + recalled) / max(1, total)
    return {
        "question": "survival",
        "holds": context_share >= LEAST_IN_CONTEXT and recall_share >= LEAST_WITH_RECALL,
        "conversations": len(judged),
        "artefacts": total,
        "in_context": round(context_share, 4),
        "in_context_or_by_one_recall": round(recall_share, 4),
        "by_one_recall_alone": round(alone / max(1, total), 4),
        "each": judged,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurement; returns 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench survival", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--transcripts", type=Path, required=True, help="folder of conversations")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    found = asyncio.run(measure(options.transcripts))
    print(json.dumps(found) if options.json else _table(found))
    return 0 if found["holds"] else 1


def _table(found: dict[str, Any]) -> str:
    lines = []
    for one in found["each"]:
        total, seen, back = (sum(one[name].values()) for name in ("artefacts", "in_context", "only_by_recall"))
        size = f"{one['tokens_before']:>9,} → {one['tokens_after']:>7,}"
        lines.append(f"{one['name'][:40]:<42}{one['condenses']} condenses  {size}  {seen:>4} + {back} of {total}")
        lines += [f"    lost: {text}" for text in one["lost"]]
    lines.append(
        f"in context {found['in_context']:.1%}, with one recall {found['in_context_or_by_one_recall']:.1%} of "
        f"{found['artefacts']} artefacts: {'holds' if found['holds'] else 'MISSED'}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
