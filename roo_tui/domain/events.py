"""Everything the engine can say, as one closed union of frozen values.

Starts and ends are paired and nested (a turn holds requests, a request holds blocks); every start has an end, on cancel
and on error too. An event about something stored is sent after it was committed. Consumers end their `match` with
`assert_never`.
"""

from dataclasses import dataclass
from typing import Literal

from roo_tui.domain.entries import Entry, QueuedMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Trigger
from roo_tui.domain.views import ContextUse, Header, ToolView


@dataclass(frozen=True, slots=True)
class Option:
    """One answer a question offers. `id` goes back with the answer."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Approval:
    """May this call run? Options: allow, always (for this task), deny. `reasons` say why it is asked."""

    call_id: str
    tool: str
    title: str
    effect: str
    view: ToolView | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """The model (or the engine) asks the person something; `free_text` says that an own answer is possible."""

    text: str
    free_text: bool = True
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """Something only a person can decide; the turn waits. Answer with `engine.answer(id, option_id, text)`."""

    id: str
    body: Approval | Choice
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class TaskOpened:
    """A task is open: everything shown is to be read anew (`engine.read`)."""

    task_id: str


@dataclass(frozen=True, slots=True)
class EntriesAppended:
    """The log grew; committed. Rows that stood for a stream are replaced by the rows of these.

    `block_ids` are those of the answer that just streamed, in the order of its `blocks` and then of its `unsent`.
    """

    task_id: str
    entries: tuple[Entry, ...]
    block_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewChanged:
    """Rows that were there before look different (a marker hid or freed entries, the head moved): read anew."""

    task_id: str
    reason: Literal["condense", "truncation", "mask", "toggle", "rewind", "recovered"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    task_id: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class RequestStarted:
    task_id: str
    turn_id: str
    request_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block begins to stream. `name` is the tool of a call."""

    task_id: str
    block_id: str
    type: Literal["text", "thinking", "tool_use", "other"]
    name: str = ""


@dataclass(frozen=True, slots=True)
class BlockText:
    """More of a block. Concatenating all of a block's texts gives the block (of a call: its input's JSON)."""

    task_id: str
    block_id: str
    text: str


@dataclass(frozen=True, slots=True)
class BlockEnded:
    task_id: str
    block_id: str


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """`outcome` failed: nothing of a broken attempt is in the log unless it was kept as an interrupted answer."""

    task_id: str
    turn_id: str
    request_id: str
    outcome: Literal["finished", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class RetryWaiting:
    """The request failed and is tried again in `seconds`; sent once a second while it waits, 0 when it goes on."""

    task_id: str
    what: Literal["request", "condense"]
    attempt: int
    of: int
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    task_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A running command printed something."""

    task_id: str
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    task_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    task_id: str
    question: Question


@dataclass(frozen=True, slots=True)
class QuestionClosed:
    """Answered, or withdrawn because the turn was cancelled (`decision` is empty)."""

    task_id: str
    question_id: str
    decision: str


@dataclass(frozen=True, slots=True)
class CondensePending:
    """Asked for during a turn: runs at the next safe boundary."""

    task_id: str
    instructions: str


@dataclass(frozen=True, slots=True)
class CondenseStarted:
    task_id: str
    condense_id: str
    trigger: Trigger
    tokens_before: int


@dataclass(frozen=True, slots=True)
class CondenseText:
    """More of the summary that is being written."""

    task_id: str
    condense_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CondenseEnded:
    """Always the end of a condense. `entry_id` is its row (condensed, truncated or failed), None if refused."""

    task_id: str
    condense_id: str
    outcome: Literal["condensed", "truncated", "failed", "cancelled", "refused"]
    message: str = ""
    entry_id: EntryId | None = None


@dataclass(frozen=True, slots=True)
class ContextChanged:
    task_id: str
    use: ContextUse


@dataclass(frozen=True, slots=True)
class HeaderChanged:
    task_id: str
    header: Header


@dataclass(frozen=True, slots=True)
class QueueChanged:
    task_id: str
    items: tuple[QueuedMessage, ...]


@dataclass(frozen=True, slots=True)
class PromptRestored:
    """A rewind to before a user message: its words go back into the prompt."""

    task_id: str
    words: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the moment; what must last is an entry (`Noted`)."""

    task_id: str
    level: Literal["info", "warning", "error"]
    text: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """Always the last event of a turn. `message` says what to do where it did not complete."""

    task_id: str
    turn_id: str
    reason: Literal["completed", "cancelled", "failed", "context_full"]
    message: str = ""


Event = (
    TaskOpened
    | EntriesAppended
    | ViewChanged
    | TurnStarted
    | RequestStarted
    | BlockStarted
    | BlockText
    | BlockEnded
    | RequestEnded
    | RetryWaiting
    | ToolStarted
    | ToolOutput
    | ToolEnded
    | QuestionAsked
    | QuestionClosed
    | CondensePending
    | CondenseStarted
    | CondenseText
    | CondenseEnded
    | ContextChanged
    | HeaderChanged
    | QueueChanged
    | PromptRestored
    | Notice
    | TurnEnded
)
