"""Encode entry bodies as JSON, with the field names of the domain's dataclasses, and decode them.

JSON cannot hold lone surrogates, so they are stored as U+FFFD. A body that cannot be decoded becomes `Unknown`.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from roo_tui.domain.entries import Body, Unknown
from roo_tui.plain_text import well_formed

if TYPE_CHECKING:
    from pydantic import TypeAdapter

PAYLOAD_VERSION = 1


def encode(body: Body) -> str:
    """Return the body's JSON, always valid UTF-8."""
    from pydantic_core import PydanticSerializationError

    adapter = _adapter()
    try:
        return adapter.dump_json(body).decode()
    except (PydanticSerializationError, UnicodeEncodeError):
        return json.dumps(_well_formed(adapter.dump_python(body)), ensure_ascii=False)


def decode(text: str, version: int = PAYLOAD_VERSION) -> Body:
    """Return the body that `encode` wrote. Never raises.

    A newer `version`, an unknown kind, or text that is not a valid body gives `Unknown`.
    """
    if version <= PAYLOAD_VERSION:
        # Called for every entry of a task, so that even a repeated import would cost time. Its error is a ValueError.
        with suppress(ValueError):
            return _adapter().validate_json(text)
    from pydantic_core import from_json

    try:
        payload = from_json(text)
    except ValueError:
        payload = None
    return Unknown(payload if isinstance(payload, dict) else {"text": text})


@cache
def _adapter() -> "TypeAdapter[Body]":
    from pydantic import ConfigDict, TypeAdapter

    # Models write NaN and Infinity into tool inputs; null would change them.
    return TypeAdapter(Body, config=ConfigDict(ser_json_inf_nan="constants"))


def _well_formed(value: object) -> object:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {well_formed(str(key)): _well_formed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_well_formed(item) for item in value]
    return value
