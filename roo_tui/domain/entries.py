"""Entries: a task is one append-only log of them.

Each entry has an id, a parent and a body that is never edited or deleted. The path from the root to the task's head
defines the task's state; entries off the path are abandoned, not lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from roo_tui.domain.blocks import Block
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Toggle, Truncation
from roo_tui.domain.tagged import TaggedBy
from roo_tui.domain.usage import Usage
from roo_tui.domain.views import Todos, ToolView


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What one tool call did, as reported by the tool or an importer's name table, never guessed from its text.

    `lines` is the first and last line read (1-based, inclusive), None for the whole file. `full_content` means that
    the result holds the whole content, uncut. `changed` lists the paths it wrote, relative to the workspace. `digest`
    is the SHA-256 of the file's bytes after the call, empty if unknown.
    """

    kind: Literal["read", "write", "edit", "list", "search", "command", "todo", "question", "finish", "other"] = "other"
    path: str = ""
    lines: tuple[int, int] | None = None
    full_content: bool = False
    query: str = ""
    changed: tuple[str, ...] = ()
    exit_code: int | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """Facts about one finished call beyond the text that the model gets.

    `output_blob` is the hash of the whole output if the result holds only a part of it. `synthetic` marks a result
    that the program wrote instead of the tool (crash, cancel, import). `decision` says how the call was approved,
    `detail` gives the outcome in a short phrase.
    """

    call_id: str
    tool: str
    facts: CallFacts = field(default_factory=CallFacts)
    view: ToolView | None = None
    output_blob: str = ""
    duration_s: float = 0.0
    decision: Literal["allowed", "auto", "denied", "none"] = "none"
    synthetic: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Blocks sent in the user role: a typed message, tool results, or both in an imported log.

    `words` is exactly what the user typed; a rewind puts it back into the prompt. The blocks also hold command texts
    and environment details. `calls` describes the tool results among the blocks.
    """

    blocks: tuple[Block, ...]
    words: str = ""
    source: Literal["typed", "tools", "engine", "import"] = "typed"
    calls: tuple[CallRecord, ...] = ()
    kind: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One answer from a model.

    `unsent` holds blocks that are shown but never sent back (a partial call, unsigned thinking). `usage` is None if the
    provider reported none (a broken stream); its `context_tokens` say how full the context window is.
    """

    blocks: tuple[Block, ...]
    unsent: tuple[Block, ...] = ()
    provider: str = ""
    model: str = ""
    usage: Usage | None = None
    cost_usd: float | None = None
    stop_reason: str = ""
    interrupted: bool = False
    kind: Literal["assistant"] = "assistant"


@dataclass(frozen=True, slots=True)
class CallStarted:
    """Marks a tool call as started. It is committed before the call runs, so that no call runs twice."""

    call_id: str
    kind: Literal["call_started"] = "call_started"


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of the user (or a policy) to a question; `decision` is the option's id or the chosen text."""

    question_id: str
    decision: str
    text: str = ""
    call_id: str = ""
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of the workspace's files. `tree` is a git tree hash; `files` changed since the last checkpoint."""

    tree: str
    commit: str
    files: tuple[str, ...] = ()
    kind: Literal["checkpoint"] = "checkpoint"


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """The todo list from this entry on: (text, state) pairs."""

    items: Todos
    kind: Literal["todos"] = "todos"


@dataclass(frozen=True, slots=True)
class Pinned:
    """Pins or unpins an entry. Every summary keeps a pinned entry's text word for word."""

    entry_id: EntryId
    on: bool = True
    kind: Literal["pinned"] = "pinned"


@dataclass(frozen=True, slots=True)
class Noted:
    """A notice kept in the log so that the user can read it later: a failed request, a recovery, a remark."""

    level: Literal["info", "warning", "error"]
    title: str
    detail: str = ""
    kind: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A body written by a newer version. It is kept and shown as unknown, but never sent."""

    payload: Mapping[str, object]
    kind: Literal["unknown"] = "unknown"


Body = Annotated[
    UserMessage
    | AssistantMessage
    | CallStarted
    | Answered
    | Condense
    | CondenseFailed
    | Truncation
    | Mask
    | Toggle
    | Checkpoint
    | TodosChanged
    | Pinned
    | Noted
    | Unknown,
    TaggedBy("kind"),
]


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact of a task. `at_ms` is milliseconds since 1970; `parent_id` is None only for the root."""

    id: EntryId
    parent_id: EntryId | None
    at_ms: int
    body: Body


@dataclass(frozen=True, slots=True)
class HeadMove:
    """One move of the head: a rewind, its undo, or a redo.

    `files_before` and `files_after` are the workspace's git trees before and after the move, empty if it left the files
    alone.
    """

    id: int
    from_id: EntryId | None
    to_id: EntryId | None
    at_ms: int
    reason: Literal["rewind", "undo", "redo"] = "rewind"
    files_before: str = ""
    files_after: str = ""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task as the task list shows it. `cost_usd` leaves out costs that are unknown."""

    id: str
    title: str
    workspace: str
    created_ms: int
    updated_ms: int
    entries: int = 0
    cost_usd: float = 0.0
    parent_task_id: str = ""
    parent_call_id: str = ""


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message typed while the agent works. Queued messages are sent once each, in order."""

    id: int
    words: str


@dataclass(frozen=True, slots=True)
class StoredReduction:
    """One condense, truncation, mask or failed condense of any task, for `roo-tui stats`."""

    task_id: str
    entry_id: EntryId
    at_ms: int
    body: Condense | Truncation | Mask | CondenseFailed
    undone: bool = False
