"""A Messages API on loopback that answers with a summary of a given length and keeps a prompt cache, block by block.

Tools, system parts and message blocks form one chain of hashes. A breakpoint stores the chain up to its block; a
request reads the longest stored chain that ends at one of its breakpoints or up to 20 blocks before one, writes the
rest up to its last breakpoint, and pays for the remainder as plain input. Four characters make a token. Source: the
Messages API's rules of prompt caching.
"""

import asyncio
import contextlib
import hashlib
import json
from itertools import accumulate
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
_OPENING = "<analysis>\nRead from the beginning.\n</analysis>\n<summary>\n"
_CLOSING = "\n</summary>"
_LINE = "   - `src/module_%d.py`: the loader keeps one cursor per shard, and the retry moved into the transport.\n"
_CHARACTERS_PER_TOKEN = 4


def summary(tokens: int) -> str:
    """Return a nine-section summary of exactly so many tokens (at least 100)."""
    titles = [f"{number}. {name}:\n" for number, name in enumerate(_SECTIONS, 1)]
    room = tokens * _CHARACTERS_PER_TOKEN - len(_OPENING) - len(_CLOSING) - sum(map(len, titles))
    sections = []
    for number, title in enumerate(titles):
        size = room * (number + 1) // len(titles) - room * number // len(titles)
        lines = "".join(_LINE % line for line in range(number * 1_000, number * 1_000 + size // 80 + 1))
        sections.append(title + lines[: size - 1] + "\n")
    return f"{_OPENING}{''.join(sections)}{_CLOSING}"


class CacheServer:
    """Serves at `url` while it is entered; a request for a summary gets one of `summary_tokens`."""

    def __init__(self, summary_tokens: int) -> None:
        self.url = ""
        self._summary_tokens = summary_tokens
        self._stored: set[str] = set()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "CacheServer":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
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
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = next(line.split(":")[1] for line in head.split("\r\n") if line.startswith("content-length"))
                body = json.loads(await reader.readexactly(int(length)))
                writer.write(self._answer(body))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def _answer(self, body: Json) -> bytes:
        wants_summary = "summar" in json.dumps(body["messages"][-1]).casefold()
        text = summary(self._summary_tokens) if wants_summary else "Done."
        most = body["max_tokens"] * _CHARACTERS_PER_TOKEN
        text, stop_reason = (text[:most], "max_tokens") if len(text) > most else (text, "end_turn")
        usage = self._usage(body)
        output = -(-len(text) // _CHARACTERS_PER_TOKEN)
        message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": body["model"]}
        events: list[Json] = [
            {
                "type": "message_start",
                "message": message | {"stop_reason": None, "usage": usage | {"output_tokens": 1}},
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": output}},
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
        tokens = [characters // _CHARACTERS_PER_TOKEN for characters in accumulate(sizes)]
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
    """Return the number of characters in a block, without the names of its fields."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(item) for name, item in value.items() if name not in ("type", "cache_control"))
    return sum(map(_characters, value)) if isinstance(value, list) else 0
