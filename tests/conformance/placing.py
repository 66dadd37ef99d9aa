"""Where the results of calls must stand in a request: right after their calls, first in their turn, each call once.

Worked out from the messages alone: which result answers which call, which call gets a result that says there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tests.conformance import words
from tests.conformance.accounting import ORDINARY, said, text_of
from tests.conformance.histories import Plain
from tests.conformance.verdict import Findings

_RESULT = "tool_result"


@dataclass(frozen=True)
class Answer:
    """The result of one call as it must be sent."""

    call_id: str
    words: str
    is_error: bool


def results_stand_right(history: Sequence[Plain], sent: Sequence[Plain], found: Findings) -> None:
    """Check the results in each turn of a request made of a history: which, in which order, and that they are first."""
    theirs = [turn for turn in _due(history) if turn]
    ours = [answers for message in sent if (answers := [_answer(one) for one in message.blocks if _is_result(one)])]
    found.expect("results, turn by turn", theirs, ours)
    for message in sent:
        first = [_is_result(block) for block in message.blocks]
        found.check(first == sorted(first, reverse=True), f"a result is not first in its turn: {message}")


def _due(history: Sequence[Plain]) -> list[list[Answer]]:
    """Return the results each user turn must begin with."""
    turns: list[list[Answer]] = []
    waiting: list[str] = []
    known: set[str] = set()
    told: set[tuple[str, str]] = set()
    for role, blocks in _turns(history):
        if role == "assistant":
            calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            waiting += calls
            known.update(calls)
            continue
        results = [block for block in blocks if _is_result(block)]
        says_more = len(results) < len(blocks)
        answers = []
        for result, call_id in _named(results, waiting, known):
            if call_id in waiting:
                waiting.remove(call_id)
                answers.append(Answer(call_id, said(result).strip(), bool(result.get("is_error"))))
            else:
                content = text_of(result).strip()
                says_more = says_more or bool(content and (result["tool_use_id"], content) not in told)
            told.add((result["tool_use_id"], text_of(result).strip()))
        if answers or says_more:
            turns.append([*answers, *_missing(waiting)])
            waiting = []
    return [*turns, _missing(waiting)]


def _turns(history: Sequence[Plain]) -> list[tuple[str, list[Any]]]:
    """Return what can be sent of a history, neighbours of one role together."""
    return [
        (role, [block for message in messages for block in message.blocks if _can_be_sent(block, role)])
        for role, messages in groupby(history, key=lambda message: message.role)
    ]


def _can_be_sent(block: Any, role: str) -> bool:
    kind = block.get("type")
    if kind == "text":
        return bool(block["text"].strip())
    return kind in ORDINARY and (role == "assistant") == (kind == "tool_use")


def _named(results: Sequence[Any], waiting: Sequence[str], known: set[str]) -> list[tuple[Any, str]]:
    """Return each result with the id of the call it answers; under an unknown id that is the call of its place."""
    ids = [result["tool_use_id"] for result in results]
    by_place = dict(enumerate(waiting))
    return [
        (result, by_place[at] if call_id not in known and by_place.get(at, call_id) not in ids else call_id)
        for at, (result, call_id) in enumerate(zip(results, ids, strict=True))
    ]


def _missing(waiting: Sequence[str]) -> list[Answer]:
    return [Answer(call_id, words.missing_result(), True) for call_id in waiting]


def _answer(result: Any) -> Answer:
    return Answer(result["tool_use_id"], said(result).strip(), bool(result.get("is_error")))


def _is_result(block: Any) -> bool:
    return bool(block.get("type") == _RESULT)
