"""What a tool is: arguments, a plan that touches nothing, and a run.

`plan` looks (reads files, computes the diff) and says what the call would do; the engine asks the person if its policy
says so; `run` does it. A tool never asks for approval itself and never raises for what a model can mend: it returns
`CallFailure` (from `plan`) or an `Outcome` with `is_error`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from roo_tui.domain.blocks import Image, Text
from roo_tui.domain.entries import CallFacts
from roo_tui.domain.views import ToolView
from roo_tui.workspace.files import Workspace

if TYPE_CHECKING:
    from pydantic import BaseModel


class Effect(StrEnum):
    """The class of effect a call has; the approval policy knows only these."""

    READ = "read"
    EDIT = "edit"
    COMMAND = "command"
    TODO = "todo"
    ASK = "ask"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class CallFailure:
    """The call cannot be done; `for_model` says what was wrong and what to try."""

    for_model: str
    title: str = ""
    view: ToolView | None = None


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a call would do. `concerns` are reasons to ask whatever the policy says (outside the workspace, protected).

    `state` is the tool's own and is handed back to `run`.
    """

    title: str
    effect: Effect
    view: ToolView | None = None
    concerns: tuple[str, ...] = ()
    state: Any = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call did: words for the model, a view for people, facts for the log.

    `full_output` is set where `for_model` shows the output cut; it is stored whole. `detail` is one short phrase.
    `duration_s` is filled in by the runner.
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
    """What a tool may use. `emit` shows output while it runs; `ask` puts a question to the person (Effect.ASK only)."""

    workspace: Workspace
    emit: Callable[[str], None]
    ask: Callable[[str, tuple[str, ...]], Awaitable[str]]
    todos: tuple[tuple[str, str], ...] = ()
    recall: Callable[[str], Awaitable[str]] | None = None


class Tool(Protocol):
    """One tool: a class with a `name`, an `Arguments` model, `plan` and `run`.

    The schema comes from `Arguments`; what the tool and each argument are for is in `prompts/tools/<name>.md`.
    """

    name: ClassVar[str]
    Arguments: "ClassVar[type[BaseModel]]"

    async def plan(self, arguments: Any, context: ToolContext) -> CallPlan | CallFailure: ...

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome: ...
