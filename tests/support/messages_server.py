"""A scripted Messages API on loopback: what it answers is told beforehand, what it was asked can be read afterwards.

    async with MessagesServer([answer(text("Hello")), refusal(529), cut(answer(text("Half")))]) as server:
        ...  # point a client at server.url
        assert server.requests[0].body["model"] == "claude-sonnet-5-5"

One step answers one `POST /v1/messages`; a request with a picture that the API does not accept is refused and takes no
step. Counting (`/v1/messages/count_tokens`) takes none either.
"""

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal

from tests.support.picture_rules import objection

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """A streamed answer. `framing` "close" sends no lengths: the end of the connection is the end of the body.

    `ending`: complete; cut drops the connection; hang sends nothing more and waits for the client to leave.
    """

    events: tuple[Json, ...]
    ending: Literal["complete", "cut", "hang"] = "complete"
    framing: Literal["chunked", "close"] = "chunked"


@dataclass(frozen=True)
class Refusal:
    """An HTTP error; `body` is JSON, or text sent as it is."""

    status: int
    body: Json | str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class SeenRequest:
    """A request as it arrived. `left` is set once the client has closed the connection or the answer was sent whole.

    `abandoned` says that the client went away before it had the whole answer.
    """

    path: str
    headers: dict[str, str]
    body: Json
    size: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    abandoned: bool = False


Step = Answer | Refusal | Callable[[SeenRequest], "Answer | Refusal"]


def text(content: str, deltas: int = 3) -> list[Json]:
    """Return the deltas of a text block, led by its start."""
    return [{"type": "text", "text": ""}, *({"type": "text_delta", "text": part} for part in _split(content, deltas))]


def thinking(content: str, signature: str = "sig-1") -> list[Json]:
    """Return a thinking block; without a signature it stays unsigned."""
    deltas = [{"type": "thinking_delta", "thinking": part} for part in _split(content, 2)]
    signed = [{"type": "signature_delta", "signature": signature}] if signature else []
    return [{"type": "thinking", "thinking": "", "signature": ""}, *deltas, *signed]


def tool_call(name: str, arguments: Json | str, id_: str = "toolu_1") -> list[Json]:
    """Return a call; `arguments` given as text is sent as it is, valid JSON or not."""
    sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
    deltas = [{"type": "input_json_delta", "partial_json": part} for part in _split(sent, 3)]
    return [{"type": "tool_use", "id": id_, "name": name, "input": {}}, *deltas]


def whole_block(block: Json) -> list[Json]:
    """Return a block that comes at once, without deltas (redacted thinking, blocks of a later API)."""
    return [block]


def answer(*blocks: list[Json], stop_reason: str = "", usage: Mapping[str, int] | None = None) -> Answer:
    """Return a complete answer made of blocks. Without a `stop_reason`: tool_use after a call, else end_turn."""
    calls = any(block[0]["type"] == "tool_use" for block in blocks)
    counted = {"input_tokens": 100, "output_tokens": 20, **(usage or {})}
    prompt = {name: value for name, value in counted.items() if name != "output_tokens"}
    message: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    message |= {"stop_reason": None, "usage": {**prompt, "output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, (start, *deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop_reason or ("tool_use" if calls else "end_turn"), "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": counted["output_tokens"]}})
    events.append({"type": "message_stop"})
    return Answer(tuple(events))


def cut(given: Answer, events: int = -3) -> Answer:
    """Return the answer's first events, after which the connection drops. By default the last block stays open."""
    return replace(given, events=given.events[:events], ending="cut")


def short(given: Answer, events: int = -1) -> Answer:
    """Return the answer without its last events, ended as if it were whole (a proxy's way of cutting)."""
    return replace(given, events=given.events[:events], framing="close")


def hang(given: Answer, events: int = -3) -> Answer:
    """Return the answer's first events, after which nothing comes."""
    return replace(given, events=given.events[:events], ending="hang")


def broken_off(given: Answer, type_: str = "overloaded_error", message: str = "Overloaded") -> Answer:
    """Return the answer with an `error` event in place of its end."""
    error = {"type": "error", "error": {"type": type_, "message": message}}
    return replace(given, events=(*given.events[:-3], error))


def refusal(
    status: int, type_: str = "", message: str = "Refused", headers: Mapping[str, str] | None = None
) -> Refusal:
    """Return an error answer in the API's form."""
    types = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    default = "api_error" if status >= 500 else "invalid_request_error"
    error = {"type": type_ or types.get(status, default), "message": message}
    return Refusal(status, {"type": "error", "error": error}, headers or {})


class MessagesServer:
    """Answers with one step after the other; when there are none left, with `otherwise` (by default a 400 saying so).

    `counts` is what counting returns; None answers it with 404. `connections` is how many were opened,
    `refused` what was said of pictures.
    """

    def __init__(self, steps: Iterable[Step] = (), *, otherwise: Step | None = None, counts: int | None = None) -> None:
        self.steps = list(steps)
        self.requests: list[SeenRequest] = []
        self.counted: list[SeenRequest] = []
        self.refused: list[str] = []
        self.connections = 0
        self.url = ""
        self._otherwise = otherwise or refusal(400, message="The script has no step left.")
        self._counts = counts
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "MessagesServer":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for connection in self._serving:
            connection.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; return whether the connection stays open."""
        request = await _read(reader)
        if request.path.endswith("/count_tokens"):
            self.counted.append(request)
            _send_json(writer, 404 if self._counts is None else 200, {"input_tokens": self._counts})
            return True
        self.requests.append(request)
        if refused := objection(request.body, request.size):
            status, message = refused
            self.refused.append(message)
            step: Step = refusal(status, "request_too_large" if status == 413 else "", message)
        else:
            step = self.steps.pop(0) if self.steps else self._otherwise
        given = step(request) if callable(step) else step
        if isinstance(given, Refusal):
            _send_json(writer, given.status, given.body, given.headers)
            request.left.set()
            return True
        stays = await _stream(given, request, reader, writer)
        request.left.set()
        return stays


@contextlib.contextmanager
def serving(*steps: Step, otherwise: Step | None = None) -> Iterator[MessagesServer]:
    """A server in a thread of its own, which `ANTHROPIC_BASE_URL` names while it runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = MessagesServer(steps, otherwise=otherwise)
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        os.environ["ANTHROPIC_BASE_URL"] = server.url
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _read(reader: asyncio.StreamReader) -> SeenRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    path = head[0].split(" ")[1]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return SeenRequest(path, headers, json.loads(body) if body else {}, len(body))


async def _stream(
    given: Answer, request: SeenRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    chunked = given.framing == "chunked"
    framing = "transfer-encoding: chunked" if chunked else "connection: close"
    writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{framing}\r\n\r\n".encode())
    for event in given.events:
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n" if chunked else data)
        await writer.drain()
    if given.ending == "complete":
        if chunked:
            writer.write(b"0\r\n\r\n")
        return chunked
    if given.ending == "hang":
        await reader.read()
        request.abandoned = True
    else:
        writer.transport.abort()
    return False


def _send_json(
    writer: asyncio.StreamWriter, status: int, body: Json | str, headers: Mapping[str, str] | None = None
) -> None:
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    kind = "text/html" if isinstance(body, str) else "application/json"
    lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {kind}", f"content-length: {len(data)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join((*lines, "", "")).encode() + data)


def _split(content: str, parts: int) -> list[str]:
    """Return the text in at most so many pieces."""
    size = max(1, -(-len(content) // parts))
    return [content[start : start + size] for start in range(0, len(content), size)]
