"""Which inputs no sequence of operations can produce, told from the input alone.

Turns, condenses, truncations and rewinds make histories with certain properties whatever is said in them. A history
without one of them was not made by operations; the reasons below say which property it lacks.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.conformance.histories import Json

STORED = {
    "cleanupAfterTruncation",
    "getEffectiveApiHistory",
    "getMessagesSinceLastSummary",
    "manageContext",
    "rewind",
    "rewindEveryPosition",
    "summarizeConversation",
    "truncateConversation",
}
_PARENTS = (("condenseParent", "isSummary", "condenseId"), ("truncationParent", "isTruncationMarker", "truncationId"))


def why_unreachable(function: str, given: Json) -> str:
    """Return why no sequence of operations makes this input of a function, empty if one may.

    What the tags of a history are like only counts where a function is given a whole stored history.
    """
    messages = _messages(given)
    properties = _OF_CONTENTS + _OF_TAGS if function in STORED else _OF_CONTENTS
    reasons = (reason for reason, holds in properties if not holds(messages))
    rewound = "clineMessages" in given and not _times_ascend(given)
    return next(
        reasons, "times are missing or do not ascend: both lists are appended to as time goes on" if rewound else ""
    )


def _messages(given: Json) -> list[Any]:
    if "history" in given:
        return [*given["history"], given["userMessage"]]
    if "message" in given:
        return [given["message"]]
    return list(given.get("messages", given.get("apiConversationHistory", ())))


def _blocks(messages: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    for message in messages:
        if isinstance(message["content"], list):
            yield from ((message, block) for block in message["content"])


def _contents_are_readable(messages: Sequence[Any]) -> bool:
    return all(isinstance(message.get("content"), str | list) for message in messages)


def _calls_have_inputs(messages: Sequence[Any]) -> bool:
    return all(isinstance(block.get("input"), dict) for _, block in _blocks(messages) if block["type"] == "tool_use")


def _results_are_texts_and_images(messages: Sequence[Any]) -> bool:
    results = [block for _, block in _blocks(messages) if block["type"] == "tool_result"]
    contents = [result.get("content", "") for result in results]
    parts = [part["type"] for content in contents if isinstance(content, list) for part in content]
    return all(isinstance(content, str | list) for content in contents) and set(parts) <= {"text", "image"}


def _blocks_stand_in_their_role(messages: Sequence[Any]) -> bool:
    own = {"tool_use": "assistant", "thinking": "assistant", "tool_result": "user"}
    return all(own.get(block["type"], message["role"]) == message["role"] for message, block in _blocks(messages))


def _call_ids_are_unique(messages: Sequence[Any]) -> bool:
    ids = Counter(block["id"] for _, block in _blocks(messages) if block["type"] == "tool_use")
    return all(count == 1 for count in ids.values())


def _markers_are_the_users(messages: Sequence[Any]) -> bool:
    return all(message["role"] == "user" for message in messages if _is_marker(message))


def _markers_have_ids(messages: Sequence[Any]) -> bool:
    for _, flag, name in _PARENTS:
        ids = [message.get(name) for message in messages if message.get(flag)]
        if len(set(ids)) < len(ids) or not all(ids):
            return False
    return True


def _markers_are_text(messages: Sequence[Any]) -> bool:
    return all(block["type"] == "text" for message, block in _blocks(messages) if _is_marker(message))


def _markers_follow_what_they_hide(messages: Sequence[Any]) -> bool:
    for parent, flag, name in _PARENTS:
        places = {message.get(name): at for at, message in enumerate(messages) if message.get(flag)}
        if any(places.get(message.get(parent), at + 1) <= at for at, message in enumerate(messages)):
            return False
    return True


def _truncations_spare_markers(messages: Sequence[Any]) -> bool:
    return not any(message.get("isTruncationMarker") and message.get("truncationParent") for message in messages)


def _truncations_hide_something(messages: Sequence[Any]) -> bool:
    hidden = {message.get("truncationParent") for message in messages}
    return all(message.get("truncationId") in hidden for message in messages if message.get("isTruncationMarker"))


def _truncations_hide_one_stretch(messages: Sequence[Any]) -> bool:
    ids = {message.get("truncationId") for message in messages if message.get("isTruncationMarker")}
    for at, marker in enumerate(messages):
        if marker.get("isTruncationMarker"):
            own = marker.get("truncationId")
            tagged = [place for place in range(at) if messages[place].get("truncationParent") == own]
            between = messages[tagged[0] : at] if tagged else []
            if not all(one.get("truncationParent") in ids or one.get("isTruncationMarker") for one in between):
                return False
    return True


def _is_marker(message: Any) -> bool:
    return bool(message.get("isSummary") or message.get("isTruncationMarker"))


def _times_ascend(given: Json) -> bool:
    for messages in (given["clineMessages"], given["apiConversationHistory"]):
        times = [message.get("ts") for message in messages]
        if None in times or times != sorted(times):
            return False
    return True


_Properties = tuple[tuple[str, Callable[[Sequence[Any]], bool]], ...]

_OF_CONTENTS: _Properties = (
    ("a content is neither a text nor a list of blocks", _contents_are_readable),
    ("the input of a call is no object: no provider streams such a call", _calls_have_inputs),
    ("a result holds something else than texts and images: no tool gives it", _results_are_texts_and_images),
    ("a block stands in the other role", _blocks_stand_in_their_role),
    ("two calls have one id: providers make a new one for each", _call_ids_are_unique),
)
_OF_TAGS: _Properties = (
    ("a summary or truncation marker is the assistant's: both are made as the user's", _markers_are_the_users),
    ("a marker has no id, or that of another: each is made with a new one", _markers_have_ids),
    ("a marker holds something else than text: both are made of text", _markers_are_text),
    (
        "a message carries the id of a marker before it: markers hide what was there already",
        _markers_follow_what_they_hide,
    ),
    ("a truncation hides a truncation's marker: it does not count markers", _truncations_spare_markers),
    ("a truncation's marker hides nothing: none is made where nothing is removed", _truncations_hide_something),
    ("a truncation leaves a gap: it hides one stretch, right before its marker", _truncations_hide_one_stretch),
)
