"""Views: plain data for the screen. Tools and the engine fill them; each front end draws them in its own way.

`ToolView` is what a tool shows of one call and is stored with it. `Row` is one row of the transcript, computed from the
log. Text in views is unfiltered: a front end removes control characters and never reads it as markup.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.tagged import TaggedBy

TodoState = Literal["pending", "in_progress", "done"]
Todos = tuple[tuple[str, TodoState], ...]
"""A todo list: (text, state) pairs in order."""


@dataclass(frozen=True, slots=True)
class FileView:
    """Lines read from a file, starting at `first_line` (1-based)."""

    path: str
    text: str
    first_line: int = 1
    line_count: int = 0
    type: Literal["file"] = "file"


@dataclass(frozen=True, slots=True)
class DiffView:
    """A change to one file. `old` and `new` are whole texts; for huge files, only the text around the hunks."""

    path: str
    old: str
    new: str
    created: bool = False
    first_line: int = 1
    added: int = 0
    removed: int = 0
    type: Literal["diff"] = "diff"


@dataclass(frozen=True, slots=True)
class CommandView:
    """A command and its output; long output lacks its middle. `exit_code` is None while the command runs."""

    command: str
    output: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    type: Literal["command"] = "command"


@dataclass(frozen=True, slots=True)
class ListView:
    """Names or search hits, one per item. `total` includes those left out."""

    title: str
    items: tuple[str, ...] = ()
    total: int = 0
    type: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class TodoView:
    """A todo list as (text, state) pairs."""

    items: Todos = ()
    type: Literal["todos"] = "todos"


@dataclass(frozen=True, slots=True)
class TextView:
    """Any other content as text. With `markdown`, a front end may draw it as Markdown."""

    text: str
    markdown: bool = False
    type: Literal["text"] = "text"


ToolView = Annotated[FileView | DiffView | CommandView | ListView | TodoView | TextView, TaggedBy("type")]


@dataclass(frozen=True, slots=True)
class UserRow:
    """What the user typed. `extras` names what was attached (commands, files, environment details)."""

    words: str
    at_ms: int
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """Text from a model, as Markdown. `open` while it streams."""

    text: str
    open: bool = False
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class ThinkingRow:
    """A model's reasoning. `open` while it streams."""

    text: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool call. `title` is its target (a path, command or query); `detail` gives the outcome in a short phrase."""

    call_id: str
    tool: str
    title: str
    state: Literal["streaming", "waiting", "running", "done", "failed", "denied", "lost"]
    detail: str = ""
    view: ToolView | None = None
    decision: Literal["allowed", "auto", "denied", "none"] = "none"
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ReductionRow:
    """A reduction, such as `Context condensed`. An empty `title` is that of its kind.

    `summary` is Markdown (condense only), `analysis` its folded reasoning, `details` holds (label, value) pairs.
    `covered_by` is the entry of the later marker that must be undone first, None if there is none.
    """

    kind: Literal["condense", "truncation", "mask"]
    on: bool
    tokens_before: int
    tokens_after: int
    cost_usd: float | None
    trigger: str
    how: str
    hidden: int
    summary: str = ""
    analysis: str = ""
    receipt: tuple[str, ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    covered_by: EntryId | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class FailureRow:
    """`Condense failed` or another failure. `body` is the text that can be copied.

    `of_condense` says what trying again means: another condense instead of another request.
    """

    title: str
    message: str
    body: str = ""
    cost_usd: float | None = None
    level: Literal["info", "warning", "error"] = "error"
    of_condense: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A checkpoint, by the short form of its hash."""

    short_hash: str
    files: tuple[str, ...] = ()


RowBody = UserRow | AnswerRow | ThinkingRow | ToolRow | ReductionRow | FailureRow | CheckpointRow


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the transcript.

    `key` is stable over the life of the task (`e12`, or as `block_key` and `call_key` make it). `in_context` is false
    for what markers hide; such a row is dimmed but readable.
    """

    key: str
    entry_id: EntryId
    body: RowBody
    in_context: bool = True


def block_key(entry_id: EntryId, index: int) -> str:
    """Return the row key of a text or of thinking in an answer; `index` counts its `blocks`, then its `unsent`."""
    return f"{entry_ref(entry_id)}.{index}"


def call_key(call_id: str) -> str:
    """Return the row key of a tool call; its result is shown in the same row."""
    return f"call:{call_id}"


@dataclass(frozen=True, slots=True)
class ContextUse:
    """The figures of the context bar, in tokens.

    `trigger_tokens` is the smallest count at which a condense is due. If the threshold is `auto`, `threshold_note`
    explains it.
    """

    used: int = 0
    window: int = 0
    reserved: int = 0
    trigger_tokens: int = 0
    auto_condense: bool = True
    threshold_note: str = ""

    @property
    def available(self) -> int:
        """Return the tokens that are neither used nor reserved, at least 0."""
        return max(0, self.window - self.used - self.reserved)


@dataclass(frozen=True, slots=True)
class KindShare:
    """The tokens one kind of content has in the context window."""

    kind: str
    tokens: int


@dataclass(frozen=True, slots=True)
class EntryShare:
    """The tokens one visible entry has in the context window."""

    entry_id: EntryId
    role: str
    title: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextBreakdown:
    """What fills the context window: by kind, largest first, and by entry, in order."""

    tokens: int = 0
    by_kind: tuple[KindShare, ...] = ()
    by_entry: tuple[EntryShare, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """What the header and footer show of the open task."""

    task_id: str = ""
    title: str = ""
    workspace: str = ""
    profile: str = ""
    model: str = ""
    cost_usd: float = 0.0
    price_known: bool = True
    todos: Todos = ()
    demo: bool = False
    read_only: str = ""


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """A rewind point: just before a user message (whose `words` go back into the prompt), or just after a step.

    `tree` is the git tree of the checkpoint with the files of that point, empty if there is none.
    """

    entry_id: EntryId
    kind: Literal["user", "tool", "condense"]
    title: str
    at_ms: int
    tree: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a rewind would touch. `conflict`: it changed outside the agent since the last checkpoint."""

    path: str
    action: Literal["restore", "delete", "create"]
    added: int = 0
    removed: int = 0
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class RewindPreview:
    """What a rewind would do. `skipped` names files that no checkpoint holds."""

    point: RewindPoint
    messages: int
    files: tuple[FileChange, ...] = ()
    skipped: tuple[str, ...] = field(default=())
    files_possible: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """One hit of a search over the log.

    `on_path` is false for an entry that a rewind abandoned, `in_context` for one that the model does not see now.
    """

    task_id: str
    entry_id: EntryId
    title: str
    excerpt: str
    on_path: bool = True
    in_context: bool = True
