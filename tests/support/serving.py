"""The scripted Messages API for programs that run event loops of their own; retries without waiting."""

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator

import pytest

from roo_tui.llm import retry
from tests.support.messages_server import MessagesServer, Step


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


def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let failed requests be tried again at once, as often as ever."""
    _, *rest = retry.with_retries.__defaults__ or ()
    monkeypatch.setattr(retry.with_retries, "__defaults__", ((0.0, 0.0, 0.0), *rest))
