"""Set up logging to a rotating file; the screen belongs to the front end."""

import logging
import logging.handlers
from pathlib import Path

from roo_tui import paths

_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


def set_up(level: int | str = logging.INFO) -> Path:
    """Log this program's records from `level` on, other libraries' warnings, and Python's warnings to the log file.

    Nothing is ever printed, even if the file cannot be written. A second call replaces the first. Return the path
    of the file.
    """
    file = paths.log_file()
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler, logging.handlers.RotatingFileHandler | logging.NullHandler):
            root.removeHandler(handler)
            handler.close()
    root.addHandler(_handler(file))
    root.setLevel(logging.WARNING)
    logging.getLogger("roo_tui").setLevel(level)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # tracebacks of a failing handler would be printed over the screen
    return file


def _handler(file: Path) -> logging.Handler:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            file, maxBytes=2_000_000, backupCount=3, encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        return logging.NullHandler()
    handler.setFormatter(logging.Formatter(_FORMAT))
    return handler
