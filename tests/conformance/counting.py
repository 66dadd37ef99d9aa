"""Errors of the context window, and tokens."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from roo_tui.context.window.overflow import recognise
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.errors import ModelError
from roo_tui.domain.requests import ModelInfo
from roo_tui.store.exchange.roo_code import from_tagged
from tests.conformance.histories import Json
from tests.conformance.verdict import Findings

_WINDOW = 200_000
_PLACES = (("error",), ("error", "error"), ("response",), ("$metadata",))
_TOO_LONG = re.compile(r"long|large|exceed|limit|length|window|many|maximum|over", re.IGNORECASE)
_OF_INPUT = re.compile(r"context|prompt|input|token|message|request|entity", re.IGNORECASE)
_OUTPUT = re.compile(r"output tokens|max_(?:completion_)?tokens", re.IGNORECASE)


def context_error(given: Json, recorded: Any, found: Findings) -> None:
    """The same errors say that the context is too long, but where Roo Code misjudges them."""
    error = model_error(given["error"])
    ours = recognise(error, _WINDOW, _WINDOW) is not None
    if ours == recorded:
        return
    text = f"{error} {error.code}"
    if ours:
        found.check(error.status not in (401, 403, 404, 429) and error.status < 500, f"status {error.status} says more")
        says = _TOO_LONG.search(text) is not None and _OF_INPUT.search(text) is not None
        found.check(says or error.status == 413, f"nothing says that it is too long: {text}")
    else:
        about_context = re.search(r"context.{0,20}(?:length|window|size)|prompt is too long", text, re.IGNORECASE)
        found.check(about_context is None or _OUTPUT.search(text) is not None, f"it is about the context: {text}")
    found.better("errors-by-what-they-say")


def model_error(error: Any) -> ModelError:
    """Return an error as an adapter of a provider gives it: status, code and message, wherever the client has them."""
    if not isinstance(error, Mapping):
        return ModelError(str(error))
    nested = [error, *(part for place in _PLACES if isinstance(part := _at(error, place), Mapping))]
    statuses = [part.get(name) for part in nested for name in ("status", "httpStatusCode", "code")]
    status = next((int(str(one)) for one in statuses if _is_number(one)), 0)
    codes = [part.get(name) for part in nested[::-1] for name in ("code", "type")]
    code = next((one for one in codes if isinstance(one, str) and not _is_number(one) and one != "error"), "")
    messages = [part.get("message") for part in nested[::-1]]
    message = next((one for one in messages if isinstance(one, str)), str(error.get("name") or ""))
    return ModelError(message, status=status, code=code, body=json.dumps(error))


def tokens(given: Json, recorded: Any, found: Findings) -> None:
    """The same words make the same tokens; ours counts a call's name and arguments, and a picture by its size."""
    ((body, _),) = from_tagged([{"role": "user", "content": given["content"]}])
    counter, factor = TokenCounter(), ModelInfo("any", "").token_factor
    blocks = body.blocks
    ours = math.ceil(factor * counter.count_blocks(blocks))
    if ours == recorded:
        return
    parts = [part for block in given["content"] for part in _parts(block)]
    kinds = {block["type"] for block in [*given["content"], *parts]}
    if kinds & {"image", "thinking"} or kinds - {"text", "tool_use", "tool_result"}:
        found.better("pictures-and-reasoning-are-counted")
    elif found.check(kinds != {"text"}, f"{recorded} tokens of text were recorded, ours are {ours}"):
        calls = sum(block["type"] in ("tool_use", "tool_result") for block in given["content"])
        found.check(
            recorded - _FRAME * factor * calls <= ours <= recorded, f"{recorded} were recorded, ours are {ours}"
        )
        found.better("calls-are-counted-without-a-frame")


# "Tool: ", "\nArguments: ", "Tool Result (id)\n", "[Error]\n": Roo Code counts words around calls that are not sent.
_FRAME = 20


def _parts(block: Json) -> list[Any]:
    content = block.get("content")
    return content if isinstance(content, list) else []


def _at(value: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _is_number(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, str) and value.isdigit())
