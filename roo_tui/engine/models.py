"""The models in use: one adapter a profile, kept until the engine closes: a running request keeps its own."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from roo_tui import llm
from roo_tui.llm.catalog import Catalog
from roo_tui.llm.keys import find_key
from roo_tui.llm.options import Profile
from roo_tui.llm.protocol import Model


class Models:
    """Makes each profile's adapter once; `build` is what makes it, None for the real providers (and the demo)."""

    def __init__(self, build: Callable[[Profile], Model] | None = None) -> None:
        self._build = build or _from_provider()
        self._built: dict[Profile, Model] = {}

    def of(self, profile: Profile) -> Model:
        """Return the profile's adapter."""
        if profile not in self._built:
            self._built[profile] = self._build(profile)
        return self._built[profile]

    async def close(self) -> None:
        """Let go of every connection."""
        for model in self._built.values():
            await model.close()
        self._built.clear()


def _from_provider() -> Callable[[Profile], Model]:
    catalog = Catalog.load()

    def build(profile: Profile) -> Model:
        return llm.build(profile, key=find_key(profile.provider), catalog=catalog)

    return build


DEMO_PROFILE = Profile(name="demo", provider="demo", model="demo")


def sample_workspace() -> Path:
    """Make the demo's sample project in a new temporary folder and return its path."""
    from roo_tui.llm.demo.workspace import make

    return make(Path(tempfile.mkdtemp(prefix="roo-tui-demo-")))
