"""The demo: its profile, and the sample project it works on."""

import tempfile
from pathlib import Path

from roo_tui.llm.options import Profile

DEMO_PROFILE = Profile(name="demo", provider="demo", model="demo")


def sample_workspace() -> Path:
    """Make the demo's sample project in a new temporary folder and return its path."""
    from roo_tui.llm.demo.workspace import make

    return make(Path(tempfile.mkdtemp(prefix="roo-tui-demo-")))
