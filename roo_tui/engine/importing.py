"""Conversations of other programs, read as the bodies of a new task."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CommandRefused

FORMS = ("auto", "messages", "roo")


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read; `times` are when each body came to be, None where the file does not say."""

    title: str
    bodies: Sequence[Body]
    times: Sequence[int] | None = None


def read(path: Path, form: str) -> Imported:
    """Return a conversation: `messages` is a JSON list of messages, `roo` a task folder of Roo Code's.

    Raises:
        CommandRefused: the format is not one of `FORMS`.
        ExchangeError: the file is not what it should be.
    """
    from roo_tui.store.exchange import messages, roo_code

    if form not in FORMS:
        raise CommandRefused(f"“{form}” is not a known format; use {', '.join(FORMS[:-1])} or {FORMS[-1]}.")
    title = f"Imported from {path.name}"
    if form == "roo" or (form == "auto" and roo_code.is_task(path)):
        task = roo_code.read_task(path)
        return Imported(task.title or title, task.bodies, task.times)
    return Imported(title, messages.read_messages(path))
