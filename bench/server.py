"""A provider for measurements: answers the Messages API on a loopback port with Markdown, at the requested pace.

`python -m bench.server` prints its port. The user's message decides the answer: "stream 10000" asks for that many
tokens as fast as possible, "stream 10000 at 400" for 400 of them a second. Each token is an event of its own. The
answer ends with a paragraph `END-OF-STREAM`, after "stream 20 as 3" with `END-OF-STREAM-3`.
"""

import asyncio
import itertools
import json
import re
import sys
from collections.abc import Iterator

END = "END-OF-STREAM"
_ORDER = re.compile(r"stream (\d+)(?: at (\d+))?(?: as (\d+))?")
_TOKEN = re.compile(r"\s*\w{1,7}|\s*[^\w\s]|\s+")
_SENTENCES = (
    "A queue between the two halves lets the reader fall behind without holding up the writer.",
    "The second pass only looks at `rows` that the first one marked, so it costs next to nothing.",
    "Nobody closes the handle when the *timeout* comes first, and that is where the leak is.",
    "Both callers hand in a relative path; resolve it **once**, at the edge.",
)
_CODE = '''def drain(queue, limit=None):
    """Take what there is, at most `limit` items."""
    taken = []
    while queue and (limit is None or len(taken) < limit):
        taken.append(queue.popleft())
    return taken
'''


def markdown() -> Iterator[str]:
    """Yield tokens of endless Markdown."""
    for number in itertools.count(1):
        said = [_SENTENCES[(number + place) % len(_SENTENCES)] for place in range(4)]
        items = "".join(f"- **case {number}.{place}**: {one}\n" for place, one in enumerate(said, 1))
        section = f"## Part {number}\n\n{' '.join(said)}\n\n{items}\n```python\n{_CODE}```\n\n"
        yield from _TOKEN.findall(section)


def _event(kind: str, **values: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n".encode()


def _delta(text: str) -> bytes:
    return _event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            size = re.search(rb"content-length: *(\d+)", head, re.I)
            body = json.loads(await reader.readexactly(int(size[1])) if size else b"{}")
            if b"/count_tokens" in head:
                _reply(writer, json.dumps({"input_tokens": 10}).encode())
            else:
                await _stream(writer, body)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _reply(writer: asyncio.StreamWriter, body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    writer.write(head + body)


async def _stream(writer: asyncio.StreamWriter, body: dict[str, object]) -> None:
    orders = _ORDER.findall(json.dumps(body.get("messages", "")))
    asked, at, name = orders[-1] if orders else ("20", "", "")
    count, pace, end = int(asked), int(at or 0), f"{END}-{name}" if name else END

    async def send(data: bytes) -> None:
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await writer.drain()

    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "bench", "content": [], "usage": usage}
    await send(
        _event("message_start", message=message)
        + _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    )
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number, token in enumerate(itertools.islice(markdown(), count), 1):
        if pace and (early := began + number / pace - loop.time()) > 0:
            await asyncio.sleep(early)
        await send(_delta(token))
    await send(
        _delta(f"\n```\n\n{end}\n" if _inside_fence(count) else f"\n\n{end}\n")
        + _event("content_block_stop", index=0)
        + _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": count})
        + _event("message_stop")
    )
    writer.write(b"0\r\n\r\n")


def _inside_fence(count: int) -> bool:
    return "".join(itertools.islice(markdown(), count)).count("```") % 2 == 1


async def serve() -> None:
    """Serve until the process is ended."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        sys.exit(0)
