"""A recorded request against ours: every recorded block must be found again, and nothing may come from nowhere.

What differs is only accepted where a rule of the Messages API or of the design asks for it, block by block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tests.conformance import words
from tests.conformance.histories import Plain
from tests.conformance.verdict import Findings

_MOST_BLANKS = 6
ORDINARY = {"text", "image", "tool_use", "tool_result"}
_REASONING = {"thinking", "redacted_thinking", "reasoning", "thoughtSignature"}


@dataclass
class _Turn:
    role: str
    blocks: list[Any] = field(default_factory=list)


def account(expected: Sequence[Plain], ours: Sequence[Plain], found: Findings) -> None:
    """Note how our request differs from the recorded one."""
    blanks = [id(one) for message in expected for one in message.blocks if _is_blank_result(one)][:_MOST_BLANKS]
    trial = Findings()
    # A blank result under an id that no call has says nothing, or answers the call of its place.
    for answering in product((False, True), repeat=len(blanks)):
        trial = Findings()
        kept = {blank for blank, answers in zip(blanks, answering, strict=True) if answers}
        _account(_turns(expected, trial, kept), ours, trial)
        if not trial.wrong:
            break
    found.reasons.update(trial.reasons)
    found.wrong += trial.wrong


def _account(recorded: Sequence["_Turn"], ours: Sequence[Plain], found: Findings) -> None:
    sent = [_Turn(message.role, list(message.blocks)) for message in ours]
    if recorded and recorded[0].role == "assistant" and sent and sent[0] == _Turn("user", [words.start()]):
        found.better("begins-with-the-user")
        del sent[0]
    renamed: dict[str, list[str]] = {}
    told: set[Any] = set()
    asked: list[str] = []
    for turn in recorded:
        if not sent or sent[0].role != turn.role:
            found.fail(f"a turn of the {turn.role} is missing: {turn.blocks}")
            return
        _account_turn(turn, sent[0], asked, told, renamed, found)
        asked = [block["id"] for block in sent.pop(0).blocks if block["type"] == "tool_use"]
    for turn in sent:
        _account_rest(turn.blocks, asked, found)


def _is_blank_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result" and not text_of(block)


def is_synthetic(block: Any) -> bool:
    """Say whether a block is the result we write for a call that has none."""
    return bool(block["type"] == "tool_result" and block["content"] == words.missing_result() and block.get("is_error"))


def _turns(messages: Sequence[Plain], found: Findings, kept: set[int]) -> list[_Turn]:
    """Return the recorded messages with neighbours of one role joined, without what no provider takes."""
    turns: list[_Turn] = []
    told: set[Any] = set()
    for message in messages:
        asked = next((turn for turn in turns[::-1][:2] if turn.role == "assistant"), _Turn("assistant")).blocks
        ids = {block["id"] for block in asked if block["type"] == "tool_use"}
        blocks = [
            block
            for block in message.blocks
            if _can_be_sent(block, message.role, found)
            and not _says_nothing(block, ids, told, id(block) in kept, found)
        ]
        if not blocks:
            found.better("nothing-empty-is-sent")
        elif turns and turns[-1].role == message.role:
            found.better("neighbours-are-one-turn")
            turns[-1].blocks += blocks
        else:
            turns.append(_Turn(message.role, blocks))
    return turns


def _can_be_sent(block: Any, role: str, found: Findings) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and not str(block.get("text")).strip():
        found.better("nothing-empty-is-sent")
        return False
    if kind in _REASONING or kind not in ORDINARY:
        found.better("reasoning-goes-to-its-own-model")
        return False
    if (kind == "tool_use" and role == "user") or (kind in ("tool_result", "image") and role == "assistant"):
        found.better("blocks-stand-in-their-role")
        return False
    return True


def _says_nothing(block: Any, asked: set[str], told: set[Any], answers: bool, found: Findings) -> bool:
    """Say whether a result is nothing but a repetition, or blank and not that of a call just before."""
    if block["type"] != "tool_result":
        return False
    said = (block["tool_use_id"], text_of(block))
    repeated = said in told
    told.add(said)
    if block["tool_use_id"] in asked or (said[1] and not repeated) or (asked and answers):
        return False
    found.better("one-result-for-a-call" if repeated else "late-result-goes-as-text")
    return True


def _account_turn(
    turn: _Turn, sent: _Turn, asked: list[str], told: set[Any], renamed: dict[str, list[str]], found: Findings
) -> None:
    left = list(sent.blocks)
    places: list[int] = []
    for block in turn.blocks:
        match = next((one for one in left if one == block), None) or _counterpart(
            block, left, asked, told, renamed, found
        )
        if block["type"] == "tool_result":
            told.add((block["tool_use_id"], text_of(block)))
        if match is not None:
            places.append(next(at for at, one in enumerate(sent.blocks) if one is match))
            left = [one for one in left if one is not match]
    if places != sorted(places):
        results = [at for at in places if sent.blocks[at]["type"] == "tool_result"]
        others = [at for at in places if sent.blocks[at]["type"] != "tool_result"]
        if found.check(results == sorted(results) and others == sorted(others), "blocks of a turn changed their order"):
            found.better("results-come-first")
    _account_rest(left, asked, found)


def _counterpart(
    block: Any, left: list[Any], asked: list[str], told: set[Any], renamed: dict[str, list[str]], found: Findings
) -> Any:
    """Return the block of ours that stands for a recorded one that was not sent as it was, None for one left out."""
    if block["type"] == "tool_use":
        same = (one for one in left if one["type"] == "tool_use" and one["name"] == block["name"])
        match = next((one for one in same if one["input"] == block["input"]), None)
        if match is not None:
            found.better("ids-are-unique")
            renamed.setdefault(block["id"], []).append(match["id"])
            return match
    if block["type"] == "tool_result":
        ids = {block["tool_use_id"], *renamed.get(block["tool_use_id"], ())}
        same = (one for one in left if one["type"] == "tool_result" and one["tool_use_id"] in ids)
        match = next((one for one in same if not is_synthetic(one) and _says_as_much(block, one, found)), None)
        if match is not None:
            return match
        same = (one for one in left if one["type"] == "tool_result" and not is_synthetic(one))
        match = next((one for one in same if _is_alike(one, block)), None)
        if match is not None and block["tool_use_id"] not in asked:
            found.better("results-keep-their-place")
            return match
        late = words.late_result(said(block).strip())
        match = next((one for one in left if one == late), None)
        if match is not None or not text_of(block):
            found.better("late-result-goes-as-text")
            return match
        if (block["tool_use_id"], text_of(block)) in told:
            found.better("one-result-for-a-call")
            return None
    found.fail(f"a block is lost: {block}")
    return None


def _is_alike(result: Any, other: Any) -> bool:
    return said(result) == said(other) and bool(result.get("is_error")) == bool(other.get("is_error"))


def _says_as_much(block: Any, ours: Any, found: Findings) -> bool:
    """Compare results: a picture in an error and blank parts may be gone, an error without words says that."""
    if ours["tool_use_id"] != block["tool_use_id"]:
        found.better("ids-are-unique")
    if not _is_alike(block, ours):
        return False
    if text_of(block) != text_of(ours):
        found.better("errors-are-words")
    elif block["content"] != ours["content"]:
        found.better("nothing-empty-is-sent")
    return True


def said(result: Any) -> str:
    """Return what a result says as it may be sent: an error is words only and says something."""
    parts = result["content"] if isinstance(result["content"], list) else [{"text": result["content"]}]
    texts = "\n".join(part["text"] for part in parts if part.get("text", "").strip())
    if result.get("is_error"):
        return texts or words.empty_error()
    return text_of(result)


def _account_rest(blocks: Sequence[Any], asked: list[str], found: Findings) -> None:
    for block in blocks:
        if is_synthetic(block) and block["tool_use_id"] in asked:
            found.better("every-call-has-a-result")
        elif block["type"] == "tool_result" and block["tool_use_id"] in asked and not text_of(block):
            found.better("results-keep-their-place")
        else:
            found.fail(f"a block comes from nowhere: {block}")


def text_of(result: Any) -> str:
    """Return the text of a tool result; a picture in it reads `[Image]`, blank parts are left out."""
    content = result["content"]
    parts = [content] if isinstance(content, str) else [part.get("text", "[Image]") for part in content]
    texts = "\n".join(part for part in parts if part.strip())
    return texts or (words.empty_error() if result.get("is_error") else "")
