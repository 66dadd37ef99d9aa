"""The paths of the program's files and folders; nothing here creates one.

If `ROO_TUI_HOME` is set, everything the program writes outside workspaces goes into that folder; otherwise each kind of
file goes where the operating system expects it.
"""

import os
from pathlib import Path

import platformdirs

_NAME = "roo-tui"


def _override() -> Path | None:
    value = os.environ.get("ROO_TUI_HOME", "")
    return Path(value).expanduser().absolute() if value else None


def home() -> Path:
    """Return the program's main folder: `ROO_TUI_HOME` if set, else its folder for user data."""
    return _override() or platformdirs.user_data_path(_NAME)


def data_dir() -> Path:
    """Return the folder of tasks and checkpoints, which must not be lost."""
    moved = _override()
    return moved / "data" if moved else platformdirs.user_data_path(_NAME)


def config_dir() -> Path:
    """Return the folder of settings and keys."""
    moved = _override()
    return moved / "config" if moved else platformdirs.user_config_path(_NAME)


def state_dir() -> Path:
    """Return the folder of logs, which can be deleted at any time."""
    moved = _override()
    return moved / "state" if moved else platformdirs.user_state_path(_NAME)


def log_file() -> Path:
    """Return the path of the log file."""
    return state_dir() / "roo-tui.log"


def settings_file() -> Path:
    """Return the path of the user's settings file (TOML)."""
    return config_dir() / "settings.toml"


def database_file() -> Path:
    """Return the path of the SQLite database that holds every task."""
    return data_dir() / "tasks.sqlite3"


def checkpoints_dir() -> Path:
    """Return the folder that holds one shadow git repository per workspace."""
    return data_dir() / "checkpoints"


def key_file() -> Path:
    """Return the path of the file of API keys, which only its owner may be able to read."""
    return config_dir() / "keys.toml"
