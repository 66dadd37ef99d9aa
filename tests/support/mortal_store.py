"""A store that dies at a commit, as its program would: just before it, or just after it was made."""

from typing import Any

_WRITES = frozenset({"append", "move_head", "save_draft", "enqueue", "set_title", "spend", "set_value", "put_blob"})


class Crash(BaseException):
    """The program is gone: nothing that handles errors may handle this."""


class MortalStore:
    """Any store; after `die` was called, so many more writes succeed and then nothing does."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._writes_left: int | None = None
        self._late = False

    def die(self, after: int, *, late: bool) -> None:
        """Die at the write that follows so many others; `late`: only after it was made."""
        self._writes_left, self._late = after, late

    @property
    def dead(self) -> bool:
        return self._writes_left is not None and self._writes_left < 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in _WRITES:
            return method

        async def write(*arguments: Any, **values: Any) -> Any:
            if self._writes_left is None:
                return await method(*arguments, **values)
            self._writes_left -= 1
            if self._writes_left >= 0:
                return await method(*arguments, **values)
            if self._writes_left == -1 and self._late:
                await method(*arguments, **values)
            raise Crash

        return write
