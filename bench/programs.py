"""How the measured programs are started: as installed, with their bytecode compiled beforehand."""

import compileall
import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import floors
from bench.probe import Terminal

ROOT = Path(__file__).parents[1]
ROO_PROMPT = "ask, /command, @file"


def floor(kind: str, *arguments: str) -> Terminal:
    """Start a floor; see `bench.floors`."""
    return Terminal([sys.executable, "-m", "bench.floors", kind, *arguments], folder=ROOT)


def roo(home: Path, workspace: Path, *arguments: str, url: str = "http://127.0.0.1:9") -> Terminal:
    """Start roo-tui; everything it writes goes into `home`."""
    environ = {"ROO_TUI_HOME": str(home), "ANTHROPIC_API_KEY": "bench", "ANTHROPIC_BASE_URL": url}
    environ["PYTHONPATH"] = str(ROOT)
    compileall.compile_dir(ROOT / "roo_tui", quiet=1)
    return Terminal([sys.executable, "-m", "roo_tui", *arguments], folder=workspace, environ=environ)


@contextlib.contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """Yield an empty home and an empty workspace."""
    with tempfile.TemporaryDirectory(prefix="roo-tui-bench-", ignore_cleanup_errors=True) as name:
        home, workspace = Path(name, "home"), Path(name, "workspace")
        home.mkdir()
        workspace.mkdir()
        yield home, workspace


@contextlib.contextmanager
def provider() -> Iterator[str]:
    """Yield the base URL of a running `bench.server`.

    Raises:
        TimeoutError: the server ended before it named its port.
    """
    command = [sys.executable, "-m", "bench.server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            port = process.stdout.readline().strip()
            if not port:
                raise TimeoutError("The bench's provider ended before it named its port.")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def ready(terminal: Terminal, prompt: str) -> float:
    """Wait for the prompt, type a letter, and return the ms from the start to its echo; the field is emptied."""
    terminal.shows(prompt, 60)
    terminal.write(b"x")
    echoed = terminal.until(
        lambda one: prompt not in one.text() and "x" in "".join(one.lines[-6:]), 30, "the letter typed at the prompt"
    )
    terminal.write(b"\x15")
    terminal.shows(prompt, 10)
    return (echoed - terminal.began) * 1000


def alternating(rounds: int) -> Iterator[tuple[str, str]]:
    """Yield the order of the two programs in each round, so that neither is always second."""
    for number in range(rounds):
        yield ("ours", "floor") if number % 2 else ("floor", "ours")


FLOOR_PROMPT = floors.PROMPT
