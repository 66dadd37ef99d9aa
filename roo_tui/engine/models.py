"""The model adapters in use: one for each profile, kept until the engine closes, even if settings change."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from roo_tui import llm
from roo_tui.llm.catalog import Catalog
from roo_tui.llm.keys import find_key
from roo_tui.llm.options import ModelFacts, Profile
from roo_tui.llm.protocol import Model


class Models:
    """Builds each profile's adapter once. `build` makes it; None uses the real providers (and the demo).

    `facts` are the settings' limits and prices of models.
    """

    def __init__(self, build: Callable[[Profile], Model] | None = None, *, facts: Mapping[str, ModelFacts]) -> None:
        self._own_build = build
        self._built: dict[tuple[Profile, frozenset[tuple[str, ModelFacts]]], Model] = {}
        self.use_facts(facts)

    def use_facts(self, facts: Mapping[str, ModelFacts]) -> None:
        """Use these facts for every adapter that is requested from now on."""
        self._facts = frozenset(facts.items())
        self._build = self._own_build or _from_provider(facts)

    def of(self, profile: Profile) -> Model:
        """Return the profile's adapter."""
        key = (profile, self._facts)
        if key not in self._built:
            self._built[key] = self._build(profile)
        return self._built[key]

    async def close(self) -> None:
        """Close every connection."""
        for model in self._built.values():
            await model.close()
        self._built.clear()


def _from_provider(facts: Mapping[str, ModelFacts]) -> Callable[[Profile], Model]:
    catalog = Catalog.load(facts)

    def build(profile: Profile) -> Model:
        """Build the adapter of a profile, with its API key."""
        return llm.build(profile, key=find_key(profile.provider), catalog=catalog)

    return build


DEMO_PROFILE = Profile(name="demo", provider="demo", model="demo")


def sample_workspace() -> Path:
    """Create the demo's sample project in a new temporary folder and return its path."""
    from roo_tui.llm.demo.workspace import make

    return make(Path(tempfile.mkdtemp(prefix="roo-tui-demo-")))
