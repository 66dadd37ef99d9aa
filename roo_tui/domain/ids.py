"""Identifiers: entries are integers per task and are written `e123`; all else is a short random word."""

import secrets

EntryId = int
TaskId = str


def entry_ref(entry_id: EntryId) -> str:
    """Return the way an entry is named to people and to the model, for example `e123`."""
    return f"e{entry_id}"


def parse_entry_ref(text: str) -> EntryId:
    """Return the id that `e123` (or `123`) names.

    Raises:
        ValueError: the text names no entry.
    """
    digits = text.strip().removeprefix("e")
    if not digits.isascii() or not digits.isdigit():
        raise ValueError(f"“{text}” is not an entry; entries are written like e12")
    return int(digits)


def new_id() -> str:
    """Return a new random id of 12 lower-case hexadecimal digits."""
    return secrets.token_hex(6)
