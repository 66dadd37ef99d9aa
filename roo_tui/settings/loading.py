"""Load settings from defaults, user file, project file, environment and command line; later sources win."""

import dataclasses
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roo_tui import paths
from roo_tui.context import ContextOptions
from roo_tui.llm.options import ModelFacts, Profile
from roo_tui.llm.providers import PROVIDERS
from roo_tui.settings.options import AppearanceOptions, ApprovalOptions, CheckpointOptions, HookOptions
from roo_tui.settings.schema import NAMED_SECTIONS, SECTIONS, Field, SettingValue, field_of, fields
from roo_tui.settings.values import DEFAULT_PROFILE, Origin, Settings, Source

VERSION = 1

# Others may have written a project's file: it must not decide what runs without approval or where the key is sent.
_PROJECT_MAY_SET = ("context", "checkpoints")

# Settings of earlier versions, and what to tell a user whose file still has one.
_RETIRED = {"approvals.network": "No tool reaches the network; commands follow approvals.command."}


def project_file(workspace: Path) -> Path:
    """Return the path of a workspace's own settings file, which need not exist."""
    return workspace / ".roo" / "settings.toml"


def load(
    *,
    file: Path | None = None,
    workspace: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Return the settings in force. Invalid content never raises: it is left out and reported in `Settings.problems`.

    `overrides` are dotted keys from the command line; `active.model` and `active.base_url` mean the active profile's.
    Every setting has an environment variable, for example `ROO_TUI_CONTEXT_THRESHOLD_PERCENT`, except those of profiles
    and models. `ANTHROPIC_BASE_URL` applies to Anthropic profiles without a base URL.
    """
    environ = os.environ if environ is None else environ
    origin = Origin(file, workspace, _relevant(environ), dict(overrides or {}))
    values = _Values()
    user_file = file or paths.settings_file()
    for key, value in _flat(_read(user_file, values.problems)):
        values.set(key, value, "user file", str(user_file))
    if workspace is not None:
        _apply_project(values, project_file(workspace))
    _apply_environment(values, origin.environ)
    _apply_overrides(values, origin.overrides)
    return values.composed(origin)


@dataclass
class _Values:
    """The values read so far; each is checked when it is set."""

    by_key: dict[str, SettingValue] = field(default_factory=dict)
    source: dict[str, Source] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=lambda: {"profiles": [DEFAULT_PROFILE], "models": []})

    def set(self, key: str, value: object, source: Source, where: str) -> None:
        """Set a value if it is valid, otherwise report it; `where` names its file or variable."""
        if key == "version":
            self._check_version(value, where)
            return
        section, _, name = key.partition(".")
        if section in NAMED_SECTIONS and isinstance(value, Mapping):
            self._add_name(section, name)
            return
        found = field_of(key)
        if found is None:
            self.problems.append(f"{where}: {_unknown(key)}")
            return
        try:
            self.by_key[key] = found.check(value)
        except ValueError as error:
            nearest = found.nearest(value)
            if nearest is not None:
                self.by_key[key] = nearest
            self.problems.append(f"{where}: {key} {error}; {self.in_force(key, found)}.")
            if nearest is None:
                return
        if section in NAMED_SECTIONS:
            self._add_name(section, name.rpartition(".")[0])
        self.source[key] = source

    def _add_name(self, section: str, name: str) -> None:
        if name not in self.names[section]:
            self.names[section].append(name)

    def in_force(self, key: str, found: Field) -> str:
        """Return what is used instead of an invalid value, as the end of a sentence."""
        used = self.by_key.get(key, found.default)
        if used is None or used == "":
            return "it is ignored"
        if isinstance(used, bool):
            return f"{str(used).lower()} is used"
        if isinstance(used, tuple) or found.multiline:
            return "the previous value stays in force"
        return f"“{used}” is used" if isinstance(used, str) else f"{used} is used"

    def _check_version(self, value: object, where: str) -> None:
        if not isinstance(value, int) or value > VERSION:
            self.problems.append(
                f"{where}: version is {value!r}, but this roo-tui only knows version {VERSION}. The settings it "
                "knows are used, and the file is not changed. Install a newer roo-tui to change settings."
            )

    def active(self) -> str:
        """Return the name of the active profile; the default one if the chosen one does not exist."""
        name = str(self.by_key.get("profile", DEFAULT_PROFILE))
        return name if name in self.names["profiles"] else DEFAULT_PROFILE

    def composed(self, origin: Origin) -> Settings:
        """Return the values as settings."""
        chosen = self.by_key.get("profile", DEFAULT_PROFILE)
        if chosen not in self.names["profiles"]:
            known = ", ".join(sorted(self.names["profiles"]))
            self.problems.append(f"There is no profile “{chosen}”; {DEFAULT_PROFILE} is used. Profiles: {known}.")
        return Settings(
            profile=self.active(),
            profiles={
                name: Profile(name=name, **self._section(f"profiles.{name}", Profile))
                for name in self.names["profiles"]
            },
            models={name: ModelFacts(**self._section(f"models.{name}", ModelFacts)) for name in self.names["models"]},
            context=ContextOptions(**self._section("context", ContextOptions)),
            approvals=ApprovalOptions(**self._section("approvals", ApprovalOptions)),
            checkpoints=CheckpointOptions(**self._section("checkpoints", CheckpointOptions)),
            hooks=HookOptions(**self._section("hooks", HookOptions)),
            appearance=AppearanceOptions(**self._section("appearance", AppearanceOptions)),
            source={key: self.source.get(key, "default") for key in self._keys()},
            problems=tuple(self.problems),
            origin=origin,
        )

    def _section(self, prefix: str, options: type) -> dict[str, Any]:
        keys = {option.name: f"{prefix}.{option.name}" for option in dataclasses.fields(options)}
        return {name: self.by_key[key] for name, key in keys.items() if key in self.by_key}

    def _keys(self) -> Iterator[str]:
        for setting in fields():
            if "*" in setting.key:
                names = self.names[setting.key.partition(".")[0]]
                yield from (setting.key.replace("*", name, 1) for name in names)
            else:
                yield setting.key


def _apply_project(values: _Values, file: Path) -> None:
    for key, value in _flat(_read(file, values.problems)):
        if key == "version" or key.partition(".")[0] in _PROJECT_MAY_SET:
            values.set(key, value, "project file", str(file))
        else:
            values.problems.append(
                f"{file}: a project may not set {key}; it is ignored. Set it in {paths.settings_file()}."
            )


def _apply_environment(values: _Values, environ: Mapping[str, str]) -> None:
    for setting in fields():
        text = environ.get(_variable(setting), "")
        if not text or "*" in setting.key:
            continue
        try:
            values.set(setting.key, setting.parse(text), "environment", _variable(setting))
        except ValueError as error:
            values.problems.append(f"{_variable(setting)} {error}; {values.in_force(setting.key, setting)}.")
    usual = Profile("").provider
    for name in values.names["profiles"]:
        key, provider = f"profiles.{name}.base_url", values.by_key.get(f"profiles.{name}.provider", usual)
        variable = PROVIDERS[str(provider)].url_variable
        if (url := environ.get(variable, "")) and not values.by_key.get(key):
            values.set(key, url, "environment", variable)


def _apply_overrides(values: _Values, overrides: Mapping[str, object]) -> None:
    # Which profile is active must be known before its settings are replaced.
    for key, value in sorted(overrides.items(), key=lambda item: item[0].startswith("active.")):
        if key.startswith("active."):
            key = f"profiles.{values.active()}.{key.removeprefix('active.')}"
        values.set(key, value, "command line", "Command line")


def read_toml(file: Path) -> dict[str, object]:
    """Return the content of a TOML file; empty if the file does not exist.

    Raises:
        ValueError: the file cannot be read or is not TOML; the text says why, without naming the file.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"is not valid TOML ({error})") from error
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror or error})") from error


def _read(file: Path, problems: list[str]) -> dict[str, object]:
    try:
        return read_toml(file)
    except ValueError as error:
        problems.append(f"{file} {error}. It is ignored and left unchanged. Correct it or move it away.")
        return {}


def _flat(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield dotted keys and values. A named table is yielded before its settings, so that an empty one counts too."""
    for section, content in document.items():
        if section in NAMED_SECTIONS and isinstance(content, Mapping):
            for name, settings in content.items():
                yield f"{section}.{name}", settings
                if isinstance(settings, Mapping):
                    yield from ((f"{section}.{name}.{key}", value) for key, value in settings.items())
        elif section in SECTIONS and isinstance(content, Mapping):
            yield from ((f"{section}.{key}", value) for key, value in content.items())
        else:
            yield section, content


def _relevant(environ: Mapping[str, str]) -> dict[str, str]:
    names = {_variable(setting) for setting in fields() if "*" not in setting.key} | {
        provider.url_variable for provider in PROVIDERS.values()
    }
    return {name: environ[name] for name in names if name in environ}


def _variable(setting: Field) -> str:
    return "ROO_TUI_" + setting.key.replace(".", "_").upper()


def _unknown(key: str) -> str:
    if key in _RETIRED:
        return f"{key} is no longer a setting and has no effect. {_RETIRED[key]} You can remove the line."
    return f"{key} is not a setting; it is kept, but has no effect."
