"""Full-text search over the entries of all tasks, with an index that is filled in batches in the background.

An entry is found by its text and by words for what it did ("edited", "failed", "request"), so that a query need not
guess the exact text. The index lags behind by at most one batch and is brought up to date before each search.
"""

import asyncio
import logging
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse, result_text, tool_results
from roo_tui.domain.entries import AssistantMessage, Body, CallRecord, Noted, TodosChanged, UserMessage
from roo_tui.domain.errors import StoreError
from roo_tui.domain.ids import EntryId, TaskId
from roo_tui.domain.markers import Condense
from roo_tui.plain_text import well_formed
from roo_tui.store.codec import decode
from roo_tui.store.database import Database

logger = logging.getLogger(__name__)

BATCH = 50
# Other writes wait while a batch is indexed.
_BATCH_CHARACTERS = 400_000
_MOST_CHARACTERS = 200_000
_MOST_TERMS = 40
_TERM = re.compile(r'"([^"]+)"|(\w+)')
_ADDED = ("<environment_details>", "<system-reminder>")
# A recall's result repeats other entries and would be found in their place.
_NOT_INDEXED = frozenset({"recall_history"})

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

        Words match by their stem and as prefixes; a "quoted phrase" matches exactly. A query without words finds
        nothing.
        """
        match = _match(query)
        if not match:
            return []
        await self.catch_up(task_id)

        def work(connection: sqlite3.Connection) -> list[SearchHit]:
            rows = connection.execute(
                "SELECT task_id, entry_id FROM search_words JOIN search_entries ON document = search_words.rowid"
                " WHERE search_words MATCH ?1 AND (?2 IS NULL OR task_id = ?2)"
                " ORDER BY bm25(search_words, 1.0, 2.0), document DESC LIMIT ?3",
                (match, task_id, limit),
            )
            return [SearchHit(*row) for row in rows]

        return await self._database.run(work)

    async def _fill(self) -> None:
        try:
            await self.catch_up()
        except StoreError:
            logger.warning("the search index could not be updated", exc_info=True)


def _match(query: str) -> str:
    terms = [phrase or word for phrase, word in _TERM.findall(well_formed(query))]
    wanted = (f'"{term}"' if " " in term else f'"{term}"*' for term in terms[:_MOST_TERMS] if term.strip())
    return " OR ".join(dict.fromkeys(wanted))


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
        words, facts = _document(decode(text, version))
        if words or facts:
            cursor = connection.execute(
                "INSERT INTO search_entries (task_id, entry_id) VALUES (?, ?)", (task, entry_id)
            )
            connection.execute(
                "INSERT INTO search_words (rowid, words, facts) VALUES (?, ?, ?)", (cursor.lastrowid, words, facts)
            )
        taken, characters = taken + 1, characters + len(words)
        if characters > _BATCH_CHARACTERS:
            break
    connection.execute("INSERT OR REPLACE INTO search_progress VALUES (?, ?)", (task, rows[taken - 1][0]))
    return taken


def _document(body: Body) -> tuple[str, str]:
    """Return the text of an entry, and words for what it is and did."""
    match body:
        case UserMessage():
            records = {record.call_id: record for record in body.calls}
            every = tool_results(body.blocks)
            results = [result for result in every if not _is_recall(records.get(result.tool_use_id))]
            others = [block for block in body.blocks if not isinstance(block, ToolResult)]
            facts = [word for result in results for word in _facts(records.get(result.tool_use_id), result)]
            if not every and body.source != "engine":
                facts.append("user person message request asked said instruction")
            return _joined(_texts([*others, *results])), " ".join(facts)
        case AssistantMessage():
            blocks = [block for block in body.blocks if not (isinstance(block, ToolUse) and block.name in _NOT_INDEXED)]
            return _joined(_texts(blocks)), "agent assistant answer"
        case Condense():
            return _joined(_texts(body.summary[:1])), "summary condensed"
        case TodosChanged():
            return _joined(text for text, _ in body.items), _KIND_WORDS["todo"]
        case Noted():
            return _joined((body.title, body.detail)), "remark problem"
        case _:
            return "", ""


def _facts(record: CallRecord | None, result: ToolResult) -> Iterator[str]:
    if record is None:
        return
    facts = record.facts
    yield from (record.tool, _KIND_WORDS.get(facts.kind, ""), facts.path, facts.query, *facts.changed)
    if facts.changed and facts.kind not in ("write", "edit"):
        yield _KIND_WORDS["edit"]
    if result.is_error or facts.exit_code:
        yield "failed failing failure error broken problem"


def _is_recall(record: CallRecord | None) -> bool:
    return record is not None and record.tool in _NOT_INDEXED


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Text(text=text):
                if not text.lstrip().startswith(_ADDED):
                    yield text
            case ToolUse():
                yield block.name
                yield from _strings(block.input)
            case ToolResult():
                yield result_text(block)
            case _:
                pass


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _joined(texts: Iterable[str]) -> str:
    text = "\n".join(texts)
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[: _MOST_CHARACTERS // 2]}\n{text[-_MOST_CHARACTERS // 2 :]}"
    return well_formed(text)
