"""Ends the program when its terminal is gone.

A closed terminal sends a hang-up to those that have it as their controlling terminal, not to everyone. Without one,
reading would go on for ever, and the first write that cannot be done holds up the event loop; so this looks from a
thread.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

_CHECK_S = 2.0
_GRACE_S = 3.0
_HUNG_UP = 129
"""128 and the number of the signal a closed terminal sends."""


def watch_terminal(leave: Callable[[], None]) -> None:
    """Begin to look, if there is a terminal now. `leave` is called from another thread when it is gone.

    The process is ended some seconds later, whatever became of that: all that was shown is on disk.
    """
    if _is_there():
        threading.Thread(target=_watch, args=(leave,), name="terminal watch", daemon=True).start()


def _watch(leave: Callable[[], None]) -> None:
    while _is_there():
        time.sleep(_CHECK_S)
    log.warning("the terminal is gone")
    leave()
    time.sleep(_GRACE_S)
    os._exit(_HUNG_UP)


def _is_there() -> bool:
    return sys.__stdin__ is not None and sys.__stdin__.isatty()
