"""Settings of several values: JSON text or tables, read as one and written in the form that they have in the file."""

import json
from collections.abc import Mapping, MutableMapping

from roo_tui.domain.json_value import JsonValue


def json_text(value: object) -> str:
    """Return JSON text, or what tables hold, as indented JSON text; "" where there is nothing in it.

    Both forms of the same content give the same text but for the order of their fields. Fields that are null are left
    out: tables have no null.

    Raises:
        ValueError: it is not JSON, or not an object; the text ends a sentence that begins with the key.
    """
    if isinstance(value, str):
        if not value.strip():
            return ""
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(value, Mapping):
        raise ValueError("must be a JSON object or a table")
    if not value:
        return ""
    try:
        return json.dumps(_without_null(value), indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"holds a value that JSON has no form for: {error}") from error


def same_content(one: str, other: str) -> bool:
    """Say whether two JSON texts hold the same, in whatever order their fields are; blank ones are allowed."""
    return one == other or bool(one and other and json.loads(one) == json.loads(other))


def is_in_one_place(value: object) -> bool:
    """Say whether no table in a value of the settings file has its parts in several places."""
    from tomlkit.container import OutOfOrderTableProxy

    if isinstance(value, Mapping):
        return not isinstance(value, OutOfOrderTableProxy) and all(map(is_in_one_place, value.values()))
    return not isinstance(value, list) or all(map(is_in_one_place, value))


def update_table(table: MutableMapping[str, object], content: Mapping[str, object]) -> None:
    """Make a table of the settings file hold the content; what does not change keeps its comments and its place.

    The table is in one place.
    """
    for key in [key for key in table if key not in content]:
        del table[key]
    for key, value in content.items():
        present = table.get(key)
        if isinstance(present, MutableMapping) and isinstance(value, Mapping):
            update_table(present, value)
        elif isinstance(present, list) and isinstance(value, list) and _are_tables([*present, *value]):
            _update_tables(present, value)
        elif present != value:
            table[key] = value


def _update_tables(tables: list[MutableMapping[str, object]], contents: list[dict[str, object]]) -> None:
    while len(tables) > len(contents):
        del tables[-1]
    for table, content in zip(tables, contents, strict=False):
        update_table(table, content)
    tables.extend(contents[len(tables) :])


def _are_tables(values: list[object]) -> bool:
    return bool(values) and all(isinstance(value, Mapping) for value in values)


def _without_null(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {key: _without_null(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_null(part) for part in value]
    return value
