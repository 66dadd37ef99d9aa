"""Full-text search over the entries of all tasks, with an index that is filled in batches in the background.

An entry is indexed in passages, so that a long one is found by what one part of it says. A passage is found by its text
and by words for what it is or did ("edited", "failed", "request"), so that a query need not guess the exact text. The
index lags behind by at most one batch and is brought up to date before each search.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from roo_tui.domain.blocks import Text, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import AssistantMessage, Body, CallRecord, Noted, TodosChanged, UserMessage
from roo_tui.domain.errors import StoreError
from roo_tui.domain.ids import EntryId, TaskId
from roo_tui.domain.markers import Condense
from roo_tui.plain_text import well_formed
from roo_tui.search_terms import asks_for_newest, query_terms, searchable
from roo_tui.store.codec import decode
from roo_tui.store.database import Database

logger = logging.getLogger(__name__)

BATCH = 50
# Other writes wait while a batch is indexed.
_BATCH_CHARACTERS = 400_000
_MOST_CHARACTERS = 200_000
_PASSAGE = 1_200
# A long entry can have many passages among the best.
_PASSAGES_PER_ENTRY = 6
# With "the last" in a query, what scores nearly as well as the best counts as equally good.
_EQUALLY_GOOD = 0.8
_SHORTEST_BEGINNING = 3
# What someone wrote says more than files and outputs that contain the same words.
_PROSE = 1.5
# A passage with all words of the query says more than one that repeats some of them.
_COMPLETE = 1.4
_ADDED = ("<environment_details>", "<system-reminder>")
# A recall's result repeats other entries and would be found in their place.
_NOT_INDEXED = frozenset({"recall_history"})

_USER_WORDS = "user person message request asked said instruction"
_KIND_WORDS = {
    "read": "read file opened looked",
    "write": "wrote written created edited changed file",
    "edit": "edited changed modified patched file",
    "list": "listed folder files",
    "search": "searched found",
    "command": "command ran run shell terminal output",
    "todo": "todo plan list items steps pending open tasks",
    "question": "question asked",
    "finish": "finished completed result",
}


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An entry that matches a query."""

    task_id: TaskId
    entry_id: EntryId


class Search:
    """The search index of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._new = 0
        self._filling: asyncio.Task[None] | None = None

    def grown(self, entries: int) -> None:
        """Note that entries were committed; once there is a batch, index it in the background."""
        self._new += entries
        if self._new >= BATCH and (self._filling is None or self._filling.done()):
            self._new = 0
            self._filling = asyncio.create_task(self._fill())

    async def close(self) -> None:
        """Stop filling the index; the next search indexes the rest."""
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.gather(self._filling, return_exceptions=True)

    async def catch_up(self, task_id: TaskId | None = None) -> None:
        """Index every entry of a task (of all tasks if None), one batch per transaction."""
        while await self._database.write(lambda connection: _index_batch(connection, task_id)):
            pass

    async def find(self, query: str, *, task_id: TaskId | None = None, limit: int = 50) -> list[SearchHit]:
        """Return the entries of a task (of all tasks if None) that contain words of the query, best first.

        Words match by their stem, and as the beginning of a word if they occur nowhere as a whole; a "quoted phrase"
        matches exactly. Of equally good entries the newer comes first. A query without words finds nothing.
        """
        terms = query_terms(well_formed(query))
        if not terms:
            return []
        await self.catch_up(task_id)
        return await self._database.run(
            lambda connection: _hits(connection, terms, task_id, limit, newest=asks_for_newest(query))
        )

    async def _fill(self) -> None:
        try:
            await self.catch_up()
        except StoreError:
            logger.warning("the search index could not be updated", exc_info=True)


def _hits(
    connection: sqlite3.Connection, terms: list[str], task_id: TaskId | None, limit: int, *, newest: bool
) -> list[SearchHit]:
    known = [_known(connection, term, task_id) for term in terms]
    match = " OR ".join(known)
    complete = _complete(connection, known, task_id)
    rows = connection.execute(
        "SELECT task_id, entry_id, score * weight, found FROM"
        " (SELECT rowid AS found, bm25(search_words, 1.0, 1.0, 0.0) AS score FROM search_words"
        " WHERE search_words MATCH ? ORDER BY score, rowid DESC LIMIT ?)"
        " JOIN search_passages ON document = found ORDER BY document DESC",
        (_within(match, task_id), limit * _PASSAGES_PER_ENTRY),
    ).fetchall()
    scores: dict[SearchHit, float] = {}
    for task, entry_id, score, document in rows:
        hit, score = SearchHit(task, entry_id), -score * (_COMPLETE if document in complete else 1.0)
        scores[hit] = max(score, scores.get(hit, score))
    hits = sorted(scores, key=lambda hit: -scores[hit])
    if newest and hits:
        least = scores[hits[0]] * _EQUALLY_GOOD
        best = [hit for hit in hits if scores[hit] >= least]
        hits = [*sorted(best, key=lambda hit: -hit.entry_id), *hits[len(best) :]]
    return hits[:limit]


def _complete(connection: sqlite3.Connection, known: list[str], task_id: TaskId | None) -> set[int]:
    """Return the passages that have all words of a query; a query of one word has none."""
    if len(known) < 2:
        return set()
    rows = connection.execute(
        "SELECT rowid FROM search_words WHERE search_words MATCH ?", (_within(" AND ".join(known), task_id),)
    )
    return {document for (document,) in rows}


def _known(connection: sqlite3.Connection, term: str, task_id: TaskId | None) -> str:
    """Return what matches a term: its whole words, or words that begin with it if there are none."""
    whole = f'"{term}"'
    if " " in term or (term.isascii() and len(term) < _SHORTEST_BEGINNING):
        return whole
    found = connection.execute(
        "SELECT 1 FROM search_words WHERE search_words MATCH ? LIMIT 1", (_within(whole, task_id),)
    ).fetchone()
    return whole if found else f"{whole}*"


def _within(match: str, task_id: TaskId | None) -> str:
    within = f"{{words facts}} : ({match})"
    return within if task_id is None else f'task : "{task_id}" AND {within}'


def _index_batch(connection: sqlite3.Connection, task_id: TaskId | None) -> int:
    """Index the next entries of one task with entries to index; return how many."""
    behind = connection.execute(
        "SELECT tasks.id, coalesce(newest, 0) FROM tasks LEFT JOIN search_progress ON task_id = tasks.id"
        " WHERE tasks.entries > coalesce(newest, 0) AND (?1 IS NULL OR tasks.id = ?1) LIMIT 1",
        (task_id,),
    ).fetchone()
    if behind is None:
        return 0
    task, newest = behind
    rows = connection.execute(
        "SELECT id, body, version FROM entries WHERE task_id = ? AND id > ? ORDER BY id LIMIT ?", (task, newest, BATCH)
    ).fetchall()
    taken = characters = 0
    for entry_id, text, version in rows:
        for words, facts, weight in _passages(decode(text, version)):
            cursor = connection.execute(
                "INSERT INTO search_passages (task_id, entry_id, weight) VALUES (?, ?, ?)", (task, entry_id, weight)
            )
            connection.execute(
                "INSERT INTO search_words (rowid, words, facts, task) VALUES (?, ?, ?, ?)",
                (cursor.lastrowid, searchable(words), searchable(facts), task),
            )
            characters += len(words)
        taken += 1
        if characters > _BATCH_CHARACTERS:
            break
    connection.execute("INSERT OR REPLACE INTO search_progress VALUES (?, ?)", (task, rows[taken - 1][0]))
    return taken


def _passages(body: Body) -> Iterator[tuple[str, str, float]]:
    """Yield the passages of an entry: the text of each, words for what the entry is and did, and a weight."""
    for text, facts, weight in _texts(body):
        for passage in list(_split(_shortened(text))) or [""] * bool(facts):
            yield passage, facts, weight


def _texts(body: Body) -> Iterator[tuple[str, str, float]]:
    """Yield each text of an entry, with words for what it is and did, and its weight."""
    match body:
        case UserMessage():
            records = {record.call_id: record for record in body.calls}
            for block in body.blocks:
                if isinstance(block, ToolResult):
                    record = records.get(block.tool_use_id)
                    if record is None or record.tool not in _NOT_INDEXED:
                        weight = _PROSE if _is_users(record) else 1.0
                        yield result_text(block), " ".join(_facts(record, block)), weight
                elif isinstance(block, Text) and not block.text.lstrip().startswith(_ADDED):
                    yield block.text, _USER_WORDS if body.source in ("typed", "import") else "", _PROSE
        case AssistantMessage():
            for block in body.blocks:
                if isinstance(block, Text):
                    yield block.text, "agent assistant answer", _PROSE
                elif isinstance(block, ToolUse) and block.name not in _NOT_INDEXED:
                    yield "\n".join(_strings(block.input)), f"agent assistant {block.name}", 1.0
        case Condense():
            for block in body.summary[:1]:
                if isinstance(block, Text):
                    yield block.text, "summary condensed", 1.0
        case TodosChanged():
            yield "\n".join(text for text, _ in body.items), _KIND_WORDS["todo"], 1.0
        case Noted():
            yield f"{body.title}\n{body.detail}", "remark problem", 1.0
        case _:
            pass


def _facts(record: CallRecord | None, result: ToolResult) -> Iterator[str]:
    if record is None:
        return
    facts = record.facts
    yield from (record.tool, _KIND_WORDS.get(facts.kind, ""), facts.path, facts.query, *facts.changed)
    if facts.changed and facts.kind not in ("write", "edit"):
        yield _KIND_WORDS["edit"]
    if result.is_error or facts.exit_code:
        yield "failed failing failure error broken problem"
    if record.decision == "denied":
        yield "denied rejected"
    if _is_users(record):
        yield _USER_WORDS


def _is_users(record: CallRecord | None) -> bool:
    """Return whether a result holds the user's words: the reason for a denial, or the answer to a question."""
    return record is not None and (record.decision == "denied" or record.facts.kind == "question")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _shortened(text: str) -> str:
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[: _MOST_CHARACTERS // 2]}\n{text[-_MOST_CHARACTERS // 2 :]}"
    return well_formed(text)


def _split(text: str) -> Iterator[str]:
    """Yield the text in passages that end with a line, or with a word if the line is long."""
    start = 0
    while len(text) - start > _PASSAGE:
        end = start + _PASSAGE
        cut = max(text.rfind("\n", start + _PASSAGE // 2, end), text.rfind(" ", end - _PASSAGE // 10, end))
        end = cut + 1 if cut > start else end
        yield text[start:end]
        start = end
    if text[start:].strip():
        yield text[start:]
