"""The settings as one frozen value, with the source of each setting."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from roo_tui.context import ContextOptions
from roo_tui.llm.options import ModelFacts, Profile
from roo_tui.settings.options import AppearanceOptions, ApprovalOptions, CheckpointOptions, HookOptions
from roo_tui.settings.schema import NAMED_SECTIONS, SettingValue, field_of

Source = Literal["default", "user file", "project file", "environment", "command line"]

DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """What settings were loaded from, so that they can be loaded again after a change.

    `environ` has only the variables that are settings. `overrides` are dotted keys; `active.model` means the model of
    the active profile.
    """

    file: Path | None = None
    workspace: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its value; all values are valid.

    `profiles` always has `default` and the active profile; `models` has limits and prices by model id. `source` says
    where the value of each dotted key came from. `problems` are sentences about invalid values; each names the file,
    key, value and what is valid.
    """

    profile: str = DEFAULT_PROFILE
    profiles: Mapping[str, Profile] = field(default_factory=lambda: {DEFAULT_PROFILE: Profile(name=DEFAULT_PROFILE)})
    models: Mapping[str, ModelFacts] = field(default_factory=dict)
    context: ContextOptions = field(default_factory=ContextOptions)
    approvals: ApprovalOptions = field(default_factory=ApprovalOptions)
    checkpoints: CheckpointOptions = field(default_factory=CheckpointOptions)
    hooks: HookOptions = field(default_factory=HookOptions)
    appearance: AppearanceOptions = field(default_factory=AppearanceOptions)
    source: Mapping[str, Source] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin)

    @property
    def active(self) -> Profile:
        """The active profile."""
        return self.profiles[self.profile]

    def value(self, key: str) -> SettingValue:
        """Return the value of a dotted key, for example `context.threshold_percent` or `profiles.default.model`.

        Raises:
            KeyError: there is no such setting.
        """
        if field_of(key) is None:
            raise KeyError(key)
        section, _, name = key.partition(".")
        holder: object = getattr(self, section) if name else self
        if section in NAMED_SECTIONS:
            named, _, name = name.rpartition(".")
            holder = getattr(self, section)[named]
        value: SettingValue = getattr(holder, name or section)
        return value
