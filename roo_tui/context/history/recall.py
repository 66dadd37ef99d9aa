"""Recall: bring back hidden content of the path, by queries or by entry id. The caller provides the text search."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from roo_tui.context.history.as_text import tool_use_text
from roo_tui.context.history.effective import active_markers, effective_history, hidden_ids
from roo_tui.context.history.excerpts import Pattern, excerpt, patterns, snippet
from roo_tui.context.history.log_facts import typed_messages
from roo_tui.context.history.pins import pinned_text
from roo_tui.domain.blocks import Text, plain_text_of, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, CallRecord, Entry, TodosChanged, UserMessage
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Condense, Mask
from roo_tui.domain.recall import Recall, RecallKind
from roo_tui.domain.views import FoundEntry
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render

Find = Callable[[str], Awaitable[Sequence[EntryId]]]
"""Returns the ids of this task's entries, on any branch, that match a query, best first."""

# The constant of reciprocal rank fusion: the smaller, the more a first place counts.
_FUSION = 20
_WHOLE = 30_000
_SHOWN, _LISTED = 6, 25
_EXCERPT = 1_500
_PARTNER = 400
_ANSWER = 800
_TITLE = 160
_LINE = 400


async def recall_hidden(wanted: Recall, path: Sequence[Entry], find: Find) -> str:
    """Return what the model gets for its queries or for entries that it names."""
    if wanted.entries:
        return await asyncio.to_thread(by_ids, wanted.entries, path)
    rankings = [await find(query) for query in wanted.queries]
    return await asyncio.to_thread(_by_queries, wanted, path, rankings)


def _by_queries(wanted: Recall, path: Sequence[Entry], rankings: Sequence[Sequence[EntryId]]) -> str:
    hidden = recallable(path)
    if not hidden:
        return render("tools/recall_history/nothing_hidden")
    steps = _Steps(path)
    able = {entry_id: entry for entry_id, entry in hidden.items() if steps.passes(entry, wanted)}
    newest = sorted(able, reverse=True)
    hits = _fused([[entry_id for entry_id in ranking if entry_id in able] for ranking in rankings or [newest]], steps)
    looked_for = patterns(wanted.queries)
    if not hits:
        listed = [able[entry_id] for entry_id in newest[:_LISTED]]
        return render("tools/recall_history/nothing_found", entries=_listed(listed, looked_for) or "-")
    parts = []
    for entry_id in hits[:_SHOWN]:
        content = excerpt(entry_text(hidden[entry_id]), looked_for, _EXCERPT)
        calls = [_call(ref, snippet(text, looked_for, _PARTNER)) for ref, text in steps.call_texts(entry_id)]
        results = [_result(result, looked_for) for result in steps.results(entry_id)]
        if (answer := steps.answer(entry_id)) is not None:
            results.append(_answer(answer, looked_for))
        parts.append(_shown(hidden[entry_id], content, calls, results))
    if rest := [hidden[entry_id] for entry_id in hits[_SHOWN : _SHOWN + _LISTED]]:
        parts.append(render("tools/recall_history/more", entries=_listed(rest, looked_for)))
    return "\n\n".join(parts)


def _fused(rankings: Sequence[Sequence[EntryId]], steps: "_Steps") -> list[EntryId]:
    """Return the hits of all rankings, best first, by reciprocal rank fusion; a call and its result take one place.

    Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", 2009.
    """
    best: dict[EntryId, int] = {}
    for ranking in rankings:
        for place, entry_id in enumerate(ranking):
            best[entry_id] = min(place, best.get(entry_id, place))
    scores: dict[EntryId, float] = {}
    shown: dict[EntryId, EntryId] = {}
    for ranking in rankings:
        units = list(dict.fromkeys(steps.unit(entry_id, best) for entry_id in ranking))
        for place, unit in enumerate(units):
            scores[unit] = scores.get(unit, 0.0) + 1 / (_FUSION + place)
    for entry_id in best:
        unit = steps.unit(entry_id, best)
        shown[unit] = min(entry_id, shown.get(unit, entry_id), key=lambda one: best[one])
    return [shown[unit] for unit in sorted(scores, key=lambda unit: (-scores[unit], -unit))]


class _Steps:
    """Which entries of a path belong together: calls and their results, messages and the answers to them."""

    def __init__(self, path: Sequence[Entry]) -> None:
        self._entries = {entry.id: entry for entry in path}
        self._callers: dict[str, Entry] = {}
        self._calls_of: dict[EntryId, list[Entry]] = {}
        self._results_of: dict[EntryId, list[Entry]] = {}
        self._answers: dict[EntryId, Entry] = {}
        asked: EntryId | None = None
        for entry in path:
            if isinstance(entry.body, AssistantMessage):
                self._callers.update({use.id: entry for use in tool_uses(entry.body.blocks)})
                if asked is not None and any(isinstance(block, Text) for block in entry.body.blocks):
                    self._answers[asked] = entry
            elif isinstance(entry.body, UserMessage):
                if typed_messages((entry,)):
                    asked = entry.id
                for result in tool_results(entry.body.blocks):
                    if (caller := self._callers.get(result.tool_use_id)) is not None:
                        _add(self._calls_of.setdefault(entry.id, []), caller)
                        _add(self._results_of.setdefault(caller.id, []), entry)

    def unit(self, entry_id: EntryId, places: Mapping[EntryId, int]) -> EntryId:
        """Return the entry that stands for a hit: for a call, the best placed of its results."""
        results = [entry.id for entry in self._results_of.get(entry_id, ()) if entry.id in places]
        return min(results, key=lambda result: places[result], default=entry_id)

    def call_texts(self, entry_id: EntryId) -> Iterator[tuple[EntryId, str]]:
        """Yield the entry and the text of each call whose result is in an entry."""
        body = self._entries[entry_id].body
        answered = {result.tool_use_id for result in tool_results(body.blocks)} if isinstance(body, UserMessage) else ()
        for caller in self._calls_of.get(entry_id, ()):
            if isinstance(caller.body, AssistantMessage):
                uses = [use for use in tool_uses(caller.body.blocks) if use.id in answered]
                yield caller.id, "\n".join(tool_use_text(use) for use in uses)

    def results(self, entry_id: EntryId) -> Sequence[Entry]:
        """Return the results of an entry's calls."""
        return self._results_of.get(entry_id, ())

    def answer(self, entry_id: EntryId) -> Entry | None:
        """Return the last answer to a message, None if there is none or the entry is not a message."""
        return self._answers.get(entry_id)

    def passes(self, entry: Entry, wanted: Recall) -> bool:
        """Return whether an entry is of the kind and from the time asked for; a call is of the kind of its result."""
        if wanted.after is not None and not _is_later(entry, wanted.after):
            return False
        if wanted.before is not None and not _is_earlier(entry, wanted.before):
            return False
        if wanted.kind is None or wanted.kind in _kinds(entry):
            return True
        return wanted.kind != "message" and any(wanted.kind in _kinds(result) for result in self.results(entry.id))


def _kinds(entry: Entry) -> Iterator[RecallKind]:
    match entry.body:
        case UserMessage(calls=calls, blocks=blocks):
            if typed_messages((entry,)):
                yield "message"
            failed = {result.tool_use_id for result in tool_results(blocks) if result.is_error}
            for call in calls:
                yield from _call_kinds(call, call.call_id in failed)
        case AssistantMessage(blocks=blocks) if any(isinstance(block, Text) for block in blocks):
            yield "answer"
        case TodosChanged():
            yield "todo"
        case Condense():
            yield "summary"
        case _:
            pass


def _call_kinds(call: CallRecord, is_error: bool) -> Iterator[RecallKind]:
    facts = call.facts
    if call.decision == "denied" or facts.kind == "question":
        yield "message"
    if facts.changed or facts.kind in ("write", "edit"):
        yield "edit"
    if facts.kind in ("read", "command", "todo"):
        yield facts.kind
    if facts.kind in ("list", "search"):
        yield "search"
    if is_error or facts.exit_code:
        yield "failure"


def _is_earlier(entry: Entry, than: EntryId | datetime) -> bool:
    return entry.id < than if isinstance(than, int) else entry.at_ms < than.timestamp() * 1000


def _is_later(entry: Entry, than: EntryId | datetime) -> bool:
    return entry.id > than if isinstance(than, int) else entry.at_ms >= than.timestamp() * 1000


def _add(entries: list[Entry], entry: Entry) -> None:
    if entry not in entries:
        entries.append(entry)


def by_ids(wanted: Sequence[tuple[EntryId, int]], path: Sequence[Entry]) -> str:
    """Return the wanted entries, (id, first character) pairs, word for word. A cut one says how to read on."""
    entries = {entry.id: entry for entry in path}
    steps = _Steps(path)
    named = {entry_id for entry_id, _ in wanted}
    most = _WHOLE // max(1, len(wanted))
    parts = []
    for entry_id, start in wanted:
        if entry_id not in entries:
            parts.append(render("tools/recall_history/unknown", ref=entry_ref(entry_id)))
            continue
        text = entry_text(entries[entry_id])
        content = text[start : start + most]
        if start + most < len(text):
            end = start + most
            rest = f"{entry_ref(entry_id)}:{end}"
            content += "\n" + render("tools/recall_history/rest", shown=f"{end:,}", total=f"{len(text):,}", next=rest)
        calls = [] if start else [call for call in steps.call_texts(entry_id) if call[0] not in named]
        parts.append(_shown(entries[entry_id], content, [_call(ref, excerpt(text, (), most)) for ref, text in calls]))
    return "\n\n".join(parts)


def recallable(path: Sequence[Entry]) -> dict[EntryId, Entry]:
    """Return the entries of the path that have text and that the model cannot see or sees masked, by id."""
    hidden = set(hidden_ids(path))
    for marker in active_markers(path).values():
        if isinstance(marker, Mask):
            hidden.update(item.entry_id for item in marker.items)
    newest = max((message.entry_id for message in effective_history(path)), default=0)
    # A todo list is not a message: the call that told the model an earlier one may be hidden.
    lists = {entry.id for entry in path if isinstance(entry.body, TodosChanged) and entry.id < newest}
    return {entry.id: entry for entry in path if entry.id in hidden | lists and entry_text(entry).strip()}


def found_entries(
    entries: Sequence[Entry], path: Sequence[Entry], ids: Sequence[EntryId], query: str, task_id: str
) -> tuple[FoundEntry, ...]:
    """Return the hits that the user's search shows, in the order of the ids."""
    known = {entry.id: entry for entry in entries}
    on_path = {entry.id for entry in path}
    visible = {message.entry_id for message in effective_history(path)}
    looked_for = patterns([query])
    return tuple(
        FoundEntry(
            task_id,
            entry_id,
            title(known[entry_id]),
            snippet(entry_text(known[entry_id]), looked_for, _LINE),
            entry_id in on_path,
            entry_id in visible,
        )
        for entry_id in ids
        if entry_id in known
    )


def entry_text(entry: Entry) -> str:
    """Return an entry's text as recall and search show it."""
    match entry.body:
        case Condense(summary=summary):
            return "\n\n".join(block.text for block in summary if isinstance(block, Text))
        case TodosChanged(items=items):
            return "\n".join(f"[{state}] {text}" for text, state in items)
        case _:
            return pinned_text(entry)


def title(entry: Entry, most: int = _TITLE) -> str:
    """Return a title of at most `most` characters: who wrote the entry, or what its calls were about."""
    match entry.body:
        case UserMessage(calls=calls) if calls:
            named = "; ".join(_call_title(call) for call in calls)
            return one_line(render("tools/recall_history/title_results", calls=named), _TITLE)
        case UserMessage():
            return render("tools/recall_history/title_user")
        case AssistantMessage(blocks=blocks) if names := ", ".join(use.name for use in tool_uses(blocks)):
            return one_line(render("tools/recall_history/title_calls", tools=names), most)
        case AssistantMessage():
            return render("tools/recall_history/title_agent")
        case Condense():
            return render("tools/recall_history/title_summary")
        case TodosChanged():
            return render("tools/recall_history/title_todos")
        case _:
            return render("tools/recall_history/title_other")


def _call_title(call: CallRecord) -> str:
    return f"{call.tool} {call.facts.path or call.facts.query or ', '.join(call.facts.changed)}".strip()


def _shown(entry: Entry, content: str, calls: Iterable[str] = (), results: Iterable[str] = ()) -> str:
    lines = "\n".join([*calls, content, *results])
    return render("tools/recall_history/entry", ref=entry_ref(entry.id), what=title(entry, _LINE), content=lines)


def _call(entry_id: EntryId, text: str) -> str:
    return render("tools/recall_history/call", ref=entry_ref(entry_id), content=text)


def _result(entry: Entry, wanted: Iterable[Pattern]) -> str:
    line = snippet(entry_text(entry), wanted, _PARTNER)
    return render("tools/recall_history/result", ref=entry_ref(entry.id), content=line)


def _answer(entry: Entry, wanted: Iterable[Pattern]) -> str:
    text = plain_text_of(entry.body.blocks) if isinstance(entry.body, AssistantMessage) else ""
    return render("tools/recall_history/answer", ref=entry_ref(entry.id), content=excerpt(text, wanted, _ANSWER))


def _listed(entries: Sequence[Entry], wanted: Iterable[Pattern]) -> str:
    return "\n".join(
        f"- {entry_ref(entry.id)}: {title(entry)}: {snippet(entry_text(entry), wanted, _TITLE)}" for entry in entries
    )
