"""The outline: a nine-section summary made from the log; it says that no model wrote it.

It quotes the user's messages and lists what was done on the whole path, including what earlier condenses hide. Lists
are shortened, keeping the newest items, until the outline fits its budget.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from roo_tui.context.condense.receipt import open_items
from roo_tui.context.condense.summary_call import split_summary
from roo_tui.context.history.log_facts import (
    Call,
    calls_of,
    changed_files,
    error_line,
    failed,
    failure_words,
    is_added,
    last_failure,
    typed_messages,
)
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text, plain_text_of, tool_uses
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.domain.markers import Condense
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How much an outline shows: `files`, `messages` and `errors` count list items, the others count characters."""

    files: int
    messages: int
    errors: int
    request: int
    quote: int
    item: int
    earlier: int


_SIZES = (
    _Sizes(400, 60, 12, 10_000, 4_000, 400, 8_000),
    _Sizes(250, 30, 8, 8_000, 2_000, 250, 4_000),
    _Sizes(150, 15, 5, 6_000, 1_000, 160, 2_000),
    _Sizes(80, 8, 3, 4_000, 400, 120, 800),
    _Sizes(40, 4, 1, 2_000, 200, 80, 0),
    _Sizes(10, 2, 1, 400, 100, 60, 0),
)
# The work is about the failing command, so it is shown in full unless it is a whole script.
_FAILING = 800


def outline_summary(
    path: Sequence[Entry], counter: TokenCounter, *, budget: int, todos: tuple[tuple[str, str], ...] = ()
) -> str:
    """Return the outline as a condense's answer, of at most `budget` raw tokens unless even the shortest has more."""
    log = _Log(path, todos)
    answer = ""
    for sizes in _SIZES:
        answer = log.summary(sizes)
        if counter.count_text(answer) <= budget:
            break
    return answer


class _Log:
    """The facts that fill the sections, read from a path once."""

    def __init__(self, path: Sequence[Entry], todos: tuple[tuple[str, str], ...]) -> None:
        self._typed = typed_messages(path)
        self._todos = todos
        self._calls = list(calls_of(path))
        self._failure = last_failure(path)
        self._answers = [
            (entry.id, text, [use.name for use in tool_uses(entry.body.blocks)])
            for entry in path
            if isinstance(entry.body, AssistantMessage)
            for text in [plain_text_of(entry.body.blocks).strip()]
        ]
        self._earlier = _earlier_summary(path)

    def summary(self, sizes: _Sizes) -> str:
        """Return the nine sections, each no longer than the sizes allow."""
        return render(
            "outline_summary/summary",
            intent=self._intent(sizes),
            concepts=self._concepts(sizes),
            files=self._files(sizes),
            errors=self._errors(sizes),
            solving=self._solving(sizes),
            messages=self._messages(sizes),
            pending=_lines(f"[{state}] {text}" for text, state in open_items(self._todos)),
            work=self._work(sizes),
            next=self._next(sizes),
        )

    def _intent(self, sizes: _Sizes) -> str:
        if not self._typed:
            return _none()
        asked = [(entry_id, message) for entry_id, message in self._typed if not is_added(message)] or self._typed
        first, last = asked[0], asked[-1]
        lines = []
        if first != last:
            lines += [
                render("outline_summary/first_request", entry=entry_ref(first[0])),
                *_quoted(first[1], sizes.quote),
            ]
        lines += [render("outline_summary/last_request", entry=entry_ref(last[0])), *_quoted(last[1], sizes.request)]
        if (newest := self._typed[-1]) != last:
            lines += [
                render("outline_summary/added_since", entry=entry_ref(newest[0])),
                *_quoted(newest[1], sizes.quote),
            ]
        return "\n".join(f"   {line}" for line in lines)

    def _concepts(self, sizes: _Sizes) -> str:
        kinds = Counter(
            suffix for call in self._calls for file in _files_of(call) if (suffix := PurePosixPath(file).suffix)
        )
        programs = Counter(
            parts[0]
            for call in self._calls
            if call.record.facts.kind == "command" and (parts := call.record.facts.query.split())
        )
        lines = []
        if kinds:
            named = ", ".join(name for name, _ in kinds.most_common(12))
            lines.append(render("outline_summary/file_kinds", kinds=named))
        if programs:
            named = ", ".join(one_line(name, 40) for name, _ in programs.most_common(12))
            lines.append(one_line(render("outline_summary/programs", programs=named), sizes.item))
        return _lines(lines)

    def _files(self, sizes: _Sizes) -> str:
        edits: dict[str, list[EntryId]] = {}
        reads: dict[str, EntryId] = {}
        for call in self._calls:
            for file in changed_files(call):
                edits[file] = [*edits.pop(file, []), call.entry_id]
            if call.record.facts.kind == "read" and call.record.facts.path and not call.is_error:
                reads.pop(call.record.facts.path, None)
                reads[call.record.facts.path] = call.entry_id
        newest_first = list(reversed(edits.items()))
        lines = [_edited(file, ids) for file, ids in newest_first[: sizes.files]]
        if len(edits) > sizes.files:
            lines.append(render("outline_summary/more_files", count=len(edits) - sizes.files))
        only_read = [(file, entry_id) for file, entry_id in reversed(reads.items()) if file not in edits]
        most = max(0, min(sizes.files // 4, sizes.files - len(lines)))
        lines += [
            render("outline_summary/file_read", path=file, entry=entry_ref(entry_id))
            for file, entry_id in only_read[:most]
        ]
        return _lines(lines)

    def _errors(self, sizes: _Sizes) -> str:
        lines = []
        if self._failure is not None:
            failure = self._failure
            lines.append(
                render(
                    "outline_summary/still_failing",
                    entry=entry_ref(failure.entry_id),
                    command=one_line(failure.command, _FAILING),
                    outcome=failure_words(failure.exit_code),
                    error=failure.error_line,
                )
            )
        others = [
            call
            for call in self._calls
            if failed(call) and (not self._failure or call.entry_id != self._failure.entry_id)
        ]
        for count, call in enumerate(reversed(others[-sizes.errors :])):
            most = sizes.item if count else _FAILING
            command, error = one_line(call.record.facts.query, most), one_line(error_line(call.output), most)
            lines.append(f"{entry_ref(call.entry_id)}: {command}: {error}")
        return _lines(lines)

    def _solving(self, sizes: _Sizes) -> str:
        lines = []
        if self._earlier and sizes.earlier:
            lines = [render("outline_summary/earlier_summary"), *_quoted(self._earlier, sizes.earlier)]
        return "\n".join(f"   {line}" for line in lines) or _none()

    def _messages(self, sizes: _Sizes) -> str:
        shown = self._typed[-sizes.messages :]
        if self._typed and self._typed[0] not in shown:
            shown = [self._typed[0], *shown]
        lines = [f"{entry_ref(entry_id)}: {one_line(message, sizes.item)}" for entry_id, message in shown]
        if len(shown) < len(self._typed):
            lines.insert(1, render("outline_summary/more_messages", count=len(self._typed) - len(shown)))
        return _lines(lines)

    def _work(self, sizes: _Sizes) -> str:
        lines = [
            f"{entry_ref(call.entry_id)}: {call.record.tool} {one_line(_target(call), sizes.item)}"
            for call in self._calls[-min(8, sizes.messages) :]
        ]
        answers = [(entry_id, text) for entry_id, text, _ in self._answers if text]
        if answers:
            entry_id, text = answers[-1]
            last = one_line(text, sizes.quote)
            lines.append(render("outline_summary/last_answer", entry=entry_ref(entry_id), text=last))
        return _lines(lines)

    def _next(self, sizes: _Sizes) -> str:
        if not self._typed:
            return _none()
        if self._answers and not self._answers[-1][2]:
            return f"   {render('outline_summary/nothing_open')}"
        last = one_line(self._typed[-1][1], sizes.item)
        return f"   {render('outline_summary/next_step', request=last)}"


def _earlier_summary(path: Sequence[Entry]) -> str:
    """Return the newest summary that a model wrote; an outline holds nothing that the log does not."""
    for entry in reversed(path):
        body = entry.body
        if isinstance(body, Condense) and body.figures.shape != "outline" and body.summary:
            first = body.summary[0]
            return split_summary(first.text)[1] if isinstance(first, Text) else ""
    return ""


def _files_of(call: Call) -> tuple[str, ...]:
    return changed_files(call) or ((call.record.facts.path,) if call.record.facts.path else ())


def _target(call: Call) -> str:
    facts = call.record.facts
    return facts.path or facts.query or ", ".join(facts.changed)


def _edited(file: str, ids: Sequence[EntryId]) -> str:
    last = entry_ref(ids[-1])
    if len(ids) == 1:
        return render("outline_summary/edited_once", path=file, entry=last)
    return render("outline_summary/edited_often", path=file, count=len(ids), entry=last)


def _quoted(text: str, most: int) -> list[str]:
    """Return the text as quoted lines; a text of more than `most` characters loses its middle."""
    text = text.strip()
    if len(text) > most:
        text = f"{text[: most * 2 // 3]}\n[…]\n{text[-most // 3 :]}"
    return [f"> {line}" for line in text.splitlines()]


def _none() -> str:
    return f"   {render('outline_summary/none')}"


def _lines(items: Iterable[str]) -> str:
    return "\n".join(f"   - {item}" for item in items) or _none()
