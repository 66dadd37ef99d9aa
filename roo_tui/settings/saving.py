"""Change the user's settings file: comments, order and unknown keys stay as they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roo_tui import paths
from roo_tui.atomic_file import write_text
from roo_tui.domain.errors import SettingsError
from roo_tui.plain_text import well_formed
from roo_tui.settings.loading import VERSION, load, read_toml
from roo_tui.settings.schema import field_of
from roo_tui.settings.values import Settings

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def save(changes: Mapping[str, Any], *, file: Path | None = None) -> Settings:
    """Write dotted keys (`{"context.threshold_percent": 80}`) and return the settings as they are loaded then.

    `None` removes a key, so that its default holds again; `{"profiles.fast": None}` removes a profile.

    Raises:
        SettingsError: a value is not valid, or the file is broken, newer than this program, or not writable. Nothing
            was changed.
    """
    _write({key: _checked(key, value) for key, value in changes.items()}, file or paths.settings_file())
    return load(file=file)


def change(current: Settings, changes: Mapping[str, Any], *, keep: bool = True) -> Settings:
    """Return the settings loaded anew with the changes, which hold from now on whatever other sources say.

    `active.` in a key means the active profile. `keep` writes the changes to the user's file; otherwise they hold for
    this process only.

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


def _replaced(key: str, changes: Mapping[str, Any], active: str) -> bool:
    """Say whether an override gives way; those of the active profile do so when another profile is chosen."""
    if key.startswith("active."):
        return "profile" in changes or f"profiles.{active}.{key.removeprefix('active.')}" in changes
    return key in changes


def _holds(settings: Settings, key: str, value: Any) -> bool:
    try:
        return bool(settings.value(key) == value)
    except KeyError:
        return False


def _write(changes: Mapping[str, Any], file: Path) -> None:
    document = _document(file)
    for key, value in changes.items():
        _put(document, _parts(key), value)
    document["version"] = VERSION
    try:
        write_text(file, document.as_string())
    except OSError as error:
        raise SettingsError(
            f"{file} cannot be written ({error.strerror or error}). Check the folder's permissions."
        ) from error


def _checked(key: str, value: Any) -> Any:
    found = field_of(key)
    if value is None and (found is not None or key.startswith("profiles.")):
        return None
    if found is None:
        raise SettingsError(f"{key} is not a setting. See the settings table of the README.")
    try:
        checked = found.check(value)
    except ValueError as error:
        raise SettingsError(f"{key} {error}.") from error
    if isinstance(checked, str):
        return well_formed(checked)
    return tuple(well_formed(part) for part in checked) if isinstance(checked, tuple) else checked


def _document(file: Path) -> "TOMLDocument":
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        version = read_toml(file).get("version", VERSION)
        document = tomlkit.parse(file.read_text(encoding="utf-8-sig")) if file.exists() else tomlkit.document()
    except (ValueError, TOMLKitError) as error:
        raise SettingsError(
            f"{file} {error}; it is not overwritten. Mend it or move it away, then save again."
        ) from error
    if not isinstance(version, int) or version > VERSION:
        raise SettingsError(
            f"{file} is of version {version}; this program knows version {VERSION}. Install a newer one."
        )
    return document


def _parts(key: str) -> list[str]:
    """Split a dotted key; a profile's name may hold dots itself."""
    if not key.startswith("profiles."):
        return key.split(".")
    name = key.removeprefix("profiles.")
    if field_of(key) is None:
        return ["profiles", name]
    profile, _, setting = name.rpartition(".")
    return ["profiles", profile, setting]


def _put(document: "TOMLDocument", parts: list[str], value: Any) -> None:
    import tomlkit

    table: Any = document
    for part in parts[:-1]:
        if not isinstance(table.get(part), Mapping):
            if value is None:
                return
            table[part] = tomlkit.table(is_super_table=part == "profiles")
        table = table[part]
    if value is None:
        table.pop(parts[-1], None)
        return
    if isinstance(value, str) and "\n" in value and "\r" not in value and not value.startswith("\n"):
        value = tomlkit.string(value, multiline=True)
    table[parts[-1]] = list(value) if isinstance(value, tuple) else value
