"""Run shell commands: each in its own process group, with streamed output, ended together with everything it started.

A command gets no input, no terminal and none of roo-tui's API keys. Its functions need an event loop.
"""

import asyncio
import codecs
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from roo_tui.workspace.command_output import CommandOutput

SECRETS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")

# A command has no terminal: it cannot page, ask for a password or show colours.
_QUIET = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}

_GRACE_S = 1.0
_LAST_WORDS_S = 0.3
_SHOWN_EVERY_S = 0.05
_LOOKED_EVERY_S = 0.05
_CHUNK = 65_536
_UNREAD = 4_000

Emit = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CommandRun:
    """The result of a command. Close `output` after reading it, unless the command was left running (`pid` is set).

    `exit_code` is negative for a signal, None while the command runs. `ended_leftovers` says that processes it left
    behind were ended too.
    """

    output: CommandOutput
    exit_code: int | None
    duration_s: float
    timed_out: bool = False
    pid: int | None = None
    ended_leftovers: bool = False


@dataclass(frozen=True, slots=True)
class BackgroundCommand:
    """A command that was left running, or has ended since. `unread` is the end of its output since the last read."""

    pid: int
    command: str
    running: bool
    exit_code: int | None
    unread: str


class Commands:
    """Runs shell commands in the workspace and keeps track of those left running."""

    def __init__(self, root: Path, hidden_variables: tuple[str, ...] = ()) -> None:
        self._root = root
        self._hidden = frozenset((*SECRETS, *hidden_variables))
        self._live: set[_Live] = set()
        self._background: list[_Live] = []
        self._ending: set[asyncio.Task[None]] = set()

    async def run(
        self,
        command: str,
        *,
        cwd: Path | None = None,
        timeout_s: float = 120,
        background: bool = False,
        emit: Emit | None = None,
    ) -> CommandRun:
        """Run a command until it ends or times out; on a time-out it is ended, or left running if `background`.

        Cancelling ends the command and everything it started, and returns at once; `kill_all` waits until they have
        ended.

        Raises:
            OSError, ValueError: the command could not be started.
        """
        started = time.monotonic()
        live = await _Live.start(command, cwd or self._root, self._environment(), emit)
        self._live.add(live)
        timed_out = leftovers = False
        try:
            try:
                async with asyncio.timeout(timeout_s):
                    await live.process.wait()
            except TimeoutError:
                timed_out = True
            goes_on = timed_out or not await live.has_closed(_LAST_WORDS_S) or live.is_alive()
            if goes_on and background:
                live.emit_to(None)
                self._background.append(live)
                code = live.process.returncode
                return CommandRun(live.output, code, time.monotonic() - started, pid=live.process.pid)
            if goes_on:
                leftovers = not timed_out
                await live.end()
        except BaseException:
            self._end_later(live)
            raise
        self._live.discard(live)
        live.stop_reading()
        duration_s = time.monotonic() - started
        return CommandRun(live.output, live.process.returncode, duration_s, timed_out, None, leftovers)

    def running(self, *, mark_read: bool = False) -> tuple[BackgroundCommand, ...]:
        """Return the commands left running and those that ended since, oldest first. May be called from a thread.

        With `mark_read`, their output counts as read, and commands that have ended are not returned again.
        """
        found: list[BackgroundCommand] = []
        for live in list(self._background):
            is_running, size = not live.has_ended, live.output.size
            unread = live.output.since(live.read_to, _UNREAD)
            found.append(BackgroundCommand(live.process.pid, live.command, is_running, live.process.returncode, unread))
            if mark_read:
                live.read_to = size
                if not is_running:
                    self._background.remove(live)
                    self._live.discard(live)
                    live.output.close()
        return tuple(found)

    async def kill_all(self) -> None:
        """End every command and wait until they have ended."""
        for live in list(self._live):
            self._end_later(live)
        self._background.clear()
        await asyncio.gather(*self._ending)

    def _end_later(self, live: "_Live") -> None:
        live.emit_to(None)
        live.signal(signal.SIGTERM)
        task = asyncio.get_running_loop().create_task(self._end(live))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, live: "_Live") -> None:
        await live.end()
        self._live.discard(live)
        live.stop_reading()
        live.output.close()

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in self._hidden}
        return kept | _QUIET


class _Live:
    """One started command: its process group and its output."""

    def __init__(
        self, command: str, process: asyncio.subprocess.Process, reader: int, output: CommandOutput, emit: Emit | None
    ) -> None:
        self.command = command
        self.process = process
        self.output = output
        self.read_to = 0
        self._reader = reader
        self._emit = emit
        self._closed = asyncio.Event()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._flush: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(reader, self._on_readable)

    @classmethod
    async def start(cls, command: str, cwd: Path, environment: dict[str, str], emit: Emit | None) -> "_Live":
        """Start a command; raises OSError or ValueError if that fails."""
        shell = shutil.which("bash") or "/bin/sh"
        output = CommandOutput()
        # With a pipe of its own, the process has ended when it exits, not when the last heir of the pipe does.
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        try:
            process = await asyncio.create_subprocess_exec(
                shell,
                "-c",
                command,
                cwd=cwd,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                start_new_session=True,
            )
        except BaseException:
            os.close(reader)
            output.close()
            raise
        finally:
            os.close(writer)
        return cls(command, process, reader, output, emit)

    def emit_to(self, emit: Emit | None) -> None:
        """Send further output to `emit`; None sends it nowhere."""
        self._emit = emit

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it is running any more and its output is complete."""
        return self._closed.is_set() and not self.is_alive()

    def is_alive(self) -> bool:
        """Say whether the command, or anything it started in its group, is still running."""
        if self.process.returncode is None:
            return True
        return self.signal(0) and _has_living_member(self.process.pid)

    def signal(self, number: int) -> bool:
        """Send a signal to the whole group; return whether the group exists."""
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    async def end(self) -> None:
        """End the group with SIGTERM, and after a second with SIGKILL."""
        self.signal(signal.SIGTERM)
        deadline = self._loop.time() + _GRACE_S
        while self.is_alive() and self._loop.time() < deadline:
            await asyncio.sleep(_LOOKED_EVERY_S)
        self.signal(signal.SIGKILL)
        await self.process.wait()
        await self.has_closed(_LAST_WORDS_S)

    async def has_closed(self, within_s: float) -> bool:
        """Wait for the end of the output; return whether it came. A process outside the group may hold it open."""
        try:
            async with asyncio.timeout(within_s):
                await self._closed.wait()
        except TimeoutError:
            return False
        return True

    def stop_reading(self) -> None:
        """Close the pipe and show what is left of the output. Stopping twice does nothing."""
        if self._reader >= 0:
            self._loop.remove_reader(self._reader)
            os.close(self._reader)
            self._reader = -1
            self._show(self._decoder.decode(b"", final=True))
            self._closed.set()
        if self._flush is not None:
            self._flush.cancel()
            self._shown()

    def _on_readable(self) -> None:
        try:
            data = os.read(self._reader, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.stop_reading()
            return
        self.output.add(data)
        self._show(self._decoder.decode(data))

    def _show(self, text: str) -> None:
        if self._emit is None or not text:
            return
        # If output comes too fast, only the newest part is shown; all of it is in `output`.
        self._pending = (self._pending + text)[-_CHUNK:]
        if self._flush is None:
            self._flush = self._loop.call_later(_SHOWN_EVERY_S, self._shown)

    def _shown(self) -> None:
        self._flush = None
        text, self._pending = self._pending, ""
        if text and self._emit is not None:
            self._emit(text)


def _has_living_member(group: int) -> bool:
    """Say whether a process group has more than zombies, which stay in a container without an init process."""
    try:
        processes = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return True
    for name in processes:
        try:
            state, _, member_of = Path(f"/proc/{name}/stat").read_text(errors="replace").rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(member_of) == group and state != "Z":
            return True
    return False
