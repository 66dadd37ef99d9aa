"""The receipt of a condense: what the log knows and the summary does not say. No model is asked."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from roo_tui.context.history.log_facts import edited_files, failure_words, last_failure, typed_messages
from roo_tui.domain.entries import Entry
from roo_tui.plain_text import one_line
from roo_tui.prompt_files import render

_LONGEST_MESSAGE = 20_000
_LONGEST_SENTENCE = 300
_MOST_CONSTRAINTS = 20
_MOST_IDENTIFIERS = 20

_CONSTRAINT = re.compile(r"\b(?:never|must(?:n['’]t| not)?|do(?:n['’]t| not)|under no circumstances)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# What a person names exactly: quoted code, paths, and words no language has (snake_case, CamelCase, a.b, --flags).
_IDENTIFIER = re.compile(
    r"`([^`\n]{2,80})`"
    r"|(?<![\w/.-])((?:[\w.-]+/)+[\w.-]*\w|--[a-z][\w-]+|[A-Za-z]\w*(?:\.\w+)+|[A-Za-z]+_\w*\w|[a-z]+[A-Z]\w+|[A-Z]\w*[a-z]\w*[A-Z]\w*)"
)


def receipt(path: Sequence[Entry], summary: str, todos: tuple[tuple[str, str], ...] = ()) -> tuple[str, ...]:
    """Return one line for each thing on the path that the summary's text does not mention.

    Looked for: files edited, the last command that failed and did not succeed since with its error line, open todo
    items, sentences in which the person set a limit ("never", "must", "don't"), identifiers of the last request.
    """
    said = _plain(summary)
    lines = [render("receipt/edited", path=file) for file in edited_files(path) if not _names(said, file)]
    if (failing := last_failure(path)) is not None:
        error = failing.error_line
        if _plain(failing.command) not in said or (error and _plain(error) not in said):
            values = {"command": one_line(failing.command), "outcome": failure_words(failing.exit_code)}
            if error:
                lines.append(render("receipt/failing_command_error", **values, error=error))
            else:
                lines.append(render("receipt/failing_command", **values))
    lines += [render("receipt/todo", text=text) for text, _ in open_items(todos) if _plain(text) not in said]
    typed = [words for _, words in typed_messages(path)]
    unsaid = [sentence for sentence in constraints(typed) if _plain(sentence).rstrip("…") not in said]
    lines += [render("receipt/constraint", sentence=sentence) for sentence in unsaid[-_MOST_CONSTRAINTS:]]
    names = [name for name in identifiers(typed[-1]) if _plain(name) not in said] if typed else []
    lines += [render("receipt/identifier", name=name) for name in names[:_MOST_IDENTIFIERS]]
    return tuple(lines)


def open_items(todos: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the (text, state) pairs that are not done."""
    return [(text, state) for text, state in todos if state != "done"]


def constraints(messages: Sequence[str]) -> list[str]:
    """Return the sentences that set a limit, each once, in order; long ones are cut."""
    found: dict[str, None] = {}
    for words in messages:
        for sentence in _SENTENCE_END.split(words[:_LONGEST_MESSAGE]):
            if _CONSTRAINT.search(sentence):
                found[one_line(sentence, _LONGEST_SENTENCE)] = None
    return list(found)


def identifiers(words: str) -> list[str]:
    """Return what a message names exactly (quoted code, paths, names of code), each once, in order."""
    found = (quoted or plain for quoted, plain in _IDENTIFIER.findall(words[:_LONGEST_MESSAGE]))
    return list(dict.fromkeys(one_line(name, 100) for name in found))


def _names(said: str, file: str) -> bool:
    """A file is named by its path or, because summaries shorten, by its last part."""
    name = re.escape(_plain(PurePosixPath(file).name))
    return _plain(file) in said or re.search(rf"(?<![\w.-]){name}(?![\w-])", said) is not None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
