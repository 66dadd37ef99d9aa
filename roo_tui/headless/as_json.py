"""Domain values as JSON: the shape that scripts read from `stream-json` and `--json`."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from roo_tui.domain.events import Event


def encode(value: Any) -> str:
    """Return one line of JSON, ASCII only, so that any text survives any terminal and pipe."""
    return json.dumps(plain(value))


def plain(value: Any) -> Any:
    """Return dataclasses as objects of their fields, sequences as lists; what JSON has no word for becomes text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def event_object(event: Event) -> dict[str, Any]:
    """Return an event's fields with its class name as `type`; a streamed block's own type is called `block_type`."""
    found = plain(event)
    if "type" in found:
        found["block_type"] = found.pop("type")
    return {"type": type(event).__name__, **found}
