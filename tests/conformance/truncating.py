"""Truncation: legal cuts at half of the tokens instead of even counts; what must hold of every one of them."""

from collections.abc import Sequence
from typing import Any

from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.sliding_window import slide_window
from roo_tui.domain.entries import Entry
from roo_tui.domain.markers import Truncation
from tests.conformance import words
from tests.conformance.condensing import in_our_words
from tests.conformance.histories import (
    Json,
    Plain,
    is_question,
    legal_places,
    pairs,
    plain,
    text_tokens,
    tokens,
    tokens_of_all,
)
from tests.conformance.rule import RuleCounter
from tests.conformance.tagged import log_of, of_visible
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent


def truncation(given: Json, recorded: Any, found: Findings) -> None:
    """The oldest part after the first message is hidden; ours knows one fraction, half of the tokens."""
    path = log_of(given["messages"]).path()
    marker = slide_window(path, RuleCounter())
    history = in_our_words(given["messages"], path, found)
    if marker is not None:
        is_sound(path, marker, found)
        is_half(path, marker, found)
    else:
        nothing_can_go(history, found)
    compare(newly_hidden(given["messages"], recorded["messages"]), path, marker, found)


def nothing_can_go(history: Sequence[Plain], found: Findings) -> None:
    """Check that no legal cut between the first message (or the summary) and a last question would free anything."""
    first = max((at for at, message in enumerate(history) if message.kind == "summary"), default=0) + 1
    cuts = [cut for cut in legal_places(history) if cut >= first]
    for cut in cuts[1:]:
        if cut == len(history) and is_question(history[-1]):
            continue
        count = cut - cuts[0]
        freed = tokens_of_all(history[cuts[0] : cut]) - text_tokens(words.truncation_line(count))
        found.check(freed <= 0, f"hiding {count} messages would free {freed} tokens")


def newly_hidden(before: Sequence[Json], after: Sequence[Json]) -> list[Plain]:
    """Return the messages that a recorded truncation tagged, and the new marker does hide."""
    added = [one.get("truncationId") for one in after if one.get("isTruncationMarker") and one not in before]
    return [plain(message) for message in after if message.get("truncationParent") in added and message["content"]]


def compare(recorded: Sequence[Plain], path: Sequence[Entry], marker: Truncation | None, found: Findings) -> None:
    """Compare what was hidden, as contents."""
    visible = effective_history(path)
    hidden = set(marker.hides) if marker is not None else set()
    ours = of_visible([message for message in visible if message.entry_id in hidden])
    if ours == list(recorded) or (not recorded and marker is None):
        return
    shown = of_visible(visible)
    if any(message not in shown for message in recorded) or any(message.kind == "summary" for message in recorded):
        found.better("truncation-hides-what-is-sent")
    elif marker is None:
        found.better("truncation-must-free")
    else:
        found.better("legal-cut-at-half")


def is_sound(path: Sequence[Entry], marker: Truncation, found: Findings) -> None:
    """Check what holds of every truncation of ours, one step or several."""
    visible, after = effective_history(path), of_visible(with_marker(path, marker))
    history, ids = of_visible(visible), [message.entry_id for message in visible]
    places = sorted(ids.index(entry_id) for entry_id in marker.hides if entry_id in ids)
    found.check(len(places) == len(marker.hides) > 0, "it hides something that is not visible")
    if not places:
        return
    start, end = places[0], places[-1] + 1
    found.expect("what is hidden, without a gap", list(range(start, end)), places)
    found.check(start > 0, "the first message is hidden")
    found.check(all(history[at].kind != "summary" for at in places), "the summary in force is hidden")
    found.check(not (end == len(history) and is_question(history[-1])), "an unanswered message is hidden")
    cuts = legal_places(history)
    found.check(start in cuts, "it begins between a call and its result")
    found.check(end in cuts, "the cut falls between a call and its result")
    parted = [pair for pair in pairs(history) if pair[1] is not None and len({one in places for one in pair}) == 2]
    found.expect("calls parted from their results", [], parted)
    found.check(len(after) == len(history) - len(places) + 1 and after[start].kind == "truncation", "no line is seen")
    found.expect("what is left", [*history[:start], *history[end:]], [*after[:start], *after[start + 1 :]])
    found.check(tokens_of_all(after) < tokens_of_all(history), "nothing is freed")
    all_is_sent(with_marker(path, marker), found)


def is_half(path: Sequence[Entry], marker: Truncation, found: Findings) -> None:
    """Check that one step hides up to the first legal cut at or after half of the tokens that may go."""
    visible = effective_history(path)
    history, ids = of_visible(visible), [message.entry_id for message in visible]
    start, end = ids.index(marker.hides[0]), ids.index(marker.hides[-1]) + 1
    counts = [tokens(message.blocks) for message in history]
    half = sum(counts[start:]) / 2
    enough = [cut for cut in legal_places(history) if start < cut < len(history) and sum(counts[start:cut]) >= half]
    if sum(counts[start:end]) >= half and end < len(history):
        found.check(not enough or end <= _first_that_frees(enough, counts, start), "an earlier cut would have done")
    else:
        found.check(not enough or end == len(history) or end > enough[0], "less than half was hidden")


def _first_that_frees(cuts: Sequence[int], counts: Sequence[int], start: int) -> int:
    """Return the first cut whose part is larger than the line that takes its place can be."""
    return next((cut for cut in cuts if sum(counts[start:cut]) > _LONGEST_LINE), cuts[-1])


_LONGEST_LINE = 30
