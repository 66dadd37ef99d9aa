"""Make outlines in a separate process: parsing holds the interpreter lock, and a grammar may crash."""

import asyncio
import json
import logging
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process

from roo_tui.outline.languages import language_of
from roo_tui.outline.signatures import LARGEST_CHARACTERS

_log = logging.getLogger(__name__)
_LONGEST_ANSWER_BYTES = 16_000_000


class Outliner:
    """Outlines files one at a time in a worker process, which the first call starts and `close` ends.

    A file that takes longer than `timeout_s` or crashes the worker gets no outline; the next file gets a new worker.
    """

    def __init__(self, *, timeout_s: float = 5.0, command: tuple[str, ...] = ()) -> None:
        # Without -P, a file in the user's folder could shadow a module.
        self._command = command or (sys.executable, "-P", "-m", "roo_tui.outline.worker")
        self._timeout_s = timeout_s
        self._process: Process | None = None
        self._one_at_a_time = asyncio.Lock()

    async def outline(self, path: str, text: str) -> str:
        """Return the outline of a file's text as `signatures.outline` does; also empty if the worker failed."""
        if not language_of(path) or len(text) > LARGEST_CHARACTERS:
            return ""
        question = (await asyncio.to_thread(json.dumps, {"path": path, "text": text})).encode() + b"\n"
        async with self._one_at_a_time:
            try:
                answer = await asyncio.wait_for(self._exchange(question), self._timeout_s)
                return str(json.loads(answer)["outline"])
            except (OSError, ValueError, TimeoutError) as error:
                _log.warning("could not outline %s: %r", path, error)
                await self._stop()
                return ""
            except BaseException:
                # Otherwise the next call would read the answer to this one.
                await self._stop()
                raise

    async def close(self) -> None:
        """End the worker, if there is one. The next call starts a new one."""
        async with self._one_at_a_time:
            await self._stop()

    async def _exchange(self, question: bytes) -> bytes:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=_LONGEST_ANSWER_BYTES,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(question)
        await self._process.stdin.drain()
        return await self._process.stdout.readline()

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.communicate()
