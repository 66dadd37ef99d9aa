"""A program in a pseudo-terminal, watched from outside.

A thread reads what the program writes, notes when each read came, and answers what programs ask of a terminal, so that
nothing waits for an answer. The bytes go through a terminal emulator only when somebody looks at the screen; an event
is dated by the read that made it so. Linux only.
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
from types import TracebackType

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
# Colours, titles, keyboard protocols: what the emulator need not, or cannot, take.
_LEFT_OUT = re.compile(
    rb"\x1b\[[0-9;:]*m|\x1b\[[<=>][0-9;:]*[@-~]|\x1b\[\??[0-9;]*[ $][@-~]|\x1b\[[0-9;]*[tu]|\x1b\][^\x07\x1b]*"
    + _ENDS
    + rb"|\x1b[PX^_][^\x1b]*\x1b\\"
)
_CUT_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;:<=>? $]*|[\]PX^_][^\x07\x1b]*)?\Z")
_LETTERS = "qzjxkvw"


class Terminal:
    """A running program and its screen. Ends its process group when it is closed."""

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """Answer every query; returns the beginning of one that is not complete yet."""
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
        """Return the next read and when it came; None where there is none in time."""
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
        """Let the emulator take bytes."""
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
        """The screen, as far as it was looked at."""
        return "\n".join(self.lines)

    def until(self, seen: Callable[["Terminal"], bool], seconds: float) -> float:
        """Look at the screen until something is seen; returns the time of the read that showed it.

        Raises:
            TimeoutError: it was not seen; the text is the screen.
        """
        limit = time.perf_counter() + seconds
        while (left := limit - time.perf_counter()) > 0:
            read = self._take(min(left, 0.1))
            if read is not None:
                self._show(read[1])
                if seen(self):
                    return read[0]
            elif self._ended:
                break
        raise TimeoutError(f"not seen within {seconds} s:\n{self.text()}")

    def shows(self, words: str, seconds: float) -> float:
        """Wait until words are on the screen; returns when they came."""
        return time.perf_counter() if words in self.text() else self.until(lambda one: words in one.text(), seconds)

    def rest(self, seconds: float) -> None:
        """Let time pass; the screen goes on."""
        limit = time.perf_counter() + seconds
        while (left := limit - time.perf_counter()) > 0:
            read = self._take(min(left, 0.1))
            if read is not None:
                self._show(read[1])

    # What goes in

    def write(self, data: bytes) -> float:
        """Press keys; returns when."""
        now = time.perf_counter()
        with contextlib.suppress(OSError):
            os.write(self._fd, data)
        return now

    def send(self, words: str) -> float:
        """Type words, see them, and press Enter; returns when."""
        self.write(words.encode())
        self.shows(words, 10)
        self.rest(0.3)
        return self.write(b"\r")

    def echo(self, keys: int, chance: random.Random, *, going: Callable[[], bool] = lambda: True) -> list[float]:
        """Type nonsense while `going`; returns the ms from each key to its letter being on its way to the screen.

        Here the bytes themselves are searched (the last letters typed always come out together), because an emulator
        that lags behind would type too late. The field is emptied after each 30 keys.
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
            wanted, seen = typed[-6:].encode(), b""
            sent = self.write(letter.encode())
            limit = sent + 5
            while wanted not in seen:
                read = self._take(0.1)
                if read is not None:
                    seen = seen[-5000:] + read[1]
                    self._rest += read[1]
                elif time.perf_counter() > limit:
                    raise TimeoutError(f"the key was not echoed:\n{self._settled()}")
            if len(typed) > 3:
                times.append((read[0] - sent) * 1000 if read else 0.0)
            self._pass(chance.uniform(0.02, 0.05))
        self.write(b"\x15")
        self._pass(0.2)
        self._settled()
        return times

    def _pass(self, seconds: float) -> None:
        """Let time pass without looking at the screen."""
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
        """CPU seconds of the program, of what it started, and of what has ended of that."""
        ticks = 0
        for pid in self._processes():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
        return ticks / _TICKS

    def memory(self) -> float:
        """MB the program holds, shared memory counted in parts (PSS)."""
        kilobytes = 0
        for pid in self._processes():
            with contextlib.suppress(OSError):
                found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
                kilobytes += int(found[1]) if found else 0
        return kilobytes / 1024

    def quiet(self, seconds: float) -> float:
        """Wait until the program does next to nothing; returns the CPU seconds when that began."""
        limit = time.perf_counter() + seconds
        while time.perf_counter() < limit:
            before = self.cpu()
            self.rest(0.5)
            if self.cpu() - before <= 0.05:
                return before
        return self.cpu()
