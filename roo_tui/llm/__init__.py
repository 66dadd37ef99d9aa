"""Models: the protocol, one adapter per provider, retries, and the catalog of known models.

Start with `protocol.Model` and `providers`, the table of adapters. No provider's SDK is imported before the first call.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The settings import this package's options before the first frame; the rest loads when used.
    from roo_tui.llm.catalog import Catalog
    from roo_tui.llm.options import Profile
    from roo_tui.llm.protocol import Model

__all__ = ["build"]


def build(profile: "Profile", *, key: str, catalog: "Catalog") -> "Model":
    """Return the model of a profile.

    An empty `key` is accepted here; the first call then raises `MissingKey`, which says where to put a key.

    Raises:
        SettingsError: the profile's provider is unknown.
    """
    from importlib import import_module

    from roo_tui.domain.errors import SettingsError
    from roo_tui.llm.providers import PROVIDERS

    if profile.provider not in PROVIDERS:
        raise SettingsError(
            f"Profile “{profile.name}” has the unknown provider “{profile.provider}”; use {' or '.join(PROVIDERS)}."
        )
    adapter = import_module(PROVIDERS[profile.provider].module)
    info = catalog.info(profile.provider, profile.model)
    model: Model = adapter.build(info, key=key, base_url=profile.base_url)
    return model
