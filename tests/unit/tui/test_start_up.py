"""What is imported before the first frame."""

import subprocess
import sys


def test_the_app_paints_without_engine_sdk_or_any_screen_but_the_chat() -> None:
    code = "import roo_tui.tui.app, sys; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    late = {"roo_tui.engine", "roo_tui.settings", "roo_tui.domain.entries", "roo_tui.domain.events", "anthropic"}
    late |= {"rapidfuzz", "tiktoken", "pydantic", "sqlite3", "roo_tui.tui.dispatcher"}
    assert not loaded & late
    screens = {name.split(".")[3] for name in loaded if name.startswith("roo_tui.tui.screens.")}
    assert screens == {"chat"}
