"""What a stored history says, told from its tagged messages alone.

What is seen, where it may be cut, which message waits for an answer, which commands hold, which files are known: the
checks decide by these, and the product is held against them. Nothing here asks the product.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

_COMMAND = re.compile(r"<command(?:\s[^>]*)?>.*?</command>", re.DOTALL)
_KEEPS_COMMANDS = re.compile(r"<system-reminder>\n## (?:Commands in force|Active Workflows)\n")
_WRAPPER = re.compile(r"</?(?:task|user_message|feedback|answer)>")
_ADDED = ("<environment_details>", "<system-reminder>")
_RESULT_AS_TEXT = re.compile(r"\[[a-z_]+\b[^\n]*\] Result:")
_WRITES = {"write_to_file"}
_READS = {"read_file"}
_IMAGE_CHARACTERS = 1200


@dataclass(frozen=True)
class Plain:
    """A message to compare: role, kind (`message`, `summary`, `truncation`) and blocks as JSON values."""

    role: str
    blocks: tuple[Any, ...]
    kind: str = "message"


def plain(message: Json) -> Plain:
    """Return a recorded message."""
    kind = "summary" if message.get("isSummary") else "truncation" if message.get("isTruncationMarker") else "message"
    return Plain(message["role"], plain_blocks(message["content"]), kind)


def plain_blocks(content: Any) -> tuple[Any, ...]:
    """Return a content as blocks that compare equal where the Messages API reads the same in them."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    return tuple(_plain_block(block) for block in content) if isinstance(content, list) else ()


def is_hidden(message: Json, messages: Sequence[Json]) -> bool:
    """Say whether a message carries the tag of a truncation whose marker is there."""
    markers = {other.get("truncationId") for other in messages if other.get("isTruncationMarker")}
    return message.get("truncationParent") in markers - {None}


def since_summary(messages: Sequence[Json]) -> list[Json]:
    """Return the messages from the last summary on, all where there is none."""
    start = max((at for at, message in enumerate(messages) if message.get("isSummary")), default=0)
    return list(messages[start:])


def seen(messages: Sequence[Json]) -> list[Plain]:
    """Return what the model sees: from the last summary on, without what a truncation hides and what is empty."""
    shown = (plain(one) for one in since_summary(messages) if not is_hidden(one, messages))
    return [one for one in shown if one.blocks]


def results_in(message: Plain) -> list[Any]:
    return [block for block in message.blocks if block.get("type") == "tool_result"]


def calls_in(message: Plain) -> list[Any]:
    return [block for block in message.blocks if block.get("type") == "tool_use"]


def is_question(message: Plain) -> bool:
    """Say whether a message is a user's own, not the result of a call, a summary or a truncation line."""
    return message.kind == "message" and message.role == "user" and not results_in(message)


def parted(history: Sequence[Plain]) -> tuple[list[Plain], list[Plain]]:
    """Return what a condense hides and what stays: the messages at the end that nobody has answered."""
    at = len(history)
    while at and is_question(history[at - 1]):
        at -= 1
    return list(history[:at]), list(history[at:])


def pairs(history: Sequence[Plain]) -> Iterator[tuple[int, int | None]]:
    """Yield the places of each call and of its result in the user's turn after it, None where it is not there."""
    for at, message in enumerate(history):
        if message.role == "assistant":
            turn = list(_next_turn(history, at))
            answered = [(one["tool_use_id"], place) for place in turn for one in results_in(history[place])]
            for call in calls_in(message):
                yield at, next((place for call_id, place in answered if call_id == call["id"]), None)


def legal_places(history: Sequence[Plain]) -> list[int]:
    """Return the counts of leading messages after which no call waits for its result."""
    ends = []
    for call, result in pairs(history):
        left_behind = max(_next_turn(history, call), default=len(history)) + 1
        ends.append((call, left_behind if result is None else result))
    return [place for place in range(len(history) + 1) if not any(call < place <= end for call, end in ends)]


def tokens(blocks: Sequence[Any]) -> int:
    """Return a quarter of the characters, rounded up once: the data's token rule."""
    return math.ceil(sum(map(_characters, blocks)) / 4)


def tokens_of_all(history: Sequence[Plain]) -> int:
    """Return the tokens of messages, each rounded up."""
    return sum(tokens(message.blocks) for message in history)


def text_tokens(*texts: str) -> int:
    """Return the tokens of texts that are counted together."""
    return math.ceil(sum(map(len, texts)) / 4)


def overhead_tokens(given: Json) -> int:
    """Return the tokens of the system prompt and the tools."""
    tools = (given.get("metadata") or {}).get("tools") or ()
    return text_tokens(given["systemPrompt"]) + (text_tokens(_compact(list(tools))) if tools else 0)


def commands_in(text: str) -> list[str]:
    """Return the `<command …>…</command>` stretches of a text."""
    return _COMMAND.findall(text)


def commands_in_force(messages: Sequence[Json]) -> list[str]:
    """Return the commands of the first message of the user's, then those that summaries kept, each once."""
    first = next((plain(one) for one in messages if one["role"] == "user" and plain(one).kind == "message"), None)
    texts = _texts(first) if first else []
    for message in messages:
        if message.get("isSummary"):
            texts += [text for text in _texts(plain(message))[1:] if _KEEPS_COMMANDS.match(text)]
    return list(dict.fromkeys(command for text in texts for command in commands_in(text)))


def request_in_work(messages: Sequence[Json], history: Sequence[Plain]) -> str:
    """Return the user's last message where the work on it goes on: the history ends with a call or its result."""
    hidden, kept = parted(history)
    if kept or not hidden or (hidden[-1].role == "assistant" and not calls_in(hidden[-1])):
        return ""
    own = (plain(one) for one in reversed(messages))
    return next((_words(one) for one in own if is_question(one) and one.blocks and not _is_result_as_text(one)), "")


def known_files(messages: Sequence[Json]) -> dict[str, str]:
    """Return the files that finished calls of Roo Code's tools wrote (`edited`) or only read (`read`)."""
    calls: dict[str, Any] = {}
    known: dict[str, str] = {}
    for message in map(plain, messages):
        calls.update((call["id"], call) for call in calls_in(message) if message.role == "assistant")
        for result in results_in(message):
            call = calls.get(result["tool_use_id"], {"name": "", "input": {}})
            path = call["input"].get("path")
            if not result.get("is_error") and isinstance(path, str) and path:
                if call["name"] in _WRITES:
                    known[path] = "edited"
                elif call["name"] in _READS:
                    known.setdefault(path, "read")
    return known


def _next_turn(history: Sequence[Plain], call: int) -> Iterator[int]:
    """Yield the places of the user's turn after the assistant's turn that a call is in."""
    place = call
    while place < len(history) and history[place].role == "assistant":
        place += 1
    while place < len(history) and history[place].role == "user":
        yield place
        place += 1


def _words(message: Plain) -> str:
    texts = [text for text in _texts(message) if text]
    typed = [text for text in texts if not text.lstrip().startswith(_ADDED)]
    words = _WRAPPER.sub("", "\n\n".join(typed)).strip()
    commands = [command for text in texts if not _is_environment(text) for command in commands_in(text)]
    parts = [words, *commands] if words else [text for text in texts if not _is_environment(text)]
    parts += ["[Image]" for block in message.blocks if block.get("type") == "image"]
    return "\n\n".join(dict.fromkeys(part for part in parts if part.strip()))


def _is_environment(text: str) -> bool:
    return text.lstrip().startswith("<environment_details>")


def _is_result_as_text(message: Plain) -> bool:
    return _RESULT_AS_TEXT.match(message.blocks[0].get("text", "")) is not None


def _texts(message: Plain) -> list[str]:
    return [block["text"] for block in message.blocks if block.get("type") == "text"]


def _plain_block(block: Any) -> Any:
    if not isinstance(block, Mapping) or block.get("type") != "tool_result":
        return block
    content = block.get("content")
    parts = [_plain_block(part) for part in content] if isinstance(content, list) else content or ""
    result = {"type": "tool_result", "tool_use_id": block.get("tool_use_id"), "content": parts or ""}
    return {**result, "is_error": True} if block.get("is_error") else result


def _characters(block: Any) -> int:
    match block.get("type"):
        case "text":
            return len(block["text"])
        case "thinking":
            return len(block["thinking"])
        case "tool_use":
            return len(block["name"]) + len(_compact(block["input"]))
        case "tool_result":
            content = block["content"]
            return len(content) if isinstance(content, str) else sum(map(_characters, content))
        case "image":
            return _IMAGE_CHARACTERS
    return 0


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
