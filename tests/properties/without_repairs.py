"""Take out one repair of a request at a time, and show that the sequences then break a law.

`python -m tests.properties.without_repairs` prints a table: repair, law that broke, after how many sequences.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis.stateful import run_state_machine_as_test

from roo_tui.context.history import pairing
from roo_tui.domain.blocks import Message, Opaque, Role, Thinking, ToolResult, ToolUse
from roo_tui.engine import request
from tests.properties.test_laws import Conversation as Laws
from tests.support.played import Broken, Figures
from tests.support.sequence_runs import play_many

_MOST = 1_000
_Building = pairing._Building


def _patched(target: Any, name: str, value: Any) -> Callable[[], Any]:
    return lambda: patch.object(target, name, value)


def _nothing(*_: Any, **__: Any) -> Any:
    """Repair nothing."""


def _unmerged(messages: Any, *, provider: str = "", model: str = "") -> tuple[Message, ...]:
    """Repair each message by itself, as if neighbours of one role were not merged."""
    building = _Building()
    for message in messages:
        blocks = list(pairing.sendable(message.blocks, message.role, provider, model))
        if message.role == "assistant":
            sent = tuple(building._unique(block) if isinstance(block, ToolUse) else block for block in blocks)
            if sent:
                building.messages.append(Message("assistant", sent))
        else:
            results, others = building._matched(blocks)
            if results or others:
                building._close_assistant()
                building.messages.append(Message("user", (*results, *building._missing(), *others)))
    return building.finished()


def _no_first_user(self: Any, blocks: list[Any]) -> None:
    sent = tuple(self._unique(block) if isinstance(block, ToolUse) else block for block in blocks)
    if self.messages and self.messages[-1].role == "assistant":
        self.messages[-1] = Message("assistant", self.messages[-1].blocks + sent)
    elif sent:
        self.messages.append(Message("assistant", sent))


def _same_id(self: Any, call: ToolUse) -> ToolUse:
    sent = replace(call, id=pairing.plain_id(call.id))
    self.log_ids.add(call.id)
    self.waiting.append((call.id, sent))
    return sent


def _results_where_they_stood(self: Any, blocks: list[Any]) -> None:
    results, others = self._matched(blocks)
    if not results and not others:
        return
    self._close_assistant()
    results.extend(self._missing())
    found = (*others, *results)
    if self.messages and self.messages[-1].role == "user":
        self.messages[-1] = Message("user", self.messages[-1].blocks + found)
    else:
        self.messages.append(Message("user", found))


def _every_result_as_result(self: Any, blocks: list[Any]) -> tuple[list[Any], list[Any]]:
    answered = {block.tool_use_id for block in blocks if isinstance(block, ToolResult)}
    self.waiting = [pair for pair in self.waiting if pair[0] not in answered]
    results = [block for block in blocks if isinstance(block, ToolResult)]
    return results, [block for block in blocks if not isinstance(block, ToolResult)]


class _Never(set[Any]):
    """A set that remembers nothing."""

    def __contains__(self, item: object) -> bool:
        return False


def _forgetful(*_: Any, **__: Any) -> Any:
    building = _Building()
    building.sent_results = _Never()
    return building


def _keep(kinds: tuple[type, ...], unless: Callable[[Any], bool] = lambda block: False) -> Callable[..., Iterator[Any]]:
    """Return `sendable` that lets blocks of these kinds pass as they are."""
    original = pairing.sendable

    def keeping(blocks: Any, role: Role, provider: str, model: str) -> Iterator[Any]:
        for block in blocks:
            if isinstance(block, kinds) and not unless(block):
                yield block
            else:
                yield from original((block,), role, provider, model)

    return keeping


REPAIRS: dict[str, Callable[[], Any]] = {
    "neighbours of one role are merged": _patched(request, "repair", _unmerged),
    "the first message is the user's": _patched(_Building, "add_assistant", _no_first_user),
    "results stand first": _patched(_Building, "add_user", _results_where_they_stood),
    "a call without result gets one": _patched(_Building, "_missing", lambda self: []),
    "a result without call goes as text": _patched(_Building, "_matched", _every_result_as_result),
    "a result under a strange id is its place's": _patched(_Building, "_by_place", lambda self, results: {}),
    "a result told before is not told again": _patched(pairing, "_Building", _forgetful),
    "call ids are unique": _patched(_Building, "_unique", _same_id),
    "call ids are plain": _patched(pairing, "plain_id", lambda call_id: call_id),
    "reasoning is not last": _patched(_Building, "_close_assistant", _nothing),
    "blank texts are left out": _patched(pairing, "_is_blank", lambda text: False),
    "unsigned reasoning is left out": _patched(
        pairing, "sendable", _keep((Thinking,), lambda block: bool(block.signature))
    ),
    "another model's reasoning is left out": _patched(pairing, "_is_of", lambda block, provider, model: True),
    "opaque blocks of the wrong kind are left out": _patched(
        pairing, "sendable", _keep((Opaque,), lambda block: block.model != "model-a")
    ),
    "pictures no provider takes are left out": _patched(pairing, "_is_image", lambda block: True),
    "tool names are plain": _patched(pairing, "_call", lambda block: replace(block, input=pairing._json(block.input))),
    "inputs are JSON": _patched(pairing, "_json", lambda value: value),
    "an error says something and shows no picture": _patched(pairing, "_result", lambda block: block),
}


# The store replaces half surrogates too, so that none comes back from it: the laws of the log alone show the repair.
REPAIRS_OF_LAWS: dict[str, Callable[[], Any]] = {
    "half surrogates are replaced": _patched(pairing, "well_formed", lambda text: text),
}


def broken_without(repair: str, folder: Path, most: int = _MOST) -> tuple[str, str, int]:
    """Play sequences without a repair; return the law that broke ("" if none did), how, and after how many."""
    figures = Figures()
    with REPAIRS[repair]():
        try:
            play_many(most, 7, folder, shrink=False, total=figures)
        except Broken as error:
            return error.kind, str(error), figures.sequences
    return "", "", figures.sequences


def law_without(repair: str) -> str:
    """Check the laws of the log without a repair; return how one broke, "" if none did."""
    with REPAIRS_OF_LAWS[repair]():
        try:
            run_state_machine_as_test(Laws, settings=Laws.TestCase.settings)
        except AssertionError as error:
            return str(error) or "an invariant does not hold"
    return ""


def main() -> int:
    """Return 0 if every repair is needed."""
    unneeded = 0
    print(f"{'without the repair':<48}{'breaks':<10}{'after sequences':>15}  how")
    for repair in sys.argv[1:] or REPAIRS:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["ROO_TUI_HOME"] = f"{folder}/home"
            law, how, count = broken_without(repair, Path(folder))
        unneeded += not law
        print(f"{repair:<48}{law or 'nothing':<10}{count:>15,}  {how.partition(': ')[2][:90]}", flush=True)
    for repair in () if sys.argv[1:] else REPAIRS_OF_LAWS:
        how = law_without(repair)
        unneeded += not how
        print(f"{repair:<48}{'test_laws' if how else 'nothing':<10}{'':>15}  {how[:90]}", flush=True)
    return 1 if unneeded else 0


if __name__ == "__main__":
    raise SystemExit(main())
