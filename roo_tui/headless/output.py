"""What a run prints: text, one JSON object, or one JSON object for each event."""

from collections.abc import Callable
from typing import Protocol, TextIO

from roo_tui.domain.blocks import tool_uses
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.events import (
    BlockEnded,
    BlockStarted,
    BlockText,
    CondenseEnded,
    CondenseStarted,
    EntriesAppended,
    Event,
    Notice,
    RequestEnded,
    RetryWaiting,
)
from roo_tui.domain.markers import REDUCTIONS
from roo_tui.domain.views import FailureRow, ReductionRow, Row, ToolRow
from roo_tui.headless.as_json import encode, event_object
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.headless.run_result import RunResult, final_answer
from roo_tui.plain_text import clean, one_line, plural

RowsOf = Callable[[tuple[Entry, ...]], tuple[Row, ...]]


class Output(Protocol):
    """Gets every event in order, then the end once."""

    def event(self, event: Event) -> None:
        """Print an event, if this kind of output shows it."""
        ...

    def end(self, record: RunResult) -> None:
        """Print how the run ended."""
        ...


def output(kind: str, rows_of: RowsOf, out: TextIO, err: TextIO) -> Output:
    """Return the output of a kind (text, json, stream-json); `rows_of` describes the steps that text output prints."""
    match kind:
        case "json":
            return Json(out)
        case "stream-json":
            return StreamJson(out)
        case _:
            return TextOutput(rows_of, out, err)


class Json:
    """Prints one object at the end."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def event(self, event: Event) -> None:
        """Print nothing yet."""

    def end(self, record: RunResult) -> None:
        """Print the run as one object."""
        print(encode(record.result()), file=self._out, flush=True)


class StreamJson:
    """Prints one object per line for each event, and a last one of type `Result`."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def event(self, event: Event) -> None:
        """Print the event as one object."""
        print(encode(event_object(event)), file=self._out, flush=True)

    def end(self, record: RunResult) -> None:
        """Print the run as one object."""
        print(encode(record.result()), file=self._out, flush=True)


class TextOutput:
    """Prints the model's answer to `out` as it streams; steps, notices and errors to `err`, one line each."""

    def __init__(self, rows_of: RowsOf, out: TextIO, err: TextIO) -> None:
        self._rows_of = rows_of
        self._out = out
        self._err = err
        self._text_blocks: set[str] = set()
        self._wrote = self._line_open = False
        self._retry = ("", 0)
        self._said = ""

    def event(self, event: Event) -> None:
        """Print the streamed text or the line of an event, if it has any."""
        match event:
            case BlockStarted(block_id=block_id, type="text"):
                self._text_blocks.add(block_id)
            case BlockText(block_id=block_id, text=text) if block_id in self._text_blocks:
                self._say(text)
            case BlockEnded(block_id=block_id) if block_id in self._text_blocks:
                self._text_blocks.discard(block_id)
                self._end_line()
            case RequestEnded(outcome=outcome):
                if outcome == "failed" and self._line_open:
                    self._note("The answer broke off. A retry starts it again from the beginning.")
                self._end_line()
            case EntriesAppended(entries=entries):
                self._entries(entries)
            case RetryWaiting(what=what, attempt=attempt, of=of, seconds=seconds, reason=reason):
                if seconds and self._retry != (what, attempt):
                    self._note(f"{reason} Retrying in {seconds:g} s ({attempt} of {of}).")
                self._retry = (what, attempt)
            case CondenseStarted():
                self._note("Condensing context…")
            case CondenseEnded(outcome=outcome, message=message) if outcome != "condensed" and message:
                self._note(message)
            case Notice(text=text):
                self._note(text)

    def end(self, record: RunResult) -> None:
        """Print why the run failed, unless that was printed already, and how to allow denied calls."""
        self._end_line()
        if record.message and record.message not in self._said:
            self._note(record.message)
        if record.code is ExitCode.REFUSED and record.denied:
            calls = plural(record.denied, "call was", "calls were")
            self._note(f"{calls} denied. Add --auto-approve, or allow such calls in the settings under approvals.")

    def _entries(self, entries: tuple[Entry, ...]) -> None:
        for entry in entries:
            if isinstance(entry.body, AssistantMessage) and any(
                call.name == "attempt_completion" for call in tool_uses(entry.body.blocks)
            ):
                self._say(final_answer(entry.body))
                self._end_line()
        for row in self._rows_of(entries):
            if line := _line(row):
                self._note(line)

    def _say(self, text: str) -> None:
        if self._wrote and not self._line_open and text:
            self._out.write("\n")
        self._out.write(clean(text))
        self._out.flush()
        self._wrote = self._line_open = self._line_open or bool(text)

    def _end_line(self) -> None:
        if self._line_open:
            self._out.write("\n")
            self._out.flush()
        self._line_open = False

    def _note(self, text: str) -> None:
        self._end_line()
        self._said = text
        print(clean(text), file=self._err, flush=True)


def _line(row: Row) -> str:
    """Return a finished row as one line, "" for one that is printed in another way."""
    match row.body:
        case ToolRow(tool="attempt_completion"):
            return ""
        case ToolRow(tool=tool, title=title, state=state, detail=detail) if state in (
            "done",
            "failed",
            "denied",
            "lost",
        ):
            mark = "" if state in ("done", detail) else state
            return "  ".join(filter(None, (tool, one_line(title, 100), one_line(detail, 60), mark)))
        case ReductionRow() as body:
            return reduction_line(body)
        case FailureRow(title=title, message=message):
            return f"{title}: {one_line(message, 400)}"
        case _:
            return ""


def reduction_line(body: ReductionRow) -> str:
    """Return a reduction as one line: `Context condensed  148,210 → 9,874 tokens  $0.08`."""
    tokens = f"{body.tokens_before:,} → {body.tokens_after:,} tokens"
    cost = "" if body.cost_usd is None else f"${body.cost_usd:.2f}"
    return "  ".join(filter(None, (body.title or REDUCTIONS[body.kind].title, tokens, cost)))
