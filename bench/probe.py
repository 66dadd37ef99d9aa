"""A program in a pseudo-terminal, watched from outside.

A thread reads what the program writes, notes the time of each read, and answers the program's queries about the
terminal, so that the program never waits for an answer. The bytes go through a terminal emulator only when the screen
is looked at; an event has the time of the read that brought it. Every wait that takes too long raises `TimeoutError`
with a sentence: a time-out never becomes a figure. Linux only.
"""

import collections
import contextlib
import fcntl
import os
import pty
import random
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

COLUMNS, ROWS = 120, 40
_TICKS = os.sysconf("SC_CLK_TCK")
_MOST_HELD = 64_000_000
_ENDS = rb"(?:\x07|\x1b\\)"
_ASKED = re.compile(rb"\x1b\[\?(\d+)\$p|\x1b\[(6n|5n|c|>c|>q|14t|16t|18t)|\x1b\](1[0-2]);\?" + _ENDS)
_ANSWERS = {
    b"5n": b"\x1b[0n",
    b"c": b"\x1b[?62;22c",
    b">c": b"\x1b[>1;10;0c",
    b">q": b"\x1bP>|bench\x1b\\",
    b"14t": b"\x1b[4;640;960t",
    b"16t": b"\x1b[6;16;8t",
    b"18t": b"\x1b[8;40;120t",
}
_KNOWN_MODES = frozenset({1, 7, 25, 1000, 1002, 1003, 1004, 1006, 1049, 2004, 2026})
# Colours, titles and keyboard protocols: the emulator does not need them, or cannot read them.
_LEFT_OUT = re.compile(
    rb"\x1b\[[0-9;:]*m|\x1b\[[<=>][0-9;:]*[@-~]|\x1b\[\??[0-9;]*[ $][@-~]|\x1b\[[0-9;]*[tu]|\x1b\][^\x07\x1b]*"
    + _ENDS
    + rb"|\x1b[PX^_][^\x1b]*\x1b\\"
)
_CUT_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;:<=>? $]*|[\]PX^_][^\x07\x1b]*)?\Z")
_LETTERS = "qzjxkvw"
_LONGEST_ECHO_S = 5.0


class Terminal:
    """A running program and its screen. Leaving the context ends the program and what it started."""

    def __init__(self, command: Sequence[str], *, folder: Path, environ: Mapping[str, str] | None = None) -> None:
        self.lines = [""] * ROWS
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._emulator = pyte.ByteStream(self._screen)
        self._reads: collections.deque[tuple[float, bytes]] = collections.deque()
        self._held = 0
        self._news = threading.Event()
        self._rest = b""
        self._tail = b""
        self._ended = False
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, COLUMNS * 8, ROWS * 16))
        self._fd = ours
        kept = {name: value for name, value in os.environ.items() if name not in ("TMUX", "STY", "COLUMNS", "LINES")}
        terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            list(command),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env={**kept, **terminal, **(environ or {})},
            start_new_session=True,
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        for number, seconds in ((signal.SIGTERM, 3), (signal.SIGKILL, 3)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
                break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(2)
        os.close(self._fd)

    # What comes out

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._fd, 65536)
            except OSError:
                data = b""
            now = time.perf_counter()
            if not data:
                self._ended = True
                self._news.set()
                return
            self._tail = self._answer(self._tail + data)
            while self._held > _MOST_HELD:
                time.sleep(0.01)
            self._held += len(data)
            self._reads.append((now, data))
            self._news.set()

    def _answer(self, data: bytes) -> bytes:
        """Answer every query and return the beginning of one that is not complete yet."""
        if b"\x1b" not in data:
            return b""
        for mode, asked, colour in _ASKED.findall(data):
            if mode:
                self.write(b"\x1b[?%b;%d$y" % (mode, 2 if int(mode) in _KNOWN_MODES else 0))
            elif colour:
                self.write(
                    b"\x1b]%b;rgb:%b\x1b\\" % (colour, b"e6e6/e6e6/e6e6" if colour != b"11" else b"1a1a/1a1a/1a1a")
                )
            else:
                cursor = self._screen.cursor
                self.write(_ANSWERS.get(asked, b"\x1b[%d;%dR" % (cursor.y + 1, min(cursor.x, COLUMNS - 1) + 1)))
        cut = _CUT_SEQUENCE.search(data)
        return data[cut.start() :] if cut and len(data) - cut.start() < 256 else b""

    def _take(self, seconds: float) -> tuple[float, bytes] | None:
        """Return the next read and its time, or None where none came in time."""
        if not self._reads:
            self._news.clear()
            if not self._reads and not self._ended:
                self._news.wait(seconds)
        if not self._reads:
            if self._ended:
                time.sleep(min(seconds, 0.05))
            return None
        when, data = self._reads.popleft()
        self._held -= len(data)
        return when, data

    def _show(self, data: bytes) -> None:
        """Pass bytes to the emulator."""
        data = _LEFT_OUT.sub(b"", self._rest + data)
        cut = _CUT_SEQUENCE.search(data)
        data, self._rest = (data[: cut.start()], data[cut.start() :]) if cut else (data, b"")
        self._emulator.feed(data)
        for y in self._screen.dirty:
            if y < ROWS:
                row = self._screen.buffer[y]
                self.lines[y] = "".join(row[x].data for x in range(COLUMNS)).rstrip()
        self._screen.dirty.clear()

    def text(self) -> str:
        """Return the screen as it was last looked at."""
        return "\n".join(self.lines)

    def until(self, seen: Callable[["Terminal"], bool], seconds: float, what: str) -> float:
        """Look at the screen until `seen` is true and return the time of the read that made it so.

        Raises:
            TimeoutError: it did not become true; the text names `what` was waited for and holds the screen.
        """
        limit = time.perf_counter() + seconds
        while (left := limit - time.perf_counter()) > 0:
            read = self._take(min(left, 0.1))
            if read is not None:
                self._show(read[1])
                if seen(self):
                    return read[0]
            elif self._ended:
                raise TimeoutError(f"The program ended before it showed {what}. The screen:\n{self.text()}")
        raise TimeoutError(f"The program did not show {what} within {seconds:g} s. The screen:\n{self.text()}")

    def shows(self, words: str, seconds: float) -> float:
        """Wait until words are on the screen and return when they came.

        Raises:
            TimeoutError: they did not come.
        """
        if words in self.text():
            return time.perf_counter()
        return self.until(lambda one: words in one.text(), seconds, f"“{words}”")

    def rest(self, seconds: float) -> None:
        """Let time pass while the screen is kept up to date.

        Raises:
            TimeoutError: the program ended meanwhile, so there is nothing left to measure.
        """
        limit = time.perf_counter() + seconds
        while (left := limit - time.perf_counter()) > 0:
            read = self._take(min(left, 0.1))
            if read is not None:
                self._show(read[1])
            elif self._ended:
                raise TimeoutError(f"The program ended while it was measured. The screen:\n{self.text()}")

    # What goes in

    def write(self, data: bytes) -> float:
        """Press keys and return when."""
        now = time.perf_counter()
        with contextlib.suppress(OSError):
            os.write(self._fd, data)
        return now

    def send(self, words: str) -> float:
        """Type words, wait until they are shown, press Enter, and return when."""
        self.write(words.encode())
        self.shows(words, 10)
        self.rest(0.3)
        return self.write(b"\r")

    def echo(self, keys: int, chance: random.Random, *, going: Callable[[], bool] = lambda: True) -> list[float]:
        """Type nonsense while `going` and return the ms from each key to its letter being on its way to the screen.

        The bytes themselves are searched (the last letters typed always come out together), because an emulator that
        lags behind would make the typing late. The field is emptied after every 30 keys.

        Raises:
            TimeoutError: a key was not echoed, or none was typed in time.
        """
        times: list[float] = []
        typed = ""
        while len(times) < keys and going():
            if len(typed) >= 30:
                self.write(b"\x15")
                self._pass(0.15)
                typed = ""
            letter = chance.choice([one for one in _LETTERS if not typed.endswith(one)])
            typed += letter
            sent = self.write(letter.encode())
            echoed = self._echoed(typed[-6:].encode())
            if len(typed) > 3:
                times.append((echoed - sent) * 1000)
            self._pass(chance.uniform(0.02, 0.05))
        self.write(b"\x15")
        self._pass(0.2)
        screen = self._settled()
        if not times:
            raise TimeoutError(f"No key was echoed before the time for typing was over. The screen:\n{screen}")
        return times

    def _echoed(self, wanted: bytes) -> float:
        """Return when the program wrote the wanted bytes."""
        seen = b""
        limit = time.perf_counter() + _LONGEST_ECHO_S
        while time.perf_counter() < limit:
            read = self._take(0.1)
            if read is not None:
                seen = seen[-5000:] + read[1]
                self._rest += read[1]
                if wanted in seen:
                    return read[0]
        raise TimeoutError(f"A key was not echoed within {_LONGEST_ECHO_S:g} s. The screen:\n{self._settled()}")

    def _pass(self, seconds: float) -> None:
        """Let time pass without bringing the screen up to date."""
        limit = time.perf_counter() + seconds
        while (left := limit - time.perf_counter()) > 0:
            read = self._take(min(left, 0.1))
            if read is not None:
                self._rest += read[1]

    def _settled(self) -> str:
        self._show(b"")
        return self.text()

    # What it costs

    def _processes(self) -> list[int]:
        found, waiting = [], [self._process.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    waiting += map(int, Path(task, "children").read_text().split())
        return found

    def cpu(self) -> float:
        """Return the CPU seconds of the program and of all it started, ended processes included."""
        ticks = 0
        for pid in self._processes():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
        return ticks / _TICKS

    def memory(self) -> float:
        """Return the MB the program holds, shared memory counted in parts (PSS).

        Raises:
            TimeoutError: the program has ended.
        """
        kilobytes = 0
        for pid in self._processes():
            with contextlib.suppress(OSError):
                found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
                kilobytes += int(found[1]) if found else 0
        if not kilobytes:
            raise TimeoutError(f"The program ended before its memory was read. The screen:\n{self.text()}")
        return kilobytes / 1024

    def quiet(self, seconds: float) -> float:
        """Wait until the program does next to nothing and return the CPU seconds it had used when that began.

        Raises:
            TimeoutError: it was still working at the end.
        """
        limit = time.perf_counter() + seconds
        while time.perf_counter() < limit:
            before = self.cpu()
            self.rest(0.5)
            if self.cpu() - before <= 0.05:
                return before
        raise TimeoutError(f"The program was still working after {seconds:g} s. The screen:\n{self.text()}")
