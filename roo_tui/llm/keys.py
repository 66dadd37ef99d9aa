"""Where API keys come from: the environment, else a file only its owner can read. A key is never logged or shown."""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from roo_tui import paths
from roo_tui.domain.errors import MissingKey

_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY"}


def find_key(provider: str, *, environ: Mapping[str, str] | None = None, file: Path | None = None) -> str:
    """Return the provider's key, "" if there is none (or it needs none).

    The key file is TOML, one line a provider: `anthropic = "…"`.

    Raises:
        MissingKey: the key file is readable by others, or is not TOML.
    """
    if provider not in _VARIABLES:
        return ""
    environ = os.environ if environ is None else environ
    file = file or paths.key_file()
    return environ.get(_VARIABLES[provider], "").strip() or _from_file(provider, file)


def missing_key(provider: str) -> MissingKey:
    """Return the error that says where the provider's key can be put."""
    return MissingKey(
        f"No API key for {provider} was found. Set the environment variable {_VARIABLES[provider]}, or write the line "
        f'{provider} = "YOUR KEY" into {paths.key_file()} and make it readable by you alone (chmod 600). '
        "Without a key, --demo shows everything offline.",
        code="missing_key",
    )


def _from_file(provider: str, file: Path) -> str:
    try:
        with file.open("rb") as opened:
            if stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
                raise MissingKey(
                    f"The key file {file} can be read by others and is not used. Run: chmod 600 {file}",
                    code="unsafe_key_file",
                )
            keys = tomllib.load(opened)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        # The file's text is not repeated: it holds keys.
        raise MissingKey(
            f'The key file {file} cannot be read as TOML. Each line is to read like: {provider} = "YOUR KEY"',
            code="unreadable_key_file",
        ) from None
    value = keys.get(provider, "")
    return value.strip() if isinstance(value, str) else ""
