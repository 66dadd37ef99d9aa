"""Draws every picture of this folder from the demo: python -m screenshots.take

Needs the development setup. The README's own pictures are drawn as PNG too, by `rsvg-convert` (librsvg), since not
every program that shows a README can show an SVG; without it only the SVG files are drawn.
"""

import asyncio
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from tests.support.demo_app import DemoScreen

HERE = Path(__file__).parent
SIZES = ((120, 40), (80, 24))
TASK = "Fix the failing date test"
# The pictures name no font server: every reader has a monospaced font.
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


_TEXT = re.compile(r'<text ([^>]*?)x="([\d.]+)"([^>]*?)textLength="[\d.]+"([^>]*)>([^<]*)</text>')
_WORDS = re.compile(r"[^\xa0]+(?:\xa0[^\xa0]+)*")
_CELL = 12.2


def main() -> None:
    # The demo's commands name the running Python: in a picture its name is enough.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sys.executable = "python"
    for size in SIZES:
        with tempfile.TemporaryDirectory() as home:
            os.environ |= {"HOME": home, "ROO_TUI_HOME": f"{home}/.roo-tui"}
            asyncio.run(session(size, Path(home, "sample-project")))
    to_png()


async def session(size: tuple[int, int], workspace: Path) -> None:
    """Play the demo once and take a picture at each telling moment."""
    # Imported only now: the demo's script reads the name of the running Python.
    from tests.support.demo_app import demo_app

    async with demo_app(workspace, size=size) as screen:
        await screen.sees("Try this")
        await settle(screen)
        take(screen, "welcome", size)
        await screen.type(TASK)
        await screen.press("enter")
        await screen.sees("Allow execute_command?")
        await screen.press("tab", "y")
        await screen.sees("Allow apply_diff?")
        await settle(screen)
        take(screen, "approval", size)
        await screen.press("tab", "y")
        await screen.until(lambda: "Allow apply_diff?" not in screen.text(), "the edit")
        await screen.sees("Allow execute_command?")
        await screen.press("tab", "y")
        await screen.until(lambda: not screen.engine.busy, "the end of the turn")
        await settle(screen)
        take(screen, "chat", size)
        await open_condense(screen)
        take(screen, "condensed", size)
        await screen.press("escape", "f5")
        await screen.sees("system prompt")
        take(screen, "context", size)
        await screen.press("escape", "ctrl+f")
        await screen.type("month")
        await screen.sees("in context")
        await settle(screen)
        take(screen, "find", size)
        await screen.press("escape", "ctrl+r")
        await screen.sees("Rewind")
        await screen.press("end")
        await screen.sees("billing/dates.py")
        await settle(screen)
        take(screen, "rewind", size)
        await screen.press("escape", "f2")
        await settle(screen)
        take(screen, "settings", size)
        await screen.press("escape", "f3")
        await settle(screen)
        take(screen, "tasks", size)
        await screen.press("escape", "f1")
        await settle(screen)
        take(screen, "help", size)


async def open_condense(screen: "DemoScreen") -> None:
    transcript = screen.app.chat.transcript
    row = next(row for row in await screen.rows() if getattr(row.body, "kind", "") == "condense")
    transcript.scroll_to_key(row.key)
    transcript.toggle(row.key)
    await settle(screen)
    transcript.scroll_to_key(row.key)
    await settle(screen)


async def settle(screen: "DemoScreen") -> None:
    for _ in range(5):
        await screen.pilot.pause(0.05)


def take(screen: "DemoScreen", name: str, size: tuple[int, int]) -> None:
    svg = _FONT_FACE.sub("", screen.app.export_screenshot(title="roo-tui"))
    svg = _TEXT.sub(_placed, svg)
    (HERE / f"{name}-{size[0]}x{size[1]}.svg").write_text(svg, encoding="utf-8")


def _placed(match: re.Match[str]) -> str:
    """Split a text at its wide gaps: some programs drop blanks, or draw them in the width of their own font."""
    start, x, between, end, content = match.groups()
    content = html.unescape(content)
    pieces = []
    for words in _WORDS.finditer(content):
        left = float(x) + _CELL * cell_len(content[: words.start()])
        text = html.escape(words[0], quote=False).replace("\xa0", "&#160;")
        pieces.append(
            f'<text {start}x="{left:.1f}"{between}textLength="{_CELL * cell_len(words[0]):.1f}"{end}>{text}</text>'
        )
    return "".join(pieces)


def to_png() -> None:
    program = shutil.which("rsvg-convert")
    if program is None:
        print("rsvg-convert was not found: no PNG files were made")
        return
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"screenshots/([\w-]+)\.png", readme))):
        svg = HERE / f"{name}.svg"
        subprocess.run([program, "-z", "1.2", svg, "-o", svg.with_suffix(".png")], check=True)


if __name__ == "__main__":
    main()
