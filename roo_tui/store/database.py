"""The SQLite file: one connection owned by one thread, migrations, and errors that tell the user what to do.

It uses a write-ahead log with `synchronous = FULL`: commits survive a killed process and a power cut.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from roo_tui.domain.errors import StoreError

T = TypeVar("T")
logger = logging.getLogger(__name__)

_BUSY_MS = 10_000

_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its folder writable, or set ROO_TUI_HOME",
    sqlite3.SQLITE_PERM: "opening it is not permitted; check the permissions of the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that its folder exists and is writable, or set ROO_TUI_HOME",
    sqlite3.SQLITE_BUSY: "another program is using it; close that program and try again",
    sqlite3.SQLITE_LOCKED: "another program is using it; close that program and try again",
    sqlite3.SQLITE_IOERR: "reading or writing it failed; check the disk and its free space",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore a backup, or move it away to start with an empty one",
    sqlite3.SQLITE_NOTADB: "it is not a roo-tui database; move it away to start with an empty one",
    sqlite3.SQLITE_TOOBIG: "a text is too large to store (more than 1 GB)",
}


class Database:
    """A connection on its own thread, which runs functions of the connection one at a time."""

    def __init__(self, path: Path) -> None:
        """Open the file, created with its folder if needed, and migrate it to the newest version.

        Raises:
            StoreError: the file cannot be opened or written, is damaged, or was written by a newer roo-tui.
        """
        self.path = path
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store")
        try:
            self._connection = self._writer.submit(_connect, path).result()
        except BaseException:
            self._writer.shutdown()
            raise

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return `work(connection)`, run on the writer thread in the order of the calls.

        The work is done even if the caller is cancelled while it waits.

        Raises:
            StoreError: the database reported an error, or it is closed.
        """

        def translated() -> T:
            with _translated(self.path):
                return work(self._connection)

        try:
            future = asyncio.get_running_loop().run_in_executor(self._writer, translated)
        except RuntimeError as error:
            raise StoreError("The store is closed; start roo-tui again.") from error
        return await asyncio.shield(future)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return `work(connection)`, run as one transaction: committed when this returns, rolled back if it raises."""

        def transaction(connection: sqlite3.Connection) -> T:
            with _transaction(connection):
                return work(connection)

        return await self.run(transaction)

    async def close(self) -> None:
        """Finish the pending work and close the file. Closing twice does nothing."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        try:
            self._writer.submit(self._connection.close)
        except RuntimeError:
            return
        self._writer.shutdown()


def _connect(path: Path) -> sqlite3.Connection:
    with _translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes may start at the same time; one of them creates or migrates the file.
        with FileLock(path.with_name(path.name + ".lock"), timeout=_BUSY_MS / 1000):
            connection = sqlite3.connect(path, timeout=_BUSY_MS / 1000, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                _migrate(connection, path)
            except BaseException:
                connection.close()
                raise
            return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    scripts = _migrations()
    if version > len(scripts):
        raise StoreError(
            f"{path} was written by a newer roo-tui (database version {version}; this one knows {len(scripts)}). "
            "Install the newer version, or set ROO_TUI_HOME to another folder."
        )
    for number, script in enumerate(scripts[version:], start=version + 1):
        with _transaction(connection):
            for statement in script.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")


def _migrations() -> list[str]:
    folder = resources.files("roo_tui.store.migrations")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(folder / name).read_text("utf-8") for name in names]


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        logger.warning("the database reported an error", exc_info=True)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        advice = _ADVICE.get(code, "the database reported an error; see the log file for details")
        raise StoreError(f"{path} cannot be used: {advice} ({error}).") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"{path} cannot be used: {reason}. Check its folder, or set ROO_TUI_HOME to a writable folder."
        ) from error
