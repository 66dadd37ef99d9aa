"""Save settings to the user's file and keep its comments, order and unknown keys."""

import json
import tomllib
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

from roo_tui import paths
from roo_tui.atomic_file import write_text
from roo_tui.domain.errors import SettingsError
from roo_tui.plain_text import well_formed
from roo_tui.settings.loading import VERSION, load, read_toml
from roo_tui.settings.schema import NAMED_SECTIONS, SettingValue, field_of
from roo_tui.settings.structured import is_in_one_place, same_content, update_table
from roo_tui.settings.values import Settings

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def save(changes: Mapping[str, object], *, file: Path | None = None) -> Settings:
    """Write values by dotted key (`{"context.threshold_percent": 80}`) and return the settings loaded from the result.

    `None` removes a key, which restores its default; `{"profiles.fast": None}` removes a profile. A setting that the
    file holds as tables is written as tables.

    Raises:
        SettingsError: a value is not valid, or the file is not valid, of a newer version, or not writable. Nothing was
            changed.
    """
    _write({key: _checked(key, value) for key, value in changes.items()}, file or paths.settings_file())
    return load(file=file)


def change(current: Settings, changes: Mapping[str, object], *, keep: bool = True) -> Settings:
    """Return the settings, loaded again with the changes, which override every other source from now on.

    `active.` in a key means the active profile. With `keep`, the changes are written to the user's file; otherwise they
    last as long as this process.

    Raises:
        SettingsError: as `save` does.
    """
    origin = current.origin
    changes = {key.replace("active.", f"profiles.{current.profile}.", 1): value for key, value in changes.items()}
    checked = {key: _checked(key, value) for key, value in changes.items()}
    if keep:
        _write(checked, origin.file or paths.settings_file())
    overrides = {key: value for key, value in origin.overrides.items() if not _replaced(key, checked, current.profile)}
    renewed = load(file=origin.file, workspace=origin.workspace, environ=origin.environ, overrides=overrides)
    beaten = {key: value for key, value in checked.items() if value is not None and not _holds(renewed, key, value)}
    if not beaten:
        return renewed
    return load(file=origin.file, workspace=origin.workspace, environ=origin.environ, overrides={**overrides, **beaten})


def _replaced(key: str, changes: Mapping[str, object], active: str) -> bool:
    """Return whether the changes replace an override; choosing a profile replaces all those of the active one."""
    if key.startswith("active."):
        return "profile" in changes or f"profiles.{active}.{key.removeprefix('active.')}" in changes
    return key in changes


def _holds(settings: Settings, key: str, value: SettingValue) -> bool:
    try:
        found = settings.value(key)
    except KeyError:
        return False
    field = field_of(key)
    if field and field.structure:
        return same_content(str(found), str(value))
    return found == value


def _write(changes: Mapping[str, SettingValue], file: Path) -> None:
    text = _text(file)
    for key, value in {**changes, "version": VERSION}.items():
        text = _with(text, key, value, file)
    try:
        write_text(file, text)
    except OSError as error:
        raise SettingsError(
            f"{file} cannot be written ({error.strerror or error}). Check the folder's permissions."
        ) from error


def _checked(key: str, value: object) -> SettingValue:
    found = field_of(key)
    if value is None and (found is not None or key.partition(".")[0] in NAMED_SECTIONS):
        return None
    if found is None:
        raise SettingsError(f"{key} is not a setting. The settings screen (F2) lists them all.")
    try:
        checked = found.check(value)
    except ValueError as error:
        raise SettingsError(f"{key} {error}.") from error
    if isinstance(checked, str):
        return well_formed(checked)
    return tuple(well_formed(part) for part in checked) if isinstance(checked, tuple) else checked


def _text(file: Path) -> str:
    """Return the content of the file, "" if there is none.

    Raises:
        SettingsError: it must not be overwritten, because it is not valid or of a newer version.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        version = read_toml(file).get("version", VERSION)
        text = file.read_text(encoding="utf-8-sig") if file.exists() else ""
        tomlkit.parse(text)
    except (ValueError, TOMLKitError) as error:
        raise SettingsError(
            f"{file} {error}. It was not overwritten. Correct it or move it away, then save again."
        ) from error
    if not isinstance(version, int) or version > VERSION:
        raise SettingsError(
            f"{file} has version {version}, but this roo-tui only knows version {VERSION}. Install a newer roo-tui."
        )
    return text


def _with(text: str, key: str, value: SettingValue, file: Path) -> str:
    """Return the text of a settings file with one value changed; everything else stays, comments included.

    A new table among keys like `context.strategy_thresholds.smart.stop_tokens = 3` would swallow the keys below it.
    The result is therefore parsed, and if it does not mean what it should, the value is written on a single line.

    Raises:
        SettingsError: the value cannot be written in either way.
    """
    import tomlkit

    for inline in (False, True):
        document = tomlkit.parse(text)
        _put(document, key, value, inline=inline)
        changed = document.as_string()
        if _reads_as(changed, document.unwrap()):
            return changed
    raise SettingsError(
        f"{key} cannot be saved: {file} has parts of one table in several places. Put them together, then save again."
    )


def _reads_as(text: str, intended: Mapping[str, object]) -> bool:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return _comparable(found) == _comparable(intended)


def _comparable(value: object) -> object:
    """Return a value that can be compared: without empty tables, which may disappear, and with `nan` as text."""
    if isinstance(value, Mapping):
        parts = {key: _comparable(part) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part != {}}
    if isinstance(value, list):
        return [_comparable(part) for part in value]
    return value if value == value else "nan"


def _parts(key: str) -> list[str]:
    """Split a dotted key; the name of a profile or model in it may contain dots."""
    section, _, rest = key.partition(".")
    if section not in NAMED_SECTIONS:
        return key.split(".")
    if field_of(key) is None:
        return [section, rest]
    name, _, setting = rest.rpartition(".")
    return [section, name, setting]


def _put(document: "TOMLDocument", key: str, value: SettingValue, *, inline: bool) -> None:
    """Set or remove a value; one held as tables is written as tables. With `inline`, new tables take one line."""
    import tomlkit

    *sections, name = _parts(key)
    table: MutableMapping[str, object] = document
    for section in sections:
        inner = table.get(section)
        if not isinstance(inner, MutableMapping):
            if value is None:
                return
            inner = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=section in NAMED_SECTIONS)
            table[section] = inner
        table = inner
    field, present = field_of(key), table.get(name)
    if value is None or (value == "" and isinstance(present, Mapping)):
        table.pop(name, None)
    elif field and field.structure and isinstance(present, MutableMapping) and isinstance(value, str):
        content = json.loads(value)
        if inline or not is_in_one_place(present):
            table.pop(name)
            table[name] = tomlkit.inline_table() | content
        else:
            update_table(present, content)
    elif isinstance(value, str) and "\n" in value and "\r" not in value and not value.startswith("\n"):
        table[name] = tomlkit.string(value, multiline=True)
    else:
        table[name] = list(value) if isinstance(value, tuple) else value
