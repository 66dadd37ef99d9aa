"""Truncation: legal cuts at half of the tokens instead of even counts; what must hold of every one of them."""

from collections.abc import Sequence
from typing import Any

from roo_tui.context.history.effective import Visible, effective_history, with_marker
from roo_tui.context.history.pairing import is_legal_cut, legal_cuts
from roo_tui.context.sliding_window import truncate
from roo_tui.domain.blocks import tool_results, tool_uses
from roo_tui.domain.entries import Entry
from roo_tui.domain.markers import Truncation
from tests.conformance.rule import RuleCounter
from tests.conformance.tagged import Json, Plain, log_of, of_visible, plain
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent


def truncation(given: Json, recorded: Any, found: Findings) -> None:
    """The oldest part after the first message is hidden; ours knows one fraction, half of the tokens."""
    counter, path = RuleCounter(), log_of(given["messages"]).path()
    marker = truncate(path, counter)
    before = effective_history(path)
    if marker is not None:
        is_sound(path, marker, counter, found)
        is_half(before, marker, counter, found)
    else:
        nothing_can_go(path, counter, found)
    compare(newly_hidden(given["messages"], recorded["messages"]), before, marker, found)


def nothing_can_go(path: Sequence[Entry], counter: RuleCounter, found: Findings) -> None:
    """Check that no legal cut between the first message (or the summary) and a last question would free anything."""
    before = effective_history(path)
    first = max((at for at, message in enumerate(before) if message.source == "summary"), default=0) + 1
    cuts = [cut for cut in legal_cuts(before) if cut >= first]
    for cut in cuts[1:]:
        last = before[cut - 1]
        if cut == len(before) and last.role == "user" and not tool_results(last.blocks):
            continue
        hides = tuple(message.entry_id for message in before[cuts[0] : cut])
        freed = counter.count_messages(before) - counter.count_messages(with_marker(path, Truncation(hides)))
        found.check(freed <= 0, f"hiding {len(hides)} messages would free {freed} tokens")


def newly_hidden(before: Sequence[Json], after: Sequence[Json]) -> list[Plain]:
    """Return the messages that a recorded truncation tagged, and the new marker does hide."""
    added = [one.get("truncationId") for one in after if one.get("isTruncationMarker") and one not in before]
    return [plain(message) for message in after if message.get("truncationParent") in added and message["content"]]


def compare(recorded: Sequence[Plain], before: Sequence[Visible], marker: Truncation | None, found: Findings) -> None:
    """Compare what was hidden, as contents."""
    hidden = set(marker.hides) if marker is not None else set()
    ours = of_visible([message for message in before if message.entry_id in hidden])
    if ours == list(recorded):
        return
    shown = of_visible(before)
    if not recorded and marker is None:
        return
    if any(message not in shown for message in recorded) or any(message.kind == "summary" for message in recorded):
        found.better("truncation-hides-what-is-sent")
    elif marker is None:
        found.better("truncation-must-free")
    else:
        found.better("legal-cut-at-half")


def is_sound(path: Sequence[Entry], marker: Truncation, counter: RuleCounter, found: Findings) -> None:
    """Check what holds of every truncation of ours, one step or several."""
    before, after = effective_history(path), with_marker(path, marker)
    ids = [message.entry_id for message in before]
    places = sorted(ids.index(entry_id) for entry_id in marker.hides if entry_id in ids)
    found.check(len(places) == len(marker.hides) > 0, "it hides something that is not visible")
    found.check(places == list(range(places[0], places[0] + len(places))), "it leaves a gap")
    found.check(places[0] > 0, "the first message is hidden")
    found.check(all(before[at].source != "summary" for at in places), "the summary in force is hidden")
    found.check(is_legal_cut(before, places[-1] + 1), "the cut falls between a call and its result")
    found.check(len(after) == len(before) - len(places) + 1, "the messages left are not those that were not hidden")
    lines = [message.entry_id for message in after if message.source == "truncation"]
    found.check(marker is not None and bool(lines), "the line is not in the effective history")
    found.check(counter.count_messages(after) < counter.count_messages(before), "nothing is freed")
    left = {message.entry_id for message in after}
    parted = [pair for pair in _pairs(before) if len(pair & left) == 1 and len(pair) == 2]
    found.check(not parted, "a call and its result were parted")
    all_is_sent(after, found)


def is_half(before: Sequence[Visible], marker: Truncation, counter: RuleCounter, found: Findings) -> None:
    """Check that one step hides up to the first legal cut at or after half of the tokens that may go."""
    ids = [message.entry_id for message in before]
    start, end = ids.index(marker.hides[0]), ids.index(marker.hides[-1]) + 1
    tokens = [counter.count_blocks(message.blocks) for message in before]
    half = sum(tokens[start:]) / 2
    enough = [cut for cut in legal_cuts(before) if start < cut < len(before) and sum(tokens[start:cut]) >= half]
    if sum(tokens[start:end]) >= half and end < len(before):
        found.check(not enough or end <= _first_that_frees(enough, tokens, start), "an earlier cut would have done")
    else:
        found.check(not enough or end == len(before) or end > enough[0], "less than half was hidden")


def _first_that_frees(cuts: Sequence[int], tokens: Sequence[int], start: int) -> int:
    """Return the first cut whose part is larger than the line that takes its place can be."""
    return next((cut for cut in cuts if sum(tokens[start:cut]) > _LONGEST_LINE), cuts[-1])


_LONGEST_LINE = 30


def _pairs(visible: Sequence[Visible]) -> list[set[int]]:
    """Return the messages of each call and of its result, where that stands in the user's turn right after it."""
    pairs: list[set[int]] = []
    asked: dict[str, int] = {}
    role = ""
    for message in visible:
        if message.role == "assistant":
            if role != "assistant":
                asked = {}
            asked.update((call.id, message.entry_id) for call in tool_uses(message.blocks))
        answered = [result.tool_use_id for result in tool_results(message.blocks) if result.tool_use_id in asked]
        pairs += [{asked[call_id], message.entry_id} for call_id in answered]
        role = message.role
    return pairs
