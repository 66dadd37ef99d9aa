"""Models: the protocol, one adapter for each provider, retries, and what is known of each model.

Start with `protocol.Model`. Nothing here imports a provider's SDK before the first call.
"""

from roo_tui.domain.errors import SettingsError
from roo_tui.llm.anthropic_model import AnthropicModel
from roo_tui.llm.catalog import Catalog
from roo_tui.llm.demo_model import SPEED, DemoModel
from roo_tui.llm.keys import find_key
from roo_tui.llm.options import Profile
from roo_tui.llm.protocol import Model
from roo_tui.llm.retry import Restarted, with_retries

__all__ = ["Catalog", "Model", "Profile", "Restarted", "build", "find_key", "with_retries"]


def build(profile: Profile, *, key: str, catalog: Catalog, demo_speed: float = SPEED) -> Model:
    """Return the model of a profile. `demo_speed` is tokens per second, 0 for no waiting; other providers ignore it.

    An empty `key` is no error here: the first call raises `MissingKey`, which says where a key can be put.

    Raises:
        SettingsError: the profile's provider is unknown.
    """
    info = catalog.info(profile.provider, profile.model)
    match profile.provider:
        case "anthropic":
            return AnthropicModel(info, key=key, base_url=profile.base_url)
        case "demo":
            return DemoModel(info, speed=demo_speed)
        case _:
            raise SettingsError(
                f"The profile {profile.name} has the provider “{profile.provider}”; valid are anthropic and demo."
            )
