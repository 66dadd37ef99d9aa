"""The output of a command: all of it on disk, only its end in memory."""

import logging
import tempfile

from roo_tui.prompt_files import render

log = logging.getLogger(__name__)

KEPT = 64_000_000
"""The first bytes of an output that are kept; if there are more, so are the last `TAIL` bytes."""

TAIL = 65_536


class CommandOutput:
    """Collects the bytes of an output in order, in a temporary file that `close` deletes."""

    def __init__(self) -> None:
        # Closed by `close`, since it lives as long as the command.
        self._file = tempfile.TemporaryFile(prefix="roo-tui-output-")  # noqa: SIM115
        self._tail = bytearray()
        self._kept = 0
        self._room = KEPT
        self.size = 0

    def add(self, data: bytes) -> None:
        """Append bytes."""
        if part := data[: self._room]:
            try:
                self._file.seek(self._kept)
                self._file.write(part)
                self._kept += len(part)
                self._room -= len(part)
            except OSError as error:
                log.warning("the rest of a command's output cannot be kept: %s", error)
                self._room = 0
        self.size += len(data)
        self._tail += data
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    def text(self) -> str:
        """Return the whole output; if its middle was not kept, a line says how much is missing."""
        self._file.seek(0)
        kept = self._file.read(self._kept)
        tail_start = self.size - len(self._tail)
        if tail_start <= self._kept:
            return _decode(kept + self._tail[self._kept - tail_start :])
        lost = render("tools/execute_command/output_lost", size=f"{tail_start - self._kept:,}")
        return f"{_decode(kept)}\n{lost}\n{_decode(bytes(self._tail))}"

    def since(self, offset: int, limit: int) -> str:
        """Return the output after the first `offset` bytes, at most the last `limit` bytes of it (and `TAIL`)."""
        length = min(limit, TAIL, max(0, self.size - offset))
        return _decode(bytes(self._tail[len(self._tail) - length :]))

    def close(self) -> None:
        """Delete the kept output."""
        self._file.close()


def _decode(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")
