"""The current step of the demo's script, computed from the request alone.

The script keeps no state. Its position follows from the texts of its steps in the conversation, or from the note it
leaves in its summaries, so that it is also right after a rewind, a resume, a condense or an undo.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from roo_tui.domain.blocks import Message, Text, ToolResult, ToolUse, result_text
from roo_tui.domain.requests import Request
from roo_tui.llm.demo.script import TASKS

_NOTE = re.compile(r"\(demo script: (\w+), step (\d+)\)")
# What the engine adds to the user's message: text in its own tags, and one-line remarks in square brackets.
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
    """The next step of the script; `task` is empty if the script has no answer.

    `results` is the text of the previous step's results, `failed` that of the first one that is an error.
    """

    task: str = ""
    step: int = 0
    results: str = ""
    failed: str = ""


def is_condense_request(request: Request) -> bool:
    """Return whether the request asks for a summary: its last text describes the form of one."""
    newest = [block.text for block in request.messages[-1].blocks if isinstance(block, Text)]
    return bool(newest) and "<analysis>" in newest[-1] and "<summary>" in newest[-1]


def next_position(request: Request) -> DemoPosition:
    """Return where the script continues: at its next step, or at a task the newest message asks for."""
    task, step, text = "", 0, ""
    for message in request.messages:
        if message.role == "assistant":
            task, step = _said(message) or (task, step)
            text = ""
        else:
            task, step = _noted(message) or (task, step)
            text = typed_text(message) or text
    if text:
        return _chosen(text, task, step)
    results = [block for block in request.messages[-1].blocks if isinstance(block, ToolResult)]
    texts = [result_text(result) for result in results]
    errors = [text for result, text in zip(results, texts, strict=True) if result.is_error]
    return DemoPosition(task, step, "\n".join(texts), errors[0] if errors else "")


def position_to_summarise(request: Request) -> DemoPosition:
    """Return how far the script had come in a conversation that a summary is asked for."""
    task, step = "", 0
    for message in request.messages:
        found = _said(message) if message.role == "assistant" else _noted(message)
        task, step = found or (task, step)
    return DemoPosition(task, step)


def note(position: DemoPosition) -> str:
    """Return the note in a summary from which the script finds its position again."""
    return f"(demo script: {position.task}, step {position.step})"


def typed_text(message: Message) -> str:
    """Return what the user typed in a message, without what the engine added."""
    return "\n".join(text for block in message.blocks if (text := _typed_in(block))).strip()


def _typed_in(block: object) -> str:
    if not isinstance(block, Text) or _NOTE.search(block.text) or block.text.startswith("[Tool Result"):
        return ""
    return _TAGGED.sub("", block.text).strip()


def _chosen(text: str, task: str, step: int) -> DemoPosition:
    if task and _GO_ON.match(text):
        return DemoPosition(task, step)
    for pattern, topic in _TOPICS:
        if pattern.search(text):
            return DemoPosition(topic)
    return DemoPosition("" if task else "fix")


def _said(message: Message) -> tuple[str, int] | None:
    """Return the step after the one in the message; a text whose calls were cut off does not count."""
    if not any(_is_call(block) for block in message.blocks):
        return None
    spoken = {block.text.strip() for block in message.blocks if isinstance(block, Text)}
    return next(((task, number + 1) for task, number, text in _all_texts() if text in spoken), None)


def _is_call(block: object) -> bool:
    return isinstance(block, ToolUse) or (isinstance(block, Text) and block.text.startswith("[Tool Use"))


def _noted(message: Message) -> tuple[str, int] | None:
    notes = [found for block in message.blocks if isinstance(block, Text) for found in _NOTE.findall(block.text)]
    known = [(task, int(step)) for task, step in notes if task in TASKS]
    return known[-1] if known else None


def _all_texts() -> Iterator[tuple[str, int, str]]:
    for task, steps in TASKS.items():
        for number, step in enumerate(steps):
            yield task, number, step.reply.say
