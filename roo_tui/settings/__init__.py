"""Settings: the options of every package, read from files, environment and command line, and saved.

Start with `loading` (which value wins); `schema` says what is valid. API keys are not settings; `find_key`,
`missing_key` and `needs_key` are here only because front ends need them.
"""

from roo_tui.llm.keys import find_key, missing_key, needs_key
from roo_tui.llm.options import ModelFacts, Profile
from roo_tui.settings.loading import load, project_file
from roo_tui.settings.options import AppearanceOptions, ApprovalOptions, CheckpointOptions, HookOptions
from roo_tui.settings.saving import change, save
from roo_tui.settings.schema import Field, field_of, fields
from roo_tui.settings.values import DEFAULT_PROFILE, Origin, Settings

__all__ = [
    "DEFAULT_PROFILE",
    "AppearanceOptions",
    "ApprovalOptions",
    "CheckpointOptions",
    "Field",
    "HookOptions",
    "ModelFacts",
    "Origin",
    "Profile",
    "Settings",
    "change",
    "field_of",
    "fields",
    "find_key",
    "load",
    "missing_key",
    "needs_key",
    "project_file",
    "save",
]
