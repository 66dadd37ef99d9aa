"""A Messages API on loopback that answers with a summary and keeps a prompt cache, block by block.

Tools, system parts and message blocks are one chain of hashes. A breakpoint stores the chain up to its block; a request
reads the longest stored chain that ends at one of its breakpoints or up to 20 blocks before one, writes the rest up to
its last breakpoint, and pays the remainder as plain input. Four characters make a token. Source: the Messages API's
rules of prompt caching.
"""

import asyncio
import contextlib
import hashlib
import json
from itertools import accumulate
from types import TracebackType
from typing import Any

Json = dict[str, Any]

_LOOK_BACK = 20
_LEAST_TOKENS = 1_024
_SECTIONS = (
    "Primary request and intent",
    "Key technical concepts",
    "Files and code sections",
    "Errors and fixes",
    "Problem solving",
    "All user messages",
    "Pending tasks",
    "Current work",
    "Optional next step",
)
_LINE = "   - `src/module_%d.py`: the loader keeps one cursor per shard, and the retry moved into the transport.\n"


def summary(lines: int = 6) -> str:
    """Return a nine-section summary of about 150 tokens for each line a section has."""
    sections = (
        f"{number}. {name}:\n{''.join(_LINE % (number * 10 + line) for line in range(lines))}"
        for number, name in enumerate(_SECTIONS, 1)
    )
    return f"<analysis>\nRead from the beginning.\n</analysis>\n<summary>\n{''.join(sections)}</summary>"


class CacheServer:
    """Serves at `url` while it is entered; `usages` are what the requests so far used."""

    def __init__(self) -> None:
        self.url = ""
        self.usages: list[Json] = []
        self._stored: set[str] = set()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "CacheServer":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = next(line.split(":")[1] for line in head.split("\r\n") if line.startswith("content-length"))
                body = json.loads(await reader.readexactly(int(length)))
                writer.write(self._answer(body))
                await writer.drain()
        writer.close()

    def _answer(self, body: Json) -> bytes:
        text = summary() if "summar" in json.dumps(body["messages"][-1]).casefold() else "Done."
        usage = self._usage(body)
        output = -(-len(text) // 4)
        self.usages.append(usage | {"output_tokens": output})
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": body["model"]}
        events: list[Json] = [
            {
                "type": "message_start",
                "message": message | {"stop_reason": None, "usage": usage | {"output_tokens": 1}},
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": output}},
            {"type": "message_stop"},
        ]
        data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(data)}\r\n\r\n"
        return head.encode() + data

    def _usage(self, body: Json) -> Json:
        blocks: list[tuple[str, Json]] = [("tool", tool) for tool in body.get("tools", [])]
        blocks += [("system", part) for part in body.get("system", [])]
        blocks += [(message["role"], block) for message in body["messages"] for block in message["content"]]
        running = hashlib.sha256(json.dumps(body.get("thinking")).encode())
        chain, marks, sizes = [], [], []
        for place, (role, block) in enumerate(blocks):
            plain = json.dumps(
                {name: value for name, value in block.items() if name != "cache_control"}, sort_keys=True
            )
            running.update(f"{role}{plain}\0".encode())
            chain.append(running.hexdigest())
            sizes.append(_characters(block))
            if "cache_control" in block:
                marks.append(place)
        tokens = [characters // 4 for characters in accumulate(sizes)]
        near = {at for mark in marks for at in range(max(0, mark - _LOOK_BACK), mark + 1)}
        read = max((tokens[at] for at in near if chain[at] in self._stored), default=0)
        cacheable = [mark for mark in marks if tokens[mark] >= _LEAST_TOKENS]
        self._stored.update(chain[mark] for mark in cacheable)
        written = max(0, tokens[cacheable[-1]] - read) if cacheable else 0
        return {
            "input_tokens": tokens[-1] - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        }


def _characters(value: Any) -> int:
    """Return the characters a block is made of, names of its fields left out."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(item) for name, item in value.items() if name not in ("type", "cache_control"))
    return sum(map(_characters, value)) if isinstance(value, list) else 0
