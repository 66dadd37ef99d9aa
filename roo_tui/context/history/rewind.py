"""Rewind points of a path, and the head and files that each leads to."""

from collections.abc import Sequence

from roo_tui.domain.blocks import plain_text_of, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, Checkpoint, Entry, TodosChanged, UserMessage
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Condense
from roo_tui.domain.views import RewindPoint
from roo_tui.plain_text import one_line

_TITLE_LENGTH = 100
# Entries that belong to the step of the result before them.
_OF_A_STEP = (Checkpoint, TodosChanged)


def rewind_points(path: Sequence[Entry]) -> tuple[RewindPoint, ...]:
    """Return a path's rewind points, oldest first: before each typed message, after each tool step and condense.

    A tool step ends with the last result of an answer's calls and the checkpoint after it; its point has the id of
    that result's entry. A point's `tree` is the newest checkpoint up to it, empty if there is none yet. Takes about
    3 ms for 1,000 entries, so call it in a thread for long paths.
    """
    points: list[RewindPoint] = []
    tree = ""
    waiting: list[str] = []
    answered = False
    step: int | None = None
    for entry in path:
        body = entry.body
        if isinstance(body, Checkpoint):
            tree = body.tree
            if step is not None:
                points[step] = _with_tree(points[step], tree)
        if isinstance(body, _OF_A_STEP):
            continue
        step = None
        if isinstance(body, AssistantMessage):
            if answered:
                waiting, answered = [], False
            waiting.extend(call.id for call in tool_uses(body.blocks))
        elif isinstance(body, Condense):
            points.append(RewindPoint(entry.id, "condense", "Context condensed", entry.at_ms, tree))
        elif isinstance(body, UserMessage):
            answered = True
            results = tool_results(body.blocks)
            waiting = [call_id for call_id in waiting if call_id not in {result.tool_use_id for result in results}]
            if results and not waiting:
                step = len(points)
                points.append(RewindPoint(entry.id, "tool", _step_title(body), entry.at_ms, tree))
            elif not results and (message := _typed(body)):
                title = one_line(message, _TITLE_LENGTH)
                points.append(RewindPoint(entry.id, "user", title, entry.at_ms, tree, message))
    return tuple(points)


def target_head(path: Sequence[Entry], entry_id: EntryId) -> EntryId | None:
    """Return the head after a rewind to this point; None is before the first entry.

    For a typed message it is the entry before it; for a tool step, the last checkpoint or todo list right after it;
    for a condense, its own entry.

    Raises:
        CommandRefused: the path has no such point.
    """
    kind = next((point.kind for point in rewind_points(path) if point.entry_id == entry_id), None)
    if kind is None:
        raise CommandRefused(f"{entry_ref(entry_id)} is not a rewind point. Choose one from the list.")
    at = next(index for index, entry in enumerate(path) if entry.id == entry_id)
    if kind == "user":
        return path[at].parent_id
    if kind == "tool":
        while at + 1 < len(path) and isinstance(path[at + 1].body, _OF_A_STEP):
            at += 1
    return path[at].id


def _with_tree(point: RewindPoint, tree: str) -> RewindPoint:
    return RewindPoint(point.entry_id, point.kind, point.title, point.at_ms, tree, point.words)


def _typed(body: UserMessage) -> str:
    if body.source == "engine":
        return ""
    return body.words or plain_text_of(body.blocks)


def _step_title(body: UserMessage) -> str:
    named = (f"{call.tool} {call.facts.path or call.facts.query}".strip() for call in body.calls)
    return one_line(", ".join(named) or "tool step", _TITLE_LENGTH)
