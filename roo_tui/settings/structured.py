"""Settings with several values: read from JSON text or tables, and written in the form the file already has."""

import json
from collections.abc import Mapping, MutableMapping

from roo_tui.domain.json_value import JsonValue


def json_text(value: object) -> str:
    """Return JSON text or the content of tables as indented JSON text; "" if it is empty.

    Both forms of the same content give the same text, except for the order of fields. Fields that are null are left
    out, because tables have no null.

    Raises:
        ValueError: it is not JSON, or not an object; the text continues a sentence that begins with the key.
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
        raise ValueError(f"contains a value that JSON has no form for: {error}") from error


def same_content(one: str, other: str) -> bool:
    """Return whether two JSON texts have the same content, in any order of fields; both may be blank."""
    return one == other or bool(one and other and json.loads(one) == json.loads(other))


def is_in_one_place(value: object) -> bool:
    """Return whether every table in a value of the settings file is in one place, rather than in scattered parts."""
    from tomlkit.container import OutOfOrderTableProxy

    if isinstance(value, Mapping):
        return not isinstance(value, OutOfOrderTableProxy) and all(map(is_in_one_place, value.values()))
    return not isinstance(value, list) or all(map(is_in_one_place, value))


def update_table(table: MutableMapping[str, object], content: Mapping[str, object]) -> None:
    """Change a table of the settings file to this content; unchanged parts keep their comments and positions.

    All parts of the table must be in one place (`is_in_one_place`).
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
