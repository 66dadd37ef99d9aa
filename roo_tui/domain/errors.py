"""The tree of expected errors. Each message says what is wrong and what a person can do next."""

from typing import Literal

from roo_tui.domain.markers import CondenseFailed

PathProblem = Literal[
    "bad_path", "ignored", "missing", "folder", "not_a_folder", "special", "binary", "too_large", "not_utf8", "failed"
]

_PATH_SENTENCES: dict[PathProblem, str] = {
    "bad_path": "“{path}” cannot be the name of a file.",
    "ignored": "{path} is listed in .rooignore, so the agent may not use it.",
    "missing": "{path} does not exist.",
    "folder": "{path} is a folder, not a file.",
    "not_a_folder": "{path} is not a folder.",
    "special": "{path} is not a regular file.",
    "binary": "{path} is a binary file ({detail}).",
    "too_large": "{path} is too large to be read whole ({detail}).",
    "not_utf8": "{path} is not UTF-8 ({detail}); convert it first, then it can be edited.",
    "failed": "{path} cannot be used: {detail}.",
}


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


class PathRefused(WorkspaceError):
    """A path cannot be read or written; `reason` says why, `detail` has the numbers or the system's words."""

    def __init__(self, reason: PathProblem, path: str, detail: str = "") -> None:
        super().__init__(_PATH_SENTENCES[reason].format(path=path, detail=detail))
        self.reason = reason
        self.path = path
        self.detail = detail


class CommandRefused(RooError):
    """An engine command cannot run now (nothing to undo, task is read-only, a point does not exist)."""


class WouldOverwrite(CommandRefused):
    """Files that a person changed since would be overwritten; the same command with `overwrite` does it."""


class CondenseRefused(CommandRefused):
    """No call was made: too few messages, condensed recently, or nothing would be freed."""


class HistoryTooLong(CondenseRefused):
    """The history does not fit into the request, or the parts, that would summarise it."""


class CondenseError(RooError):
    """A condense failed after the model was asked; `body` is what the log keeps of it."""

    def __init__(self, body: CondenseFailed) -> None:
        super().__init__(body.message)
        self.body = body


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
