"""Outlines from a process of its own: parsing holds the interpreter's lock, and a grammar that crashes ends only it."""

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
    """Outlines files one at a time in a process started at the first use; `close` ends it.

    A file whose parsing takes longer than `timeout_s` or ends the process is left out; the next one gets a new process.
    """

    def __init__(self, *, timeout_s: float = 5.0, command: tuple[str, ...] = ()) -> None:
        # Without -P a file of the user's folder could stand in for a module.
        self._command = command or (sys.executable, "-P", "-m", "roo_tui.outline.worker")
        self._timeout_s = timeout_s
        self._process: Process | None = None
        self._one_at_a_time = asyncio.Lock()

    async def outline(self, path: str, text: str) -> str:
        """Return the outline of a file's text as `signatures.outline` does; empty too where it could not be made."""
        if not language_of(path) or len(text) > LARGEST_CHARACTERS:
            return ""
        question = (await asyncio.to_thread(json.dumps, {"path": path, "text": text})).encode() + b"\n"
        async with self._one_at_a_time:
            try:
                answer = await asyncio.wait_for(self._exchange(question), self._timeout_s)
                return str(json.loads(answer)["outline"])
            except (OSError, ValueError, TimeoutError) as error:
                _log.warning("no outline of %s: %r", path, error)
                await self._stop()
                return ""
            except BaseException:
                # An answer to a question nobody waits for would be taken for the next one's.
                await self._stop()
                raise

    async def close(self) -> None:
        """End the process if there is one. It may be used again afterwards."""
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
