"""Everything the engine reports, as one closed union of immutable values.

Starts and ends are paired and nested (a turn holds requests, a request holds blocks); every start has an end, even on
cancel and error. An event about stored data follows its commit. Consumers end their `match` with `assert_never`.
"""

from dataclasses import dataclass
from typing import Literal

from roo_tui.domain.entries import Entry, QueuedMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Trigger
from roo_tui.domain.views import ContextUse, Header, ToolView


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that a question offers. The answer refers to it by `id`."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Approval:
    """Asks whether a call may run: allow, always (for this task) or deny. `reasons` say why approval is needed."""

    call_id: str
    tool: str
    title: str
    effect: str
    view: ToolView | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """A question from the model or the engine to the user. With `free_text`, the user may type an answer."""

    text: str
    free_text: bool = True
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question for the user. The turn waits until `engine.answer(id, option_id, text)` is called."""

    id: str
    body: Approval | Choice
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class TaskOpened:
    """A task was opened. Read everything shown again (`engine.read`)."""

    task_id: str


@dataclass(frozen=True, slots=True)
class EntriesAppended:
    """Entries were committed to the log. Their rows replace the rows of the stream they came from.

    `block_ids` are those of the answer that just streamed, in the order of its `blocks` and then of its `unsent`.
    """

    task_id: str
    entries: tuple[Entry, ...]
    block_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewChanged:
    """Existing rows changed because a marker hid or freed entries or the head moved. Read them again."""

    task_id: str
    reason: Literal["condense", "truncation", "mask", "toggle", "rewind", "recovered"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began. `turn_id` returns in the events of its requests and in `TurnEnded`."""

    task_id: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class RequestStarted:
    """A request goes to the model. `attempt` counts from 1."""

    task_id: str
    turn_id: str
    request_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block begins to stream. `name` is the called tool, empty for other blocks."""

    task_id: str
    block_id: str
    type: Literal["text", "thinking", "tool_use", "other"]
    name: str = ""


@dataclass(frozen=True, slots=True)
class BlockText:
    """More of a block. A block's texts joined together give the block; for a call, the JSON of its input."""

    task_id: str
    block_id: str
    text: str


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """A block is complete, or its request was cancelled or failed."""

    task_id: str
    block_id: str


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """A request ended. The log has nothing of a failed attempt unless it was kept as an interrupted answer."""

    task_id: str
    turn_id: str
    request_id: str
    outcome: Literal["finished", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class RetryWaiting:
    """A request failed and will be retried in `seconds`. Sent once a second while waiting; 0 means the retry starts."""

    task_id: str
    what: Literal["request", "condense"]
    attempt: int
    of: int
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call runs."""

    task_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """More output of a running command."""

    task_id: str
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool call ended, whatever its outcome. `EntriesAppended` brings its result."""

    task_id: str
    call_id: str


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A question is open until the `QuestionClosed` with its id."""

    task_id: str
    question: Question


@dataclass(frozen=True, slots=True)
class QuestionClosed:
    """A question was answered, or withdrawn because the turn was cancelled (`decision` is empty)."""

    task_id: str
    question_id: str
    decision: str


@dataclass(frozen=True, slots=True)
class CondensePending:
    """A condense was requested during a turn. It runs as soon as no tool call is open."""

    task_id: str
    instructions: str


@dataclass(frozen=True, slots=True)
class CondenseStarted:
    """A condense began. `tokens_before` are context tokens."""

    task_id: str
    condense_id: str
    trigger: Trigger
    tokens_before: int


@dataclass(frozen=True, slots=True)
class CondenseText:
    """More of the summary, while it is written."""

    task_id: str
    condense_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CondenseEnded:
    """A condense ended. `entry_id` is its entry (condensed, truncated or failed), None if it was refused.

    `invalid` is a refusal because of a setting.
    """

    task_id: str
    condense_id: str
    outcome: Literal["condensed", "truncated", "failed", "cancelled", "refused", "invalid"]
    message: str = ""
    entry_id: EntryId | None = None


@dataclass(frozen=True, slots=True)
class ContextChanged:
    """The figures of the context bar changed."""

    task_id: str
    use: ContextUse


@dataclass(frozen=True, slots=True)
class HeaderChanged:
    """What the header and footer show changed."""

    task_id: str
    header: Header


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """The queued messages changed; `items` holds all of them, in order."""

    task_id: str
    items: tuple[QueuedMessage, ...]


@dataclass(frozen=True, slots=True)
class PromptRestored:
    """A rewind removed a user message. Put its text back into the prompt."""

    task_id: str
    words: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A short-lived message to the user. A lasting one is an entry (`Noted`)."""

    task_id: str
    level: Literal["info", "warning", "error"]
    text: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of every turn. If the turn did not complete, `message` says what to do."""

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
