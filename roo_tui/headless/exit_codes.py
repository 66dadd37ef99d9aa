"""The program's exit codes and what they mean; `--help` and the documentation show this table."""

from enum import IntEnum

from roo_tui.domain.errors import (
    CommandRefused,
    ContextFull,
    Interrupted,
    MissingKey,
    ModelError,
    SettingsError,
    TaskLocked,
)


class ExitCode(IntEnum):
    """How the program ended; `MEANING` has a phrase for each."""

    OK = 0
    FAILED = 1
    USAGE = 2
    SETTINGS = 3
    REFUSED = 4
    LOCKED = 5
    CONTEXT_FULL = 6
    MODEL = 7
    CANCELLED = 130


MEANING: dict[ExitCode, str] = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "failed; the message says why",
    ExitCode.USAGE: "the command line is wrong",
    ExitCode.SETTINGS: "no API key, or an invalid setting",
    ExitCode.REFUSED: "refused: a call was denied, or there was nothing to do",
    ExitCode.LOCKED: "the task is open in another process",
    ExitCode.CONTEXT_FULL: "the context is full and could not be reduced",
    ExitCode.MODEL: "the model or its provider failed",
    ExitCode.CANCELLED: "interrupted",
}


def code_of(error: BaseException) -> ExitCode:
    """Return the exit code that an error ends with."""
    match error:
        case MissingKey() | SettingsError():
            return ExitCode.SETTINGS
        case ModelError():
            return ExitCode.MODEL
        case CommandRefused():
            return ExitCode.REFUSED
        case TaskLocked():
            return ExitCode.LOCKED
        case ContextFull():
            return ExitCode.CONTEXT_FULL
        case Interrupted() | KeyboardInterrupt():
            return ExitCode.CANCELLED
        case _:
            return ExitCode.FAILED


def table() -> str:
    """Return the codes with their meanings, one per line."""
    return "\n".join(f"  {code.value:>3}  {meaning}" for code, meaning in MEANING.items())
