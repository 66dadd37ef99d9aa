"""The facts ledger: certain facts from the log, rebuilt for each condense without a model.

For each file: whether it was read or edited, its hash at that time, and whether the disk still has that content. Then
the last test command with its outcome, and the progress of the todo list. At most 1,000 tokens; files touched
longest ago are left out first.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from roo_tui.context.history.log_facts import Call, calls_of, changed_files, error_line, failed, failure_words
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import Entry
from roo_tui.domain.ids import EntryId, entry_ref
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render

MOST_TOKENS = 1_000
MOST_FILES = 60

_TEST = re.compile(
    r"\b(pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|cargo (?:test|nextest)|go test|gotestsum"
    r"|(?:npm|pnpm|yarn|bun)(?: run)? test\S*|(?:mvn|gradlew?|make|mix|dotnet|swift|mise(?: run)?) (?:\S+ )?test\S*)"
)


@dataclass(frozen=True, slots=True)
class FileFact:
    """What the agent knows of one file, with the newest call that read or wrote it. `digest` is empty if unknown."""

    path: str
    what: Literal["edited", "read"]
    entry_id: EntryId
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The facts of a path. `files` are newest first, edited ones before those only read; `test` is the last test."""

    files: tuple[FileFact, ...] = ()
    test: Call | None = None
    todos: tuple[tuple[str, str], ...] = ()


def ledger(path: Sequence[Entry], todos: tuple[tuple[str, str], ...] = ()) -> Ledger:
    """Return the facts of a path and of its todo list, which is (text, state) pairs."""
    edited: dict[str, FileFact] = {}
    read: dict[str, FileFact] = {}
    test = None
    for call in calls_of(path):
        facts = call.record.facts
        for file in changed_files(call):
            edited.pop(file, None)
            edited[file] = FileFact(file, "edited", call.entry_id, facts.digest if file == facts.path else "")
        if facts.kind == "read" and facts.path and not call.is_error:
            if known := edited.get(facts.path):
                # The agent knows what it read last, but the file still counts as edited.
                edited[facts.path] = FileFact(known.path, "edited", known.entry_id, facts.digest or known.digest)
            read.pop(facts.path, None)
            read[facts.path] = FileFact(facts.path, "read", call.entry_id, facts.digest)
        elif facts.kind == "command" and _TEST.search(facts.query):
            test = call
    files = [*reversed(edited.values()), *(fact for fact in reversed(read.values()) if fact.path not in edited)]
    return Ledger(tuple(files), test, todos)


def ledger_block(
    facts: Ledger, on_disk: Sequence[tuple[str, str]], counter: TokenCounter, ratio: float = 1.0
) -> Text | None:
    """Return the block of the facts, at most 1,000 calibrated tokens; None without any file or test.

    `on_disk` holds (path, hash) pairs of the files' present content; the hash of a deleted file is empty.
    """
    if not facts.files and facts.test is None:
        return None
    now = dict(on_disk)
    lines = [line for line in (_test_line(facts.test), _todos_line(facts.todos)) if line]
    left = MOST_TOKENS / ratio - counter.count_text(
        render("summary_message/ledger", lines="\n".join([*lines, _more(9_999)]))
    )
    shown = 0
    for fact in facts.files[:MOST_FILES]:
        line = _file_line(fact, now)
        left -= counter.count_text(f"\n{line}")
        if left < 0:
            break
        lines.append(line)
        shown += 1
    if shown < len(facts.files):
        lines.append(_more(len(facts.files) - shown))
    return Text(render("summary_message/ledger", lines="\n".join(lines)))


def _file_line(fact: FileFact, now: dict[str, str]) -> str:
    parts = [render("ledger/edited" if fact.what == "edited" else "ledger/read", entry=entry_ref(fact.entry_id))]
    if fact.digest:
        parts.append(fact.digest[:8])
    current = now.get(fact.path)
    if current == "":
        parts.append(render("ledger/gone_from_disk"))
    elif current and fact.digest:
        parts.append(render("ledger/as_on_disk" if current == fact.digest else "ledger/changed_on_disk"))
    return render("ledger/file", path=one_line(fact.path, 200), facts=", ".join(parts))


def _test_line(call: Call | None) -> str:
    if call is None:
        return ""
    exit_code = call.record.facts.exit_code
    known = exit_code is not None or call.is_error
    values = {
        "entry": entry_ref(call.entry_id),
        "command": one_line(call.record.facts.query, 200),
        "outcome": failure_words(exit_code) if known else render("ledger/ended"),
    }
    if failed(call):
        return render("ledger/failed_test", **values, error=one_line(error_line(call.output), 200))
    return render("ledger/test", **values)


def _todos_line(todos: tuple[tuple[str, str], ...]) -> str:
    done = sum(state == "done" for _, state in todos)
    return render("ledger/todos", done=done, count=len(todos)) if todos else ""


def _more(count: int) -> str:
    return render("ledger/more_files", count=f"{count:,}")
