"""The tree of expected errors. Each message says what is wrong and what a person can do next."""


class RooError(Exception):
    """Base of every expected error; its text is fit for the screen."""


class SettingsError(RooError):
    """A settings file, profile or value cannot be used; names file, key, value and what would be valid."""


class StoreError(RooError):
    """The data folder or database cannot be read or written."""


class TaskLocked(StoreError):
    """Another process has the task open for writing."""


class TaskNotFound(StoreError):
    """No task has this id."""


class ExchangeError(StoreError):
    """A file cannot be imported or a task cannot be exported."""


class CheckpointError(RooError):
    """A snapshot or restore failed; nothing was changed unless the text says so."""


class WorkspaceError(RooError):
    """A path is refused: outside the workspace, ignored, or not readable."""


class CommandRefused(RooError):
    """An engine command cannot run now (nothing to undo, task is read-only, a point does not exist)."""


class WouldOverwrite(CommandRefused):
    """Files that a person changed since would be overwritten; the same command with `overwrite` does it."""


class CondenseRefused(CommandRefused):
    """No call was made: too few messages, condensed recently, or nothing would be freed."""


class ContextFull(RooError):
    """Every rung failed and the request does not fit; carries exact numbers in its text."""


class ModelError(RooError):
    """A provider refused or failed.

    `status` is the HTTP status (0 if no answer came), `code` the provider's error type or code, `body` its
    answer as text. `retryable` is true for rate limits, overload, server errors, cut and silent connections.
    `retry_after_s` is the provider's wish, if any.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "",
        body: str = "",
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.body = body
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class MissingKey(ModelError):
    """No API key was found; the text says where one can be put."""
