"""The messages sent so far, kept in a small file so that ↑ brings them back after a restart."""

import json
import logging
from pathlib import Path

log = logging.getLogger(__name__)

_LIMIT = 500


class PromptHistory:
    """Moves through sent messages; the unsent text is kept at the newest end."""

    def __init__(self, items: list[str] | None = None, file: Path | None = None) -> None:
        self._items = items or []
        self._file = file
        self._at = len(self._items)
        self._draft = ""

    @classmethod
    def load(cls, file: Path) -> "PromptHistory":
        """Read the file; lines that cannot be read are left out, and a missing file is an empty history."""
        items = []
        try:
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines()[-_LIMIT:]:
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                if isinstance(value, str):
                    items.append(value)
        except FileNotFoundError:
            pass
        except OSError as error:
            log.warning("cannot read the prompt history %s: %s", file, error)
        return cls(items, file)

    def add(self, words: str) -> None:
        """Remember a sent message, unless it is the last one again."""
        if not self._items or self._items[-1] != words:
            self._items.append(words)
            self._append(words)
        self._at, self._draft = len(self._items), ""

    def _append(self, words: str) -> None:
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                # ASCII only: a lone surrogate would not go into UTF-8.
                file.write(json.dumps(words) + "\n")
        except OSError as error:
            log.warning("cannot write the prompt history %s: %s", self._file, error)

    def older(self, current: str) -> str | None:
        """Return the previous message, None at the oldest one; `current` is the text in the prompt."""
        if self._at == 0:
            return None
        if self._at == len(self._items):
            self._draft = current
        self._at -= 1
        return self._items[self._at]

    def newer(self) -> str | None:
        """Return the next message, at the end the unsent text; None if nothing is newer."""
        if self._at >= len(self._items):
            return None
        self._at += 1
        return self._draft if self._at == len(self._items) else self._items[self._at]
