"""Entries: what a task is made of. A task is one append-only log of them.

Each entry has an id, a parent and a body that is never edited or deleted. What is so is what the path from the
root to the task's head says; entries off the path are abandoned, not lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from roo_tui.domain.blocks import Block
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Toggle, Truncation
from roo_tui.domain.tagged import TaggedBy
from roo_tui.domain.usage import Usage
from roo_tui.domain.views import Todos, ToolView


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What one tool call did, told by the tool or by an importer's name table, never guessed from its words.

    `lines` is the first and last line read (1-based, inclusive), None for the whole file. `full_content` says
    that the result holds the content itself, uncut. `changed` are the paths it wrote, relative to the workspace.
    `digest` is the SHA-256 of the file's bytes as the call read or left it, empty where that is not known.
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
    """What is known of one finished call beside the text the model gets.

    `output_blob` is the hash of the whole output where the result shows it cut. `synthetic` marks results the
    program wrote in a tool's place (crash, cancel, import). `decision` is how it came to run, `detail` one short phrase
    of outcome.
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
    """Blocks sent in the user's role: typed words, tool results, or both in an imported log.

    `words` is exactly what the person typed (it returns to the prompt after a rewind); the blocks also hold command
    texts and environment details. `calls` describes the tool results among the blocks.
    """

    blocks: tuple[Block, ...]
    words: str = ""
    source: Literal["typed", "tools", "engine", "import"] = "typed"
    calls: tuple[CallRecord, ...] = ()
    kind: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One answer of a model.

    `unsent` is what was received but may not be sent again (half a call, unsigned thinking); it is shown.
    `usage` is None where the provider reported none (a cut stream). `context_tokens` of the usage count the window.
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
    """A tool call was about to run. Committed before it runs, so that it never runs twice."""

    call_id: str
    kind: Literal["call_started"] = "call_started"


@dataclass(frozen=True, slots=True)
class Answered:
    """A person (or a policy) answered a question; `decision` is the answer's name or the chosen text."""

    question_id: str
    decision: str
    text: str = ""
    call_id: str = ""
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The workspace's files had this state. `tree` is a git tree hash; `files` changed since the one before."""

    tree: str
    commit: str
    files: tuple[str, ...] = ()
    kind: Literal["checkpoint"] = "checkpoint"


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """The todo list as it is from here on: (text, state) pairs."""

    items: Todos
    kind: Literal["todos"] = "todos"


@dataclass(frozen=True, slots=True)
class Pinned:
    """An entry is pinned (or no longer pinned): its text stays in every summary, word for word."""

    entry_id: EntryId
    on: bool = True
    kind: Literal["pinned"] = "pinned"


@dataclass(frozen=True, slots=True)
class Noted:
    """Something a person should be able to read again later: a failed request, a recovery, a remark."""

    level: Literal["info", "warning", "error"]
    title: str
    detail: str = ""
    kind: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A body written by a newer version; kept, shown as such, never sent."""

    payload: Mapping[str, Any]
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
    """The head was moved: a rewind, its undo, or a redo. `files_before` is the tree the workspace had before it."""

    id: int
    from_id: EntryId | None
    to_id: EntryId | None
    at_ms: int
    reason: Literal["rewind", "undo", "redo"] = "rewind"
    files_before: str = ""
    files_after: str = ""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task as the list of tasks shows it. Costs are US dollars; unknown parts are left out of the sum."""

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
    """A message typed while the agent worked; sent once, in order, when its turn comes."""

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
