"""The settings as one frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from roo_tui.context import ContextOptions
from roo_tui.llm.options import Profile
from roo_tui.settings.options import AppearanceOptions, ApprovalOptions, CheckpointOptions, HookOptions

Source = Literal["default", "user file", "project file", "environment", "command line"]

DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where settings were loaded from, so that they can be loaded again after a change.

    `environ` holds only the variables that are settings. `overrides` are dotted keys; `active.model` means the model of
    the active profile.
    """

    file: Path | None = None
    workspace: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    overrides: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its value; always valid.

    `profiles` always has `default` and the one `profile` names. `source` maps each dotted key to where its value came
    from. `problems` are sentences about values that could not be used, each naming file, key, value and what is valid.
    """

    profile: str = DEFAULT_PROFILE
    profiles: Mapping[str, Profile] = field(default_factory=lambda: {DEFAULT_PROFILE: Profile(name=DEFAULT_PROFILE)})
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
        """The profile that is in use."""
        return self.profiles[self.profile]

    def value(self, key: str) -> Any:
        """Return the value of a dotted key, for example `context.threshold_percent` or `profiles.default.model`.

        Raises:
            KeyError: there is no such setting.
        """
        section, _, name = key.partition(".")
        try:
            if section == "profiles":
                profile, _, name = name.rpartition(".")
                return getattr(self.profiles[profile], name)
            return getattr(getattr(self, section), name) if name else getattr(self, key)
        except AttributeError:
            raise KeyError(key) from None
