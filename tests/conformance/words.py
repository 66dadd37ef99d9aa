"""The product's own words that the data has other words for, and the headings by which attached blocks are known.

Only words come from the product here; what they are due for is worked out by the checks.
"""

from functools import cache
from typing import Any

from roo_tui.prompt_files import render

Json = dict[str, Any]

# What stands in a summary message after the answer, in the order the design names; each but the last has a heading.
COMMANDS, OUTLINE, LEDGER, RECEIPT, PIN, REQUEST, TODOS, ENVIRONMENT = range(8)
_HEADED = {
    COMMANDS: ("summary_message/commands", {"commands": "\0"}),
    OUTLINE: ("summary_message/file_outline", {"path": "\0", "outline": "\0"}),
    LEDGER: ("summary_message/ledger", {"lines": "\0"}),
    RECEIPT: ("summary_message/receipt", {"lines": "\0"}),
    PIN: ("summary_message/pin", {"ref": "\0", "content": "\0"}),
    REQUEST: ("summary_message/request", {"request": "\0"}),
    TODOS: ("summary_message/todos", {"items": "\0"}),
}


def missing_result() -> str:
    """Return what is said where a call has no result."""
    return render("history/missing_result")


def empty_error() -> str:
    """Return what an error without words says."""
    return render("history/empty_error")


def late_result(content: str) -> Json:
    """Return the text that tells a result which does not follow its call."""
    return {"type": "text", "text": render("history/late_result", content=content)}


def start() -> Json:
    """Return the line before an answer that begins a history."""
    return {"type": "text", "text": render("history/earlier_start")}


def truncation_line(count: int) -> str:
    """Return the line that stands for the messages a truncation hides."""
    return render("history/truncated", count=count)


def cut_line() -> str:
    """Return the line that ends a shortened outline."""
    return render("summary_message/outline_cut")


def section(path: str, outline: str) -> str:
    """Return the section of one file's outline."""
    return render("summary_message/file_outline", path=path, outline=outline)


def answer_block(answer: str) -> str:
    """Return the first block of a summary message."""
    return render("summary_message/answer", answer=answer.strip())


def commands_block(commands: list[str]) -> str:
    """Return the block of the commands in force."""
    return render("summary_message/commands", commands="\n".join(commands))


def request_block(request: str) -> str:
    """Return the block of the request being worked on."""
    return render("summary_message/request", request=request)


def default_instruction() -> str:
    """Return the built-in instruction for a summary."""
    return render("condense/request")


def summary_system() -> str:
    """Return the system prompt of a summary's request."""
    return render("condense/system", guard=render("condense/guard"))


@cache
def of_parts() -> tuple[str, ...]:
    """Return the beginnings of the instructions for summarising in parts."""
    part, merge = (
        render("condense_staged/part", number="\0", parts="\0"),
        render("condense_staged/merge", instruction="\0"),
    )
    return part.partition("\0")[0], merge.partition("\0")[0]


def kind_of(text: str) -> int:
    """Return what an attached block is, by its heading; what has none is taken for environment details."""
    return next((kind for kind, heading in _headings().items() if text.startswith(heading)), ENVIRONMENT)


@cache
def _headings() -> dict[int, str]:
    return {kind: render(name, **values).partition("\0")[0] for kind, (name, values) in _HEADED.items()}


def ledger(lines: str) -> str:
    """Return the block of the facts of the log."""
    return render("summary_message/ledger", lines=lines)


def is_section_of(text: str, path: str) -> bool:
    """Say whether a block is the outline of a file: its heading ends with the path."""
    return any(line.endswith(f": {path}") for line in text.split("\n")[:2])
