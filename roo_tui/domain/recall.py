"""What the model asks for when it recalls hidden entries."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from roo_tui.domain.ids import EntryId

RecallKind = Literal["message", "answer", "read", "edit", "command", "search", "failure", "todo", "summary"]


@dataclass(frozen=True, slots=True)
class Recall:
    """Queries of which any may match, or entries with the character to start from; filters narrow down the queries.

    Without a query, all entries that pass the filters are meant. `before` and `after` are an entry or a moment.
    """

    queries: tuple[str, ...] = ()
    entries: tuple[tuple[EntryId, int], ...] = ()
    kind: RecallKind | None = None
    before: EntryId | datetime | None = None
    after: EntryId | datetime | None = None
