"""Search files for a regular expression: with ripgrep if it is installed, otherwise with `python_search`.

Both search the same files and return the same lines in the same order. ripgrep is preferred, since it never takes
exponential time. Patterns that only Python understands (look-around) are searched with Python.
"""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from roo_tui.workspace import text_files
from roo_tui.workspace.files import Location, Workspace
from roo_tui.workspace.listing import walk

FILE_LIMIT = 10_000_000
LINE_LIMIT = 300
_BATCH = 100_000
_WORKER = Path(__file__).with_name("python_search.py")


class BadPattern(Exception):
    """The pattern is not a valid regular expression; the message says why."""


@dataclass(frozen=True, slots=True)
class TextMatch:
    """One matching line; `path` is relative to the workspace, or absolute if it is outside."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The hits in path order. `more`: there are more; `timed_out`: the search is incomplete.

    `too_large` counts files that were skipped for their size.
    """

    hits: tuple[TextMatch, ...]
    more: bool = False
    timed_out: bool = False
    too_large: int = 0


class TextSearch:
    """One search. Call `run` in a thread; `stop` ends it from any thread."""

    def __init__(
        self,
        workspace: Workspace,
        folder: Location,
        pattern: str,
        *,
        file_pattern: str = "",
        limit: int = 300,
        timeout_s: float = 20,
        ripgrep: str | None = None,
    ) -> None:
        self._workspace = workspace
        self._folder = folder
        self._pattern = pattern
        self._file_pattern = file_pattern
        self._limit = limit
        self._timeout_s = timeout_s
        self._ripgrep = shutil.which("rg") if ripgrep is None else ripgrep
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._too_large = 0

    def stop(self) -> None:
        """End the search; `run` returns soon after."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def run(self) -> Found:
        """Search and return the hits.

        Raises:
            BadPattern: neither ripgrep nor Python understands the pattern.
        """
        command = self._command()
        deadline = time.monotonic() + self._timeout_s
        timer = threading.Timer(self._timeout_s, self.stop)
        timer.daemon = True
        timer.start()
        hits: list[TextMatch] = []
        try:
            for names in self._batches():
                hits += self._search(command, names, self._limit + 1 - len(hits))
                if self._stopped or len(hits) > self._limit:
                    break
        finally:
            timer.cancel()
        timed_out = self._stopped and time.monotonic() >= deadline
        return Found(tuple(hits[: self._limit]), len(hits) > self._limit, timed_out, self._too_large)

    def _command(self) -> list[str]:
        """Return the program and its arguments, without the file names."""
        if self._ripgrep:
            command = [self._ripgrep, "--no-config", "--null", "--with-filename", "--line-number", "--no-heading"]
            command += ["--color=never", "--text", "--crlf", "--no-messages", "--threads=1", "--regexp", self._pattern]
            if self._error_of([*command, "-"]) is None:
                return [*command, "--"]
        command = [sys.executable, "-I", str(_WORKER), self._pattern]
        if (error := self._error_of(command)) is not None:
            raise BadPattern(error)
        return command

    def _error_of(self, command: list[str]) -> str | None:
        """Return the error that a program reports for the pattern, None if it accepts it."""
        try:
            tried = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=self._timeout_s)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return str(error)
        return tried.stderr.decode("utf-8", "replace").strip() if tried.returncode == 2 else None

    def _batches(self) -> Iterator[dict[str, str]]:
        """Yield the files to search as batches that fit a command line: absolute paths to shown names."""
        batch: dict[str, str] = {}
        size = 0
        for path, shown in self._files():
            if size + len(path) > _BATCH:
                yield batch
                batch, size = {}, 0
            batch[path] = shown
            size += len(path) + 1
        if batch:
            yield batch

    def _files(self) -> Iterator[tuple[str, str]]:
        if self._folder.path.is_file():
            yield str(self._folder.path), self._folder.shown
            return
        for name in walk(self._workspace, self._folder):
            if self._stopped:
                return
            if name.is_dir or not self._is_wanted(name.relative):
                continue
            file = Path(name.path)
            try:
                is_searchable = file.is_file() and not file.is_symlink()
                size = file.stat().st_size if is_searchable else 0
            except OSError:
                continue
            if size > FILE_LIMIT:
                self._too_large += 1
            elif is_searchable:
                yield name.path, name.relative

    def _is_wanted(self, relative: str) -> bool:
        pattern = self._file_pattern
        if not pattern:
            return True
        return fnmatch(relative, pattern.removeprefix("**/")) or fnmatch(relative.rsplit("/", 1)[-1], pattern)

    def _search(self, command: list[str], names: dict[str, str], limit: int) -> list[TextMatch]:
        hits: list[TextMatch] = []
        binary: dict[str, bool] = {}
        with subprocess.Popen(
            [*command, *names], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            self._process = process
            if self._stopped:
                process.kill()
            assert process.stdout is not None
            for raw in process.stdout:
                path, _, rest = raw.rstrip(b"\r\n").partition(b"\0")
                number, _, line = rest.partition(b":")
                name = path.decode("utf-8", "surrogateescape")
                if name not in names or not number.isdigit():
                    continue
                if name not in binary:
                    binary[name] = _is_binary_file(name)
                if not binary[name]:
                    hits.append(TextMatch(names[name], int(number), _shorten(line)))
                if len(hits) == limit:
                    process.kill()
                    break
        return hits


def _is_binary_file(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return text_files.is_binary(file.read(8192))
    except OSError:
        return True


def _shorten(line: bytes) -> str:
    text = line[: 4 * LINE_LIMIT].decode("utf-8", errors="replace")
    return text if len(line) <= LINE_LIMIT or len(text) <= LINE_LIMIT else text[:LINE_LIMIT] + "…"
