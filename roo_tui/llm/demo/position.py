"""Where the demo's script stands, read from nothing but the request.

The script keeps no state of its own. Its place follows from the words of its own steps in the conversation, or from the
note it leaves in its summaries, so that it is right after a rewind, a resume, a condense and an undo too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from roo_tui.domain.blocks import Message, Text, ToolResult, ToolUse, result_text
from roo_tui.domain.requests import Request
from roo_tui.llm.demo.script import TASKS

_NOTE = re.compile(r"\(demo script: (\w+), step (\d+)\)")
# What the engine puts beside a person's words: text in tags of its own, and one-line remarks in square brackets.
_TAGGED = re.compile(
    r"<(system-reminder|environment_details|file_content|command)\b[^>]*>.*?</\1>|\A\s*\[[^\n]*\]\s*\Z", re.DOTALL
)
_TOPICS = (
    (re.compile(r"\breview\b", re.I), "review"),
    (re.compile(r"\bleap|\badd (a|another) test", re.I), "leap"),
    (re.compile(r"\b(fix|fail\w*|bugs?|broken|dates?)\b", re.I), "fix"),
)
_GO_ON = re.compile(r"\s*(please\s+)?(continue|go on|carry on|try again|retry|yes|ok|okay|resume)\b", re.I)


@dataclass(frozen=True, slots=True)
class DemoPosition:
    """The step that comes next; `task` is empty where the script has nothing to say. `results` are of the step before.

    `failed` is the text of the first of them that is an error.
    """

    task: str = ""
    step: int = 0
    results: str = ""
    failed: str = ""


def is_condense_request(request: Request) -> bool:
    """Return whether the request asks for a summary: its newest words show what one looks like."""
    newest = [block.text for block in request.messages[-1].blocks if isinstance(block, Text)]
    return bool(newest) and "<analysis>" in newest[-1] and "<summary>" in newest[-1]


def place_of(request: Request) -> DemoPosition:
    """Return where the script goes on."""
    task, step, words = "", 0, ""
    for message in request.messages:
        if message.role == "assistant":
            task, step = _said(message) or (task, step)
            words = ""
        else:
            task, step = _noted(message) or (task, step)
            words = human_words(message) or words
    if words:
        return _chosen(words, task, step)
    results = [block for block in request.messages[-1].blocks if isinstance(block, ToolResult)]
    texts = [result_text(result) for result in results]
    errors = [text for result, text in zip(results, texts, strict=True) if result.is_error]
    return DemoPosition(task, step, "\n".join(texts), errors[0] if errors else "")


def place_to_summarise(request: Request) -> DemoPosition:
    """Return where the script stood in a conversation that is to be summarised."""
    task, step = "", 0
    for message in request.messages:
        found = _said(message) if message.role == "assistant" else _noted(message)
        task, step = found or (task, step)
    return DemoPosition(task, step)


def note(place: DemoPosition) -> str:
    """Return what a summary holds so that the script finds its place again."""
    return f"(demo script: {place.task}, step {place.step})"


def human_words(message: Message) -> str:
    """Return what a person typed in a user message, without what the program put beside it."""
    return "\n".join(words for block in message.blocks if (words := _words_in(block))).strip()


def _words_in(block: object) -> str:
    if not isinstance(block, Text) or _NOTE.search(block.text) or block.text.startswith("[Tool Result"):
        return ""
    return _TAGGED.sub("", block.text).strip()


def _chosen(words: str, task: str, step: int) -> DemoPosition:
    if task and _GO_ON.match(words):
        return DemoPosition(task, step)
    for pattern, topic in _TOPICS:
        if pattern.search(words):
            return DemoPosition(topic)
    return DemoPosition("" if task else "fix")


def _said(message: Message) -> tuple[str, int] | None:
    """Return the step after the newest whole one in the message; words whose calls were cut off do not count."""
    if not any(_is_call(block) for block in message.blocks):
        return None
    spoken = {block.text.strip() for block in message.blocks if isinstance(block, Text)}
    return next(((task, number + 1) for task, number, words in _all_words() if words in spoken), None)


def _is_call(block: object) -> bool:
    return isinstance(block, ToolUse) or (isinstance(block, Text) and block.text.startswith("[Tool Use"))


def _noted(message: Message) -> tuple[str, int] | None:
    notes = [found for block in message.blocks if isinstance(block, Text) for found in _NOTE.findall(block.text)]
    known = [(task, int(step)) for task, step in notes if task in TASKS]
    return known[-1] if known else None


def _all_words() -> Iterator[tuple[str, int, str]]:
    for task, steps in TASKS.items():
        for number, step in enumerate(steps):
            yield task, number, step.reply.say
