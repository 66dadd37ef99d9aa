"""Runs every case of a folder of conformance data, and prints what came of them.

    python -m tests.conformance [FOLDER] [--all]         --all names each case that is not equal
    python -m tests.conformance [FOLDER] --mutants       faults put into the product, and the cases each turns wrong

Each file is one function of Roo Code's. Its cases go from tagged messages to our log (by the module that importing
uses), through the functions the engine calls, and back. Nothing here knows a case: what differs must be explained by a
reason whose check holds for the case at hand. Limits, refusals, guards, what is seen, legal cuts, places of results and
what is attached are worked out in `due`, `histories`, `placing`, `attachments` and `folding`, which ask the product
nothing.
"""

import json
import os
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.conformance import (
    condensing,
    counting,
    guarding,
    managing,
    outlines,
    rewinding,
    sequences,
    truncating,
    views,
)
from tests.conformance.histories import Json
from tests.conformance.reachable import STORED, why_unreachable
from tests.conformance.reasons import REASONS
from tests.conformance.tagged import refusals
from tests.conformance.verdict import Findings, Outcome, Verdict

Check = Callable[[Json, Any, Findings], None]

CHECKS: dict[str, Check] = {
    "getEffectiveApiHistory": views.effective,
    "getMessagesSinceLastSummary": views.since_summary,
    "cleanupAfterTruncation": views.cleanup,
    "injectSyntheticToolResults": views.synthetic_results,
    "transformMessagesForCondensing": views.as_text,
    "extractCommandBlocks": views.commands,
    "mergeConsecutiveApiMessages": views.merge,
    "validateAndFixToolResultIds": views.repaired_ids,
    "truncateConversation": truncating.truncation,
    "willManageContext": managing.will_manage,
    "manageContext": guarding.manage,
    "summarizeConversation": condensing.summarize,
    "rewind": rewinding.rewind,
    "rewindEveryPosition": rewinding.rewind_everywhere,
    "sequences": sequences.sequence,
    "checkContextWindowExceededError": counting.context_error,
    "countTokens": counting.tokens,
    "generateFoldedFileContext": outlines.folded,
    "parseSourceCodeDefinitionsForFile": outlines.parse,
}

# Histories made of operations may not be set apart, whatever they look like.
_MADE_BY_OPERATIONS = "ops-"


def folder() -> Path:
    """Return the folder of the data: `ROO_TUI_CONFORMANCE_DIR`, else beside the repository."""
    beside = Path(__file__).parents[2].parent / "shared" / "conformance"
    return Path(os.environ.get("ROO_TUI_CONFORMANCE_DIR") or beside)


def why_not(place: Path) -> str:
    """Return why nothing can be run, empty if it can."""
    return (
        "" if place.is_dir() else f"there is no conformance data at {place}; name its folder in ROO_TUI_CONFORMANCE_DIR"
    )


def files(place: Path) -> list[Path]:
    """Return the files of cases, known defects left out."""
    return sorted(file for file in place.glob("*.json") if file.stem != "known-defects")


def run_file(file: Path) -> Iterator[Verdict]:
    """Yield what comes of each case of a file. A function nobody checks is wrong in every case."""
    data = json.loads(file.read_text("utf-8"))
    function = data["function"]
    check = CHECKS.get(function, _unknown)
    for case in data["cases"]:
        yield run_case(function, check, case)


def run_case(function: str, check: Check, case: Json) -> Verdict:
    """Return what comes of one case."""
    given = case["input"]
    why = why_unreachable(function, given)
    found = _found(check, given, case["output"])
    if not why:
        outcome: Outcome = "wrong" if found.wrong else "better on purpose" if found.reasons else "equal"
        return Verdict(function, case["name"], outcome, tuple(found.reasons), tuple(found.wrong))
    problems = _refusals(function, given)
    if case["name"].startswith(_MADE_BY_OPERATIONS):
        problems.append(f"set apart though operations made it: {why}")
    if problems:
        return Verdict(function, case["name"], "wrong", (why,), tuple(problems))
    return Verdict(function, case["name"], "unreachable", (why,), tuple(found.wrong), equal_anyway=not found.wrong)


def table(verdicts: list[Verdict]) -> str:
    """Return the table: function, cases, equal, better on purpose (by reason), unreachable, wrong."""
    lines = [f"{'function':34} {'cases':>6} {'equal':>6} {'better':>7} {'unreachable':>12} {'wrong':>6}"]
    functions = list(dict.fromkeys(verdict.function for verdict in verdicts))
    for function in [*functions, ""]:
        own = [verdict for verdict in verdicts if function in ("", verdict.function)]
        count = Counter(verdict.outcome for verdict in own)
        lines.append(
            f"{function or 'all':34} {len(own):6} {count['equal']:6} {count['better on purpose']:7} "
            f"{count['unreachable']:12} {count['wrong']:6}"
        )
        by_reason = Counter(reason for one in own if one.outcome == "better on purpose" for reason in one.reasons)
        lines += [f"      {number:4}  {reason}" for reason, number in by_reason.most_common() if function]
    apart = Counter(reason for one in verdicts if one.outcome == "unreachable" for reason in one.reasons)
    agreed = sum(one.equal_anyway for one in verdicts)
    lines += ["", f"unreachable, by what such an input lacks ({agreed} of them agree all the same):"]
    lines += [f"      {number:4}  {reason}" for reason, number in apart.most_common()]
    used = {reason for one in verdicts if one.outcome == "better on purpose" for reason in one.reasons}
    lines += ["", "reasons:", *(f"      {reason}: {REASONS[reason]}" for reason in REASONS if reason in used)]
    return "\n".join(lines)


def details(verdicts: list[Verdict], *, every: bool) -> str:
    """Return a line for each wrong case, with `every` for each that is not equal."""
    lines = []
    for one in verdicts:
        if one.outcome == "wrong" or (every and one.outcome != "equal"):
            lines.append(f"{one.outcome}: {one.function} {one.name} {', '.join(one.reasons)}")
            lines += [f"      {detail}" for detail in one.details[:5]]
    return "\n".join(lines)


def _found(check: Check, given: Json, recorded: Any) -> Findings:
    found = Findings()
    try:
        check(given, recorded, found)
    except Exception:
        found.fail(traceback.format_exc(limit=-4))
    unknown = [reason for reason in found.reasons if reason not in REASONS]
    found.wrong += [f"no such reason: {reason}" for reason in unknown]
    return found


def _refusals(function: str, given: Json) -> list[str]:
    """Return what a provider would refuse of an input that is set apart."""
    if function not in STORED and "messages" not in given and "history" not in given:
        return []
    messages = given.get("messages", given.get("apiConversationHistory"))
    if messages is None:
        messages = [*given["history"], given["userMessage"]]
    try:
        return refusals(messages)
    except Exception:
        return [traceback.format_exc(limit=-4)]


def _unknown(given: Json, recorded: Any, found: Findings) -> None:
    found.fail("nobody checks this function")
