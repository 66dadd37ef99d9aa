"""Recall: bring back hidden content of the path, by a query or by entry id. The caller provides the text search."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence

from roo_tui.context.history.effective import active_markers, effective_history, hidden_ids
from roo_tui.context.history.pins import pinned_text
from roo_tui.domain.blocks import Text, tool_uses
from roo_tui.domain.entries import AssistantMessage, CallRecord, Entry, TodosChanged, UserMessage
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Condense, Mask
from roo_tui.domain.views import FoundEntry
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render

Find = Callable[[str], Awaitable[Sequence[EntryId]]]
"""Returns the ids of this task's entries, on any branch, that match a query, best first."""

# Placeholders name parts of an entry (`e12.1.content`), but recall returns the whole entry.
_ID = re.compile(r"e(\d+)(?:\.\d+(?:\.[\w./~-]+)?)?(?::(\d+))?", re.IGNORECASE)
_IDS = re.compile(rf"\s*(?:{_ID.pattern}[\s,;]*)+", re.IGNORECASE)
# A query such as "the last failing command" wants the newest of the best hits.
_RECENCY = frozenset({"last", "latest", "newest", "recent", "recently"})
_RECENCY_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_RECENCY))})\b", re.IGNORECASE)
_BEST = 20
_WHOLE = 30_000
_SHOWN, _LISTED = 6, 25
_EXCERPT = 1_500
_BEFORE = 300
_TITLE = 160
_LINE = 400


async def recall_hidden(query: str, path: Sequence[Entry], find: Find) -> str:
    """Return what the model gets for a query or for ids (`e12`, `e12 e15`, or `e12:30000` to start at a character)."""
    if _IDS.fullmatch(query):
        wanted = [(int(number), int(start or 0)) for number, start in _ID.findall(query)]
        return await asyncio.to_thread(by_ids, wanted, path)
    terms = [term.casefold() for term in re.findall(r"\w+", query)]
    newest_first = not _RECENCY.isdisjoint(terms)
    found = await find(_RECENCY_WORD.sub(" ", query) if newest_first else query)
    return await asyncio.to_thread(_by_terms, terms, path, found, newest_first)


def _by_terms(terms: Sequence[str], path: Sequence[Entry], found: Sequence[EntryId], newest_first: bool) -> str:
    hidden = recallable(path)
    if not hidden:
        return render("tools/recall_history/nothing_hidden")
    hits = [hidden[entry_id] for entry_id in found if entry_id in hidden]
    if not hits:
        newest = sorted(hidden.values(), key=lambda entry: -entry.id)[:_LISTED]
        return render("tools/recall_history/nothing_found", entries=_listed(newest))
    if newest_first:
        hits = sorted(hits[:_BEST], key=lambda entry: -entry.id)
    parts = [_shown(entry, excerpt(entry_text(entry), terms)) for entry in hits[:_SHOWN]]
    if rest := hits[_SHOWN : _SHOWN + _LISTED]:
        parts.append(render("tools/recall_history/more", entries=_listed(rest)))
    return "\n\n".join(parts)


def by_ids(wanted: Sequence[tuple[EntryId, int]], path: Sequence[Entry]) -> str:
    """Return the wanted entries, (id, first character) pairs, word for word. A cut one says how to read on."""
    entries = {entry.id: entry for entry in path}
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
        parts.append(_shown(entries[entry_id], content))
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
    terms = [term.casefold() for term in re.findall(r"\w+", query)]
    return tuple(
        FoundEntry(
            task_id,
            entry_id,
            title(known[entry_id]),
            one_line(excerpt(entry_text(known[entry_id]), terms, _LINE), _LINE),
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


def excerpt(text: str, terms: Sequence[str], most: int = _EXCERPT) -> str:
    """Return the stretch of at most `most` characters with the most terms, or the whole text if it is short."""
    if len(text) <= most:
        return text
    plain = text.casefold()
    places = sorted({at for term in terms if (at := plain.find(term[: max(4, len(term) - 3)])) >= 0})
    if len(plain) != len(text) or not places:
        return text[:most] + " […]"
    room = most - _BEFORE
    best = max(places, key=lambda start: sum(start <= place < start + room for place in places))
    start = max(0, best - _BEFORE)
    end = start + most
    return ("[…] " if start else "") + text[start:end] + (" […]" if end < len(text) else "")


def _shown(entry: Entry, content: str) -> str:
    return render("tools/recall_history/entry", ref=entry_ref(entry.id), what=title(entry, _LINE), content=content)


def _listed(entries: Sequence[Entry]) -> str:
    return "\n".join(
        f"- {entry_ref(entry.id)}: {title(entry)}: {one_line(entry_text(entry), _TITLE)}" for entry in entries
    )
