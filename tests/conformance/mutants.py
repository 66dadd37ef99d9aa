"""Faults put into the product on purpose, one at a time: each must turn cases wrong.

A function or method is replaced wherever a module or class holds it, for as long as the cases run.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roo_tui.context.condense.attachments import Allowance, allowance
from roo_tui.context.condense.cut_point import cut, messages_since_summary, standing_commands
from roo_tui.context.condense.file_outlines import fold
from roo_tui.context.condense.marker import build_marker
from roo_tui.context.guards import Guards
from roo_tui.context.history.log import Log
from roo_tui.context.history.pairing import legal_cuts, repair, sendable
from roo_tui.context.window.policy import decide, reserved_output
from roo_tui.domain.blocks import Message, ToolResult
from roo_tui.domain.markers import Condense
from roo_tui.outline.languages import language_of
from tests.conformance import words
from tests.conformance.runner import run_file

_PATH = Log.path
_OWNERS = ("roo_tui", "tests.conformance")


@dataclass(frozen=True)
class Mutant:
    """A fault: what it is, the files of cases that must show it, the function it is in, and what that becomes."""

    name: str
    files: tuple[str, ...]
    original: Callable[..., Any]
    changed: Callable[..., Any]


@dataclass(frozen=True)
class Result:
    """What came of the cases with a fault put in: how many were run, and which turned wrong."""

    mutant: Mutant
    cases: int
    wrong: tuple[str, ...]


def results(place: Path, mutants: Sequence[Mutant]) -> Iterator[Result]:
    """Run the cases of each mutant's files with its fault put in."""
    for mutant in mutants:
        with _put_in(mutant):
            verdicts = [verdict for file in mutant.files for verdict in run_file(place / f"{file}.json")]
        # A fault that only breaks the run would show without any check.
        told = [one for one in verdicts if not all(detail.startswith("Traceback") for detail in one.details)]
        wrong = tuple(f"{one.function} {one.name}" for one in told if one.outcome == "wrong")
        yield Result(mutant, len(verdicts), wrong)


def table(found: Sequence[Result]) -> str:
    """Return a line for each mutant: its name, the cases run, those turned wrong, the first of them."""
    lines = [f"{'mutant':52} {'cases':>6} {'wrong':>6}"]
    for one in found:
        first = one.wrong[0] if one.wrong else "SURVIVED"
        lines.append(f"{one.mutant.name:52} {one.cases:6} {len(one.wrong):6}  {first}")
    return "\n".join(lines)


@contextmanager
def _put_in(mutant: Mutant) -> Iterator[None]:
    held = ((holder, name, value) for holder in _holders() for name, value in vars(holder).items())
    places = [(holder, name) for holder, name, value in held if value is mutant.original]
    assert places, f"nothing holds {mutant.original}"
    for holder, name in places:
        setattr(holder, name, mutant.changed)
    try:
        yield
    finally:
        for holder, name in places:
            setattr(holder, name, mutant.original)


def _holders() -> list[Any]:
    """Return the modules and classes of the product and of its checks; not this module, which calls originals."""
    named = [module for name, module in sys.modules.items() if name.startswith(_OWNERS) and name != __name__]
    classes = [one for module in named for one in vars(module).values() if isinstance(one, type)]
    return [*named, *{id(one): one for one in classes if one.__module__.startswith(_OWNERS)}.values()]


def _uncapped(info: Any, window: int, max_output: int, warnings: Any) -> int:
    return max_output or info.max_output or 8192


def _later(context_tokens: int, limits: Any) -> str:
    return "nothing" if context_tokens == limits.trigger_tokens else decide(context_tokens, limits)


def _one_too_few(path: Any, keep: int = 0) -> Any:
    found = cut(path, keep)
    return replace(found, hidden=found.hidden[:-1], kept=(*found.hidden[-1:], *found.kept))


def _request_always(path: Any, keep: int = 0) -> Any:
    found = cut(path, keep)
    return replace(found, request=found.request or "Go on.")


def _every_cut(messages: Any) -> Any:
    return tuple(range(len(messages) + 1))


def _synthetic_last(messages: Any, **model: Any) -> Any:
    def is_put_in(block: Any) -> bool:
        return isinstance(block, ToolResult) and block.content == words.missing_result()

    return tuple(Message(one.role, tuple(sorted(one.blocks, key=is_put_in))) for one in repair(messages, **model))


def _synthetic_first(messages: Any, **model: Any) -> Any:
    def is_none(block: Any) -> bool:
        return not (isinstance(block, ToolResult) and block.content == words.missing_result())

    return tuple(Message(one.role, tuple(sorted(one.blocks, key=is_none))) for one in repair(messages, **model))


def _no_errors(*given: Any) -> Any:
    return (replace(one, is_error=False) if isinstance(one, ToolResult) else one for one in sendable(*given))


async def _always_automatic(material: Any, inputs: Any, services: Any, options: Any) -> Any:
    return await build_marker(material, replace(inputs, trigger="automatic"), services, options)


def _commands_once(path: Any) -> Any:
    return () if any(isinstance(entry.body, Condense) for entry in path) else standing_commands(path)


def _condenses_stay(log: Any) -> Any:
    path = _PATH(log)
    return (*path, *(one for one in log.entries if isinstance(one.body, Condense) and one not in path))


def _nothing_new(visible: Any) -> Any:
    return None if messages_since_summary(visible) is None else 0


def _never_recent(visible: Any) -> Any:
    return None


def _backwards(paths: Any, budget: int, outlines: Any) -> Any:
    return fold(paths[::-1], budget, outlines)


def _unmeasured(window: int, raw_freed: int) -> Any:
    return Allowance(10**9, 10**9)


def _no_go(path: str) -> str:
    return "" if path.endswith(".go") else language_of(path)


_CONDENSING = ("summarizeConversation", "manageContext")
_REQUESTS = ("mergeConsecutiveApiMessages", "getEffectiveApiHistory", "injectSyntheticToolResults")

MUTANTS = (
    Mutant("no cap of a fifth on what is reserved", ("willManageContext", "manageContext"), reserved_output, _uncapped),
    Mutant("a condense is due above the trigger, not at it", ("willManageContext",), decide, _later),
    Mutant("a condense hides one message too few", _CONDENSING, cut, _one_too_few),
    Mutant("a truncation parts a call from its result", ("truncateConversation",), legal_cuts, _every_cut),
    Mutant("results put in stand last in their turn", _REQUESTS, repair, _synthetic_last),
    Mutant("results put in stand before real ones", _REQUESTS, repair, _synthetic_first),
    Mutant("errors are sent as successes", _REQUESTS, sendable, _no_errors),
    Mutant("environment details in a condense by hand", ("summarizeConversation",), build_marker, _always_automatic),
    Mutant("commands are lost at the second condense", (*_CONDENSING, "sequences"), standing_commands, _commands_once),
    Mutant("a rewind past a condense leaves it on", ("rewind", "sequences"), _PATH, _condenses_stay),
    Mutant("refused as condensed recently though not", _CONDENSING, messages_since_summary, _nothing_new),
    Mutant("not refused though condensed recently", _CONDENSING, messages_since_summary, _never_recent),
    Mutant("outlines in reverse order", ("generateFoldedFileContext", "summarizeConversation"), fold, _backwards),
    Mutant("attached blocks have no budget", _CONDENSING, allowance, _unmeasured),
    Mutant("a request attached that was answered", _CONDENSING, cut, _request_always),
    Mutant("any number of attempts in a minute", ("manageContext",), Guards.attempted, Guards.wait_for_new_content),
    Mutant("files of one language are not outlined", ("generateFoldedFileContext",), language_of, _no_go),
)
