"""The parts of a tool: its arguments, a plan that changes nothing, and a run.

`plan` reads what it needs, computes the diff and says what the call would do; the engine asks the user for approval if
the permission rules require it; `run` does it. A tool never asks for approval itself. It does not raise errors that the
model can correct, but returns a `CallFailure` (from `plan`) or an `Outcome` with `is_error`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from roo_tui.domain.blocks import Image, Text
from roo_tui.domain.entries import CallFacts
from roo_tui.domain.recall import Recall
from roo_tui.domain.views import ToolView
from roo_tui.workspace.files import Workspace

if TYPE_CHECKING:
    from pydantic import BaseModel


class Effect(StrEnum):
    """The kind of effect a call has; approval is decided by it."""

    READ = "read"
    EDIT = "edit"
    COMMAND = "command"
    TODO = "todo"
    ASK = "ask"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class CallFailure:
    """The call cannot be carried out; `for_model` says what is wrong and what to try."""

    for_model: str
    title: str = ""
    view: ToolView | None = None


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a call would do. `concerns` are reasons to always ask for approval (outside the workspace, protected).

    `state` belongs to the tool, which gets it back in `run`.
    """

    title: str
    effect: Effect
    view: ToolView | None = None
    concerns: tuple[str, ...] = ()
    state: Any = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call did: a reply for the model, a view for the user, facts for the log.

    `full_output` is the whole output if `for_model` has only part of it; it is stored. `detail` is a short phrase.
    The runner sets `duration_s`.
    """

    for_model: "str | tuple[Text | Image, ...]"
    view: ToolView | None = None
    facts: CallFacts = field(default_factory=CallFacts)
    is_error: bool = False
    full_output: str = ""
    detail: str = ""
    todos: tuple[tuple[str, str], ...] | None = None
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may use. `emit` shows output while it runs; `ask` asks the user a question (Effect.ASK only).

    `recall` searches hidden entries; it is None if the search is not available. Without a `user`, `ask` returns what
    the model gets instead of an answer.
    """

    workspace: Workspace
    emit: Callable[[str], None]
    ask: Callable[[str, tuple[str, ...]], Awaitable[str]]
    todos: tuple[tuple[str, str], ...] = ()
    recall: Callable[[Recall], Awaitable[str]] | None = None
    user: bool = True


class Tool(Protocol):
    """One tool: a class with a `name`, an `Arguments` model, `plan` and `run`.

    The schema comes from `Arguments`; `prompts/tools/<name>.md` describes the tool and each argument.
    """

    name: ClassVar[str]
    Arguments: "ClassVar[type[BaseModel]]"

    async def plan(self, arguments: Any, context: ToolContext) -> CallPlan | CallFailure:
        """Return what the call would do, or why it cannot be carried out. Changes nothing."""
        ...

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        """Carry out an approved plan and return what it did."""
        ...
