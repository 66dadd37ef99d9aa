"""Models: the protocol, one adapter per provider, retries, and the catalog of known models.

Start with `protocol.Model`. Nothing here imports a provider's SDK before the first call.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # The settings import this room's options before the first frame; the rest loads when it is used.
    from roo_tui.llm.catalog import Catalog
    from roo_tui.llm.options import Profile
    from roo_tui.llm.protocol import Model

__all__ = ["build"]


def build(profile: "Profile", *, key: str, catalog: "Catalog", demo_speed: float | None = None) -> "Model":
    """Return the model of a profile. `demo_speed` is tokens per second, 0 for no delay; other providers ignore it.

    An empty `key` is accepted here; the first call then raises `MissingKey`, which says where to put a key.

    Raises:
        SettingsError: the profile's provider is unknown.
    """
    from roo_tui.domain.errors import SettingsError

    info = catalog.info(profile.provider, profile.model)
    match profile.provider:
        case "anthropic":
            from roo_tui.llm.anthropic_model import AnthropicModel

            return AnthropicModel(info, key=key, base_url=profile.base_url)
        case "demo":
            from roo_tui.llm.demo.model import SPEED, DemoModel

            return DemoModel(info, speed=SPEED if demo_speed is None else demo_speed)
        case _:
            raise SettingsError(
                f"Profile “{profile.name}” has the unknown provider “{profile.provider}”; use anthropic or demo."
            )
