"""Ids: an entry has an integer, unique within its task and written `e123`; everything else has a short random id."""

import secrets

EntryId = int
TaskId = str


def entry_ref(entry_id: EntryId) -> str:
    """Return an entry's name as the user and the model see it, for example `e123`."""
    return f"e{entry_id}"


def parse_entry_ref(text: str) -> EntryId:
    """Return the id that `e123` (or `123`) names.

    Raises:
        ValueError: the text does not name an entry.
    """
    digits = text.strip().removeprefix("e")
    if not digits.isascii() or not digits.isdigit():
        raise ValueError(f"“{text}” is not an entry. Write it like e12.")
    return int(digits)


def new_id() -> str:
    """Return a new random id of 12 lower-case hexadecimal digits."""
    return secrets.token_hex(6)
