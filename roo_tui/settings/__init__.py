"""Settings: each room's options composed, read from files, environment and command line, and saved.

Start with `loading` (which value wins); `schema` knows what is valid. API keys are no settings;
where they are found (`find_key`) is handed on for the front ends.
"""

from roo_tui.llm.keys import find_key, missing_key
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
    "project_file",
    "save",
]
