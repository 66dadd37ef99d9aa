"""The transcript and an input line, fed by a provider's stream over a plain socket: what streaming costs on the screen.

    python bench/transcript_app.py BASE_URL

Measured from outside, next to an app that does the same with the least it can; see the ratios it prints.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import Input

sys.path.insert(0, str(Path(__file__).parents[1]))
from roo_tui.domain.views import Row, UserRow
from roo_tui.tui.widgets.transcript import TranscriptView


async def ask(base_url: str, words: str) -> AsyncIterator[str]:
    """Yield the texts of one streamed answer of a Messages API, as they come out of the socket."""
    host, port = base_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
    message = {"role": "user", "content": words}
    body = json.dumps({"model": "stub-model", "max_tokens": 60000, "stream": True, "messages": [message]}).encode()
    head = "POST /v1/messages HTTP/1.1\r\nhost: stub\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    await reader.readuntil(b"\r\n\r\n")
    rest = b""
    while size := int(await reader.readline() or b"0", 16):
        rest += await reader.readexactly(size)
        await reader.readline()
        *events, rest = rest.split(b"\n\n")
        if text := "".join(_texts(events)):
            yield text
    writer.close()


def _texts(events: list[bytes]) -> Iterator[str]:
    for event in events:
        if b'"text_delta"' in event:
            yield json.loads(event.split(b"data: ", 1)[1])["delta"]["text"]


class TranscriptApp(App[None]):
    """Every line that is entered is sent; the answer streams into the transcript."""

    CSS = "Input { dock: bottom; }"

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self._base_url = base_url
        self._count = 0

    def compose(self) -> ComposeResult:
        yield TranscriptView()
        yield Input(placeholder="Ask the floor")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        words, event.input.value = event.value, ""
        self.run_worker(self._answer(words))

    async def _answer(self, words: str) -> None:
        transcript = self.query_one(TranscriptView)
        self._count += 1
        transcript.upsert([Row(f"e{self._count}", self._count, UserRow(words, 0))])
        key = f"live:{self._count}"
        transcript.stream_open(key)
        async for text in ask(self._base_url, words):
            transcript.stream_text(key, text)
        transcript.stream_close(key)


if __name__ == "__main__":
    TranscriptApp(sys.argv[1]).run()
