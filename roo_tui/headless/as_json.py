"""Turn domain values into JSON, in the shape that `stream-json` and `--json` promise to scripts."""

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from roo_tui.domain.events import Event
from roo_tui.domain.json_value import JsonValue

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def encode(value: object) -> str:
    """Return a value as one line of JSON, in ASCII so that it survives any terminal and pipe."""
    return json.dumps(plain(value))


def plain(value: object) -> JsonValue:
    """Return a value that JSON can hold: dataclasses become objects, sequences lists, and anything else text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def fields_of(value: "DataclassInstance") -> dict[str, JsonValue]:
    """Return a dataclass's fields by name, as values that JSON can hold."""
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


def event_object(event: Event) -> dict[str, JsonValue]:
    """Return an event's fields, with its class name as `type`; the type of a streamed block becomes `block_type`."""
    found = fields_of(event)
    if "type" in found:
        found["block_type"] = found.pop("type")
    return {"type": type(event).__name__, **found}
