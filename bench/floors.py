"""The smallest programs that do what is measured: `python -m bench.floors input`, `python -m bench.floors lines URL`.

`input` is a bare Textual app with an input field. `lines` streams an answer into one view that keeps drawn lines:
finished paragraphs are drawn once, the open one 15 times a second; no widget is mounted and nothing is stored.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator

from textual.app import App, ComposeResult
from textual.widgets import Input

PROMPT = "say something"
_REDRAWS = 15


async def answer(url: str, words: str) -> AsyncIterator[str]:
    """Ask over a plain socket and yield the pieces of the answer as they arrive."""
    import json

    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
    body = json.dumps({"stream": True, "messages": [{"role": "user", "content": words}]}).encode()
    writer.write(b"POST /v1/messages HTTP/1.1\r\nhost: bench\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    await reader.readuntil(b"\r\n\r\n")
    rest = b""
    while size := int(await reader.readline() or b"0", 16):
        rest += await reader.readexactly(size)
        await reader.readline()
        *events, rest = rest.split(b"\n\n")
        piece = "".join(
            json.loads(event.partition(b"data: ")[2])["delta"]["text"] for event in events if b'"text_delta"' in event
        )
        if piece:
            yield piece
    writer.close()


def finished_part(text: str) -> int:
    """Return how many characters of the text are finished paragraphs; a fenced block counts as one."""
    end = place = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        place += len(line)
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and line == "\n":
            end = place
    return end


class InputApp(App[None]):
    """An input field and nothing else."""

    CSS = "Input { dock: bottom; }"

    def compose(self) -> ComposeResult:
        yield Input(placeholder=PROMPT)

    def on_mount(self) -> None:
        self.query_one(Input).focus()


def lines_app(url: str) -> App[None]:
    """Return the app that streams answers into one view."""
    from rich.markdown import Markdown
    from textual.geometry import Size
    from textual.scroll_view import ScrollView
    from textual.strip import Strip

    class Page(ScrollView, can_focus=False):
        DEFAULT_CSS = "Page { height: 1fr; }"
        kept: list[Strip]
        open: list[Strip]

        def on_mount(self) -> None:
            self.kept, self.open = [], []

        def drawn(self, text: str) -> list[Strip]:
            console = self.app.console
            width = max(20, self.scrollable_content_region.width - 2)
            options = console.options.update(width=width, height=None)
            return [Strip(line) for line in console.render_lines(Markdown(text), options, pad=False)]

        def put(self, finished: str, still_open: str) -> None:
            self.kept += self.drawn(finished) if finished else []
            self.open = self.drawn(still_open) if still_open.strip() else []
            self.virtual_size = Size(self.size.width, len(self.kept) + len(self.open))
            self.scroll_end(animate=False, immediate=False, x_axis=False)
            self.refresh()

        def render_line(self, y: int) -> Strip:
            at = y + self.scroll_offset.y
            beyond = at - len(self.kept)
            if beyond < 0:
                line = self.kept[at]
            else:
                line = self.open[beyond] if beyond < len(self.open) else Strip.blank(self.size.width)
            return line.crop_extend(0, self.size.width, None)

    class LinesApp(InputApp):
        def compose(self) -> ComposeResult:
            yield Page()
            yield Input(placeholder=PROMPT)

        def on_input_submitted(self, event: Input.Submitted) -> None:
            words, event.input.value = event.value, ""
            self.run_worker(self._stream(words))

        async def _stream(self, words: str) -> None:
            page, text, last = self.query_one(Page), "", 0.0
            async for piece in answer(url, words):
                text += piece
                if time.monotonic() - last >= 1 / _REDRAWS:
                    last = time.monotonic()
                    end = finished_part(text)
                    page.put(text[:end], text[end:])
                    text = text[end:]
            page.put(text, "")

    return LinesApp()


if __name__ == "__main__":
    (lines_app(sys.argv[2]) if sys.argv[1] == "lines" else InputApp()).run()
