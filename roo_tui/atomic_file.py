"""Write files atomically: readers see the old text or the new one, never a part, even after a crash."""

import os
import tempfile
from pathlib import Path

from roo_tui.plain_text import well_formed


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace a file's text (UTF-8, lone surrogates as U+FFFD), creating missing folders and following links.

    `mode` are the permission bits; the file has them from its first byte on.

    Raises:
        OSError: the file could not be written; nothing was changed.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(well_formed(text).encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
