"""All expected errors. Each message says what is wrong and what the user can do."""

from typing import Literal

from roo_tui.domain.markers import CondenseFailed

PathProblem = Literal[
    "bad_path",
    "ignored",
    "missing",
    "folder",
    "not_a_folder",
    "special",
    "binary",
    "bad_image",
    "too_large",
    "not_utf8",
    "failed",
]

_PATH_SENTENCES: dict[PathProblem, str] = {
    "bad_path": "“{path}” is not a valid file name.",
    "ignored": "{path} is listed in .rooignore, so the agent may not use it.",
    "missing": "{path} does not exist.",
    "folder": "{path} is a folder, not a file.",
    "not_a_folder": "{path} is not a folder.",
    "special": "{path} is not a regular file.",
    "binary": "{path} is a binary file ({detail}).",
    "bad_image": "{path} cannot be shown to the model: {detail}.",
    "too_large": "{path} is too large to read in full ({detail}).",
    "not_utf8": "{path} is not UTF-8 ({detail}). Convert it before editing.",
    "failed": "{path} cannot be used: {detail}.",
}


class RooError(Exception):
    """Base class of every expected error. Its text can be shown to the user."""


class SettingsError(RooError):
    """A settings file, profile or value is invalid. The text names the file, key, value and valid values."""


class StoreError(RooError):
    """The data folder or database cannot be read or written."""


class TaskLocked(StoreError):
    """Another process has the task open for writing."""


class TaskNotFound(StoreError):
    """There is no task with this id."""


class ExchangeError(StoreError):
    """A file cannot be imported or a task cannot be exported."""


class CheckpointError(RooError):
    """A checkpoint or restore failed. Nothing was changed unless the text says so."""


class WorkspaceError(RooError):
    """A path is refused: outside the workspace, ignored, or not readable."""


class PathRefused(WorkspaceError):
    """A path cannot be read or written. `reason` says why; `detail` holds the figures or the system's message."""

    def __init__(self, reason: PathProblem, path: str, detail: str = "") -> None:
        super().__init__(_PATH_SENTENCES[reason].format(path=path, detail=detail))
        self.reason = reason
        self.path = path
        self.detail = detail


class CommandRefused(RooError):
    """An engine command cannot run now, for example because there is nothing to undo or the task is read-only."""


class Interrupted(RooError):
    """A command was interrupted before it had any effect."""


class WouldOverwrite(CommandRefused):
    """The command would overwrite files that the user changed. Run it again with `overwrite` to do so."""


class CondenseRefused(CommandRefused):
    """A condense was refused before any model was asked: too few messages, nothing new, or nothing to free."""


class HistoryTooLong(CondenseRefused):
    """The history is too long to summarise, in one request or in parts."""


class CondenseError(RooError):
    """A condense failed after a model was asked. `body` is the entry body to append to the log."""

    def __init__(self, body: CondenseFailed) -> None:
        super().__init__(body.message)
        self.body = body


class ContextFull(RooError):
    """The request does not fit and no reduction helped. The text gives exact figures."""


class ModelError(RooError):
    """A provider refused a request or failed.

    `status` is the HTTP status (0 if no answer came), `code` the provider's error type or code, `body` its answer as
    text. `retryable` is true for rate limits, overload, server errors, and broken or silent connections.
    `retry_after_s` is the delay the provider asked for, if any.
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
    """No API key was found. The text says where to put one."""
