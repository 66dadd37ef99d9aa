"""Turn entries into rows of the transcript. Rows depend on the path alone, so a resumed task looks like a live one."""

from collections.abc import Iterable, Mapping
from typing import Literal

from roo_tui.context.condense import LOW_YIELD, split_summary
from roo_tui.context.history import active_markers, covering, hidden_ids
from roo_tui.domain.blocks import Block, Text, Thinking, ToolResult, ToolUse, plain_text_of, result_text
from roo_tui.domain.entries import (
    AssistantMessage,
    CallRecord,
    CallStarted,
    Checkpoint,
    Entry,
    Noted,
    Unknown,
    UserMessage,
)
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Condense, CondenseFailed, Marker, Mask, Reduction, Toggle, Truncation
from roo_tui.domain.views import (
    AnswerRow,
    CheckpointRow,
    CommandView,
    DiffView,
    FailureRow,
    FileView,
    ListView,
    ReductionRow,
    Row,
    RowBody,
    TextView,
    ThinkingRow,
    TodoView,
    ToolRow,
    ToolView,
    UserRow,
    block_key,
    call_key,
)
from roo_tui.plain_text import plural

_ATTACHMENTS = (
    ("<command", "command"),
    ("<file_content", "file"),
    ("<environment_details", "environment details"),
)
# Arguments that say what a call is about, under the names agents use, the best one first.
_TARGETS = ("path", "file_path", "command", "cmd", "query", "regex", "pattern", "question", "url", "description")


class TranscriptRows:
    """The rows of one task. Caches what the path says about calls and markers, so that new entries are cheap."""

    def __init__(self) -> None:
        self._forget()

    def rows(self, path: tuple[Entry, ...]) -> tuple[Row, ...]:
        """Return every row of the path, in order; a call's row comes where the call was made, and shows its result."""
        self._learn(path)
        return tuple(row for entry in path for row in self._rows(entry, with_results=False))

    def rows_of(self, entries: Iterable[Entry], path: tuple[Entry, ...]) -> tuple[Row, ...]:
        """Return the rows of new entries; the row of a tool result replaces the row of its call (same key)."""
        self._learn(path)
        return tuple(row for entry in entries for row in self._rows(entry, with_results=True))

    def _forget(self) -> None:
        self._path: tuple[Entry, ...] = ()
        self._hidden: frozenset[EntryId] = frozenset()
        self._on: frozenset[EntryId] = frozenset()
        self._started: set[str] = set()
        self._calls: dict[str, ToolUse] = {}
        self._results: dict[str, tuple[ToolResult, CallRecord | None]] = {}

    def _learn(self, path: tuple[Entry, ...]) -> None:
        known = len(self._path)
        if known > len(path) or (known and path[known - 1] is not self._path[-1]):
            self._forget()
            known = 0
        new = path[known:]
        for entry in new:
            match entry.body:
                case CallStarted(call_id):
                    self._started.add(call_id)
                case AssistantMessage(blocks=blocks):
                    self._calls.update((block.id, block) for block in blocks if isinstance(block, ToolUse))
                case UserMessage(blocks=blocks, calls=records):
                    by_id = {record.call_id: record for record in records}
                    for block in blocks:
                        if isinstance(block, ToolResult):
                            self._results.setdefault(block.tool_use_id, (block, by_id.get(block.tool_use_id)))
        if any(isinstance(entry.body, Marker | Toggle) for entry in new):
            self._on = frozenset(active_markers(path))
            self._hidden = hidden_ids(path)
        self._path = path

    def _rows(self, entry: Entry, *, with_results: bool) -> list[Row]:
        in_context = entry.id not in self._hidden
        ref = entry_ref(entry.id)

        def row(body: RowBody, key: str = ref) -> Row:
            """Return a row of this entry."""
            return Row(key, entry.id, body, in_context)

        match entry.body:
            case UserMessage() as message:
                rows = []
                if with_results:
                    rows = [
                        row(self._call_body(self._calls[block.tool_use_id]), call_key(block.tool_use_id))
                        for block in message.blocks
                        if isinstance(block, ToolResult) and block.tool_use_id in self._calls
                    ]
                text = message.words or ("" if message.source in ("tools", "engine") else plain_text_of(message.blocks))
                if text.strip():
                    rows.append(row(UserRow(text, entry.at_ms, _extras(message.blocks) if message.words else ())))
                return rows
            case AssistantMessage() as message:
                return self._answer_rows(entry, message, in_context)
            case Condense() | Truncation() | Mask():
                return [row(self._reduction_row(entry.id, entry.body))]
            case CondenseFailed() as failed:
                return [row(_failure_row(failed))]
            case Checkpoint(commit=commit, files=files):
                return [row(CheckpointRow(commit[:7], files))]
            case Noted(level=level, title=title, detail=detail):
                return [row(FailureRow(title, detail, level=level))]
            case Unknown():
                return [
                    row(
                        FailureRow(
                            "Written by a newer version of roo-tui", "Kept, but not sent to the model.", level="info"
                        )
                    )
                ]
            case _:
                return []

    def _answer_rows(self, entry: Entry, message: AssistantMessage, in_context: bool) -> list[Row]:
        rows = []
        last_text = max((i for i, block in enumerate(message.blocks) if isinstance(block, Text)), default=-1)
        for index, block in enumerate(message.blocks):
            match block:
                case Text(text=text) if text.strip():
                    body: RowBody = AnswerRow(text, interrupted=message.interrupted and index == last_text)
                    rows.append(Row(block_key(entry.id, index), entry.id, body, in_context))
                case Thinking(text=text) if text.strip():
                    rows.append(Row(block_key(entry.id, index), entry.id, ThinkingRow(text), in_context))
                case ToolUse(id=call_id) as call:
                    rows.append(Row(call_key(call_id), entry.id, self._call_body(call), in_context))
        for index, block in enumerate(message.unsent, len(message.blocks)):
            key = block_key(entry.id, index)
            match block:
                case Thinking(text=text):
                    rows.append(Row(key, entry.id, ThinkingRow(text), in_context=False))
                case ToolUse(name=name):
                    body = ToolRow("", name, "", "lost", "received in part, not run")
                    rows.append(Row(key, entry.id, body, in_context=False))
        return rows

    def _call_body(self, call: ToolUse) -> RowBody:
        """Return the row of a call; the call that finished the task becomes its last answer."""
        result, record = self._results.get(call.id, (None, None))
        if result is not None and record is not None and record.facts.kind == "finish" and not result.is_error:
            answer = call.input.get("result")
            if isinstance(answer, str) and answer.strip():
                return AnswerRow(answer)
        return self._tool_row(call)

    def _tool_row(self, call: ToolUse) -> ToolRow:
        title = call_title(call.input)
        result, record = self._results.get(call.id, (None, None))
        if result is None:
            state: Literal["running", "waiting"] = "running" if call.id in self._started else "waiting"
            return ToolRow(call.id, call.name, title, state)
        if record is None:
            record = CallRecord(call.id, call.name)
        view = record.view or TextView(result_text(result))
        detail = record.detail or _detail(view)
        if isinstance(view, TodoView):
            title = _todo_in_hand(view)
        return ToolRow(
            call.id, call.name, title, _state(result, record), detail, view, record.decision, record.duration_s
        )

    def _reduction_row(self, entry_id: EntryId, marker: Marker) -> ReductionRow:
        figures = marker.figures
        summary = analysis = ""
        receipt: tuple[str, ...] = ()
        if isinstance(marker, Condense):
            first = marker.summary[0] if marker.summary else None
            analysis, summary = split_summary(first.text if isinstance(first, Text) else "")
            receipt = marker.receipt
        return ReductionRow(
            kind=marker.kind,
            on=entry_id in self._on,
            tokens_before=figures.tokens_before,
            tokens_after=figures.tokens_after,
            cost_usd=figures.cost_usd,
            trigger=figures.trigger,
            how=", ".join(part for part in (_yield(figures), figures.strategy, figures.shape) if part),
            hidden=marker.hidden_count,
            summary=summary,
            analysis=analysis,
            receipt=receipt,
            details=_details(figures, marker),
            covered_by=covering(self._path, entry_id),
            title=marker.heading if isinstance(marker, Mask) else marker.title,
        )


def call_title(tool_input: Mapping[str, object]) -> str:
    """Return what a call is about: its path, command or query, else its first text argument."""
    for name in _TARGETS:
        value = tool_input.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return " ".join(str(part) for part in value)
    return next((value for value in tool_input.values() if isinstance(value, str)), "")


def _todo_in_hand(view: TodoView) -> str:
    """Return the todo item in progress, else the next pending one, else ""."""
    for wanted in ("in_progress", "pending"):
        for text, state in view.items:
            if state == wanted:
                return text
    return ""


def _state(result: ToolResult, record: CallRecord) -> Literal["done", "failed", "denied", "lost"]:
    if record.synthetic:
        return "lost"
    if record.decision == "denied":
        return "denied"
    return "failed" if result.is_error else "done"


def _detail(view: ToolView) -> str:
    match view:
        case DiffView(added=added, removed=removed):
            return f"+{added} −{removed}"
        case CommandView(exit_code=exit_code, timed_out=timed_out):
            return "timed out" if timed_out else f"exit {exit_code}" if exit_code is not None else ""
        case FileView(text=text, line_count=line_count):
            return plural(line_count or len(text.splitlines()), "line")
        case ListView(items=items, total=total):
            return plural(total or len(items), "item")
        case TodoView(items=todos):
            return f"{sum(state == 'done' for _, state in todos)} of {len(todos)} done"
    return ""


def _extras(blocks: tuple[Block, ...]) -> tuple[str, ...]:
    names = []
    for block in blocks:
        if isinstance(block, Text):
            names += [name for start, name in _ATTACHMENTS if block.text.lstrip().startswith(start)]
        elif block.type == "image":
            names.append("image")
    return tuple(names)


def _yield(figures: Reduction) -> str:
    return LOW_YIELD.lower() if any(remark.startswith(LOW_YIELD) for remark in figures.remarks) else ""


def _details(figures: Reduction, marker: Marker) -> tuple[tuple[str, str], ...]:
    usage = figures.usage
    pairs: list[tuple[str, str]] = [("Trigger", figures.trigger)]
    if isinstance(marker, Condense):
        extras = [block.text for block in marker.summary[1:] if isinstance(block, Text)]
        pairs += [
            ("Model", figures.model),
            ("Sent", f"{usage.prompt_tokens:,} tokens, of which {usage.cache_read_tokens:,} from the cache"),
            ("Received", f"{usage.output_tokens:,} tokens"),
            ("Duration", f"{figures.duration_s:.1f} s"),
            ("Kept with the summary", plural(len(extras), "block") if extras else "nothing"),
        ]
    if isinstance(marker, Truncation | Mask) and marker.reason:
        pairs.append(("Reason", marker.reason))
    pairs += [("Remark", remark) for remark in figures.remarks]
    return tuple((label, value) for label, value in pairs if value)


def _failure_row(failed: CondenseFailed) -> FailureRow:
    if failed.cancelled:
        return FailureRow("Condense cancelled", "Nothing changed.", cost_usd=failed.cost_usd, level="info")
    facts = [failed.message]
    if failed.status:
        facts.append(f"HTTP status: {failed.status}")
    if failed.code:
        facts.append(f"Error code: {failed.code}")
    if failed.tokens_after:
        facts.append(f"Tokens: {failed.tokens_before:,} before, {failed.tokens_after:,} after")
    if failed.body:
        facts.append(failed.body)
    return FailureRow("Condense failed", failed.message, "\n".join(facts), failed.cost_usd, of_condense=True)
