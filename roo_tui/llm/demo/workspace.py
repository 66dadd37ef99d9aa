"""The demo's sample project: a small Python package with one failing test about dates."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

# The suffix keeps linters and test runners from treating the sample as part of this project.
_ENDING = ".txt"


def make(folder: Path) -> Path:
    """Write the sample project into the folder, creating it if needed, and return the folder.

    A folder that is not empty is left unchanged, so that a demo can be resumed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        _copy(resources.files("roo_tui.llm") / "demo_sample", folder)
    return folder


def _copy(source: Traversable, target: Path) -> None:
    for entry in source.iterdir():
        if entry.is_dir():
            (target / entry.name).mkdir()
            _copy(entry, target / entry.name)
        else:
            (target / entry.name.removesuffix(_ENDING)).write_text(entry.read_text(encoding="utf-8"), encoding="utf-8")
