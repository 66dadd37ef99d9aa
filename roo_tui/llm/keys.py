"""Find API keys: in the environment, else in a file that only its owner can read. Keys are never logged or shown."""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from roo_tui import paths
from roo_tui.domain.errors import MissingKey
from roo_tui.llm.providers import PROVIDERS


def needs_key(provider: str) -> bool:
    """Return whether a provider is used with a key."""
    return provider in PROVIDERS and bool(PROVIDERS[provider].key_variable)


def find_key(provider: str, *, environ: Mapping[str, str] | None = None, file: Path | None = None) -> str:
    """Return the provider's key, empty if there is none or the provider needs none.

    The key file is TOML with one line per provider: `anthropic = "…"`.

    Raises:
        MissingKey: others can read the key file, or it is not valid TOML.
    """
    if not needs_key(provider):
        return ""
    environ = os.environ if environ is None else environ
    file = file or paths.key_file()
    return environ.get(PROVIDERS[provider].key_variable, "").strip() or _from_file(provider, file)


def missing_key(provider: str) -> MissingKey:
    """Return the error that says where to put the provider's key."""
    variable = PROVIDERS[provider].key_variable
    return MissingKey(
        f"roo-tui found no API key for {provider}. Set the environment variable {variable}, or write the "
        f'line {provider} = "YOUR KEY" into {paths.key_file()} and make the file readable by you alone (chmod 600). '
        "To try roo-tui without a key, start it with --demo.",
        code="missing_key",
    )


def _from_file(provider: str, file: Path) -> str:
    try:
        with file.open("rb") as opened:
            if stat.S_IMODE(os.fstat(opened.fileno()).st_mode) & 0o077:
                raise MissingKey(
                    f"The key file {file} is not used because others can read it. Run: chmod 600 {file}",
                    code="unsafe_key_file",
                )
            keys = tomllib.load(opened)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        # The parser's message may quote the file, which holds keys.
        raise MissingKey(
            f'The key file {file} is not valid TOML. Write each line like this: {provider} = "YOUR KEY"',
            code="unreadable_key_file",
        ) from None
    value = keys.get(provider, "")
    return value.strip() if isinstance(value, str) else ""
