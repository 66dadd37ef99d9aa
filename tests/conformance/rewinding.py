"""Rewinds: to just before a message of the interface, on the log that importing the pair of lists makes.

The engine rewinds to points of the path: a typed message's is found by `target_head`, every other one is a move of the
head. What an interface message belongs to is told by time: a person's message to the user message stored next (an
answer that ended meanwhile stays), everything else to what was stored from then on.
"""

from collections.abc import Sequence
from typing import Any

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import Log
from roo_tui.context.history.rewind import rewind_points, target_head
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Truncation
from tests.conformance.histories import Json, plain
from tests.conformance.tagged import log_of, tagged_whole
from tests.conformance.verdict import Findings
from tests.conformance.views import all_is_sent, same_tags

# Where the data's clock stands.
_NOW_MS = 1_700_000_000_000
_PERSONS = {"user_feedback", "user_feedback_diff"}


def rewind(given: Json, recorded: Any, found: Findings) -> None:
    """One rewind leaves the same messages, visible and hidden."""
    events = given["clineMessages"]
    place = _place(events, given)
    if place is None:
        found.check("raises" in recorded, "there is no such message, and nobody said so")
        return
    past_the_end_is_now(given, found)
    one = {"call": given["call"], "options": given.get("options") or {}}
    _compare(given, one, place, recorded["apiConversationHistory"], found)


def rewind_everywhere(given: Json, recorded: Any, found: Findings) -> None:
    """A rewind to each position leaves the same messages, visible and hidden."""
    history = given["apiConversationHistory"]
    for one in recorded:
        place = _place(given["clineMessages"], one)
        if place is None:
            found.fail(f"no message at {one.get('ts')}")
            continue
        kept = [_without(history[index], keys) for index, *keys in one["api"]]
        _compare(given, one, place, kept, found)


def past_the_end_is_now(given: Json, found: Findings) -> None:
    """A rewind to a place after the last interface message means now: nothing goes."""
    log = log_of(given["apiConversationHistory"], given["clineMessages"])
    before = log.path()
    log.move(head_before(log, given["clineMessages"], len(given["clineMessages"])))
    found.expect("what a rewind to now leaves", before, log.path())


def head_before(log: Log, events: Sequence[Json], place: int, *, keep_it: bool = False) -> EntryId | None:
    """Return the head that a rewind to an interface message means; past the last one that is the newest entry."""
    path, event = log.path(), events[place] if place < len(events) else {"ts": _NOW_MS}
    at_ms = event["ts"]
    if keep_it and _is_marker_event(event):
        at_ms += 1
    exact = next((entry for entry in path if entry.at_ms == at_ms and not _is_marker(entry)), None)
    later = [entry for entry in path if entry.at_ms >= at_ms]
    if exact is None and is_persons(event, place) and len(later) < len(path) and _is_answer(later[:1]):
        # The answer that ended meanwhile is the one to earlier words: it stays.
        del later[0]
    first = exact or next(iter(later), None)
    if first is None:
        return log.head
    points = {point.entry_id for point in rewind_points(path) if point.kind == "user"}
    return target_head(path, first.id) if first.id in points else first.parent_id


def _compare(given: Json, one: Json, place: int, expected: Sequence[Json], found: Findings) -> None:
    history, events = given["apiConversationHistory"], given["clineMessages"]
    log = log_of(history, events)
    before = log.path()
    keep_it = bool((one.get("options") or {}).get("includeTargetMessage"))
    log.move(head_before(log, events, place, keep_it=keep_it))
    path = log.path()
    all_is_sent(effective_history(path), found)
    ours = tagged_whole(path)
    trial = Findings()
    same_tags(expected, ours, trial)
    if not trial.wrong:
        return
    what = _why_differently(events, place, expected, ours, before, path)
    if keep_it and _is_marker_event(events[place]) and path and _is_marker(path[-1]):
        # The event of the condense stays to be seen, so what it tells of stays too.
        what = what or "what-is-kept-stays-whole"
    if what:
        found.better(what)
    else:
        found.wrong += [f"at {events[place]}: {wrong}" for wrong in trial.wrong[:2]]


def _why_differently(
    events: Sequence[Json],
    place: int,
    expected: Sequence[Json],
    ours: Sequence[Json],
    before: Sequence[Entry],
    path: Sequence[Entry],
) -> str:
    """Return the reason for which another part of the history is left, empty if none holds."""
    event = events[place]
    theirs = [plain(one) for one in expected if not _tagged_marker(one) and plain(one).blocks]
    own = [plain(one) for one in ours if not _tagged_marker(one)]
    gone = [entry for entry in before if entry not in path]
    less = own == theirs[: len(own)] and len(own) < len(theirs)
    kept_answer = _is_answer([entry for entry in path if entry.at_ms >= event["ts"]])
    if less and takes_no_more(event, place, path, gone):
        # Roo Code keeps the answer that the interface message is part of.
        return "rewind-takes-the-answer"
    if own[:-1] == theirs and is_persons(event, place) and kept_answer:
        return "early-words-keep-the-answer"
    if own == theirs and any(isinstance(entry.body, Condense | Truncation) for entry in gone):
        # A condense without an id in its event cannot be taken back there.
        return "every-condense-can-be-taken-back"
    return ""


def takes_no_more(event: Json, place: int, path: Sequence[Entry], gone: Sequence[Entry]) -> bool:
    """Say whether all that a rewind took was made for an interface message or later.

    A person's words leave the answer that ended after them, if that came next.
    """
    kept_answer = _is_answer([entry for entry in path if entry.at_ms >= event["ts"]])
    right = not is_persons(event, place) or kept_answer or not _is_answer(gone[:1])
    return right and all(entry.at_ms >= event["ts"] for entry in gone)


def _is_answer(entries: Sequence[Entry]) -> bool:
    return any(isinstance(entry.body, AssistantMessage) for entry in entries)


def _place(events: Sequence[Json], one: Json) -> int | None:
    if one["call"] == "rewindToIndex":
        return int(one["index"])
    return next((at for at, event in enumerate(events) if event.get("ts") == one["ts"]), None)


def _without(message: Json, keys: Sequence[Sequence[str]]) -> dict[str, Any]:
    removed = {key for names in keys for key in names}
    return {key: value for key, value in message.items() if key not in removed}


def is_persons(event: Json, place: int) -> bool:
    """Say whether an interface message is what a person typed."""
    return event.get("say") in _PERSONS or (place == 0 and event.get("say") == "text")


def _is_marker_event(event: Json) -> bool:
    return bool(event.get("contextCondense") or event.get("contextTruncation"))


def _is_marker(entry: Entry) -> bool:
    return isinstance(entry.body, Condense | Truncation)


def _tagged_marker(message: Json) -> bool:
    return bool(message.get("isTruncationMarker") or message.get("isSummary"))
