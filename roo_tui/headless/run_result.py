"""The result of a run, collected from the engine's events; every output format prints it."""

from dataclasses import dataclass, field

from roo_tui.domain.blocks import plain_text_of, tool_uses
from roo_tui.domain.entries import AssistantMessage, Body, UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.events import EntriesAppended, Event, RequestEnded, TaskOpened, TurnEnded
from roo_tui.domain.json_value import JsonValue
from roo_tui.domain.markers import Condense
from roo_tui.domain.usage import Usage
from roo_tui.headless.exit_codes import ExitCode, code_of


@dataclass(slots=True)
class RunResult:
    """The run so far. `answer` is the text of the last answer; `cost_usd` is None if the model's price is unknown."""

    task_id: str = ""
    answer: str = ""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    denied: int = 0
    message: str = ""
    code: ExitCode = ExitCode.FAILED
    request_failed: bool = False

    def add(self, event: Event) -> None:
        """Record what an event says about the run."""
        match event:
            case TaskOpened(task_id):
                self.task_id = task_id
            case EntriesAppended(_, entries):
                for entry in entries:
                    self._add_body(entry.body)
            case RequestEnded(outcome=outcome):
                self.request_failed = outcome == "failed"
            case TurnEnded(reason=reason, message=message):
                self.code, self.message = self._code(reason), message

    def fail(self, error: RooError) -> None:
        """End the run with an error."""
        self.code, self.message = code_of(error), str(error)

    def result(self) -> dict[str, JsonValue]:
        """Return the run as the object that ends `json` and `stream-json`."""
        return {
            "type": "Result",
            "result": self.answer,
            "task_id": self.task_id,
            "exit_reason": self.code.name.lower(),
            "exit_code": int(self.code),
            "message": self.message,
            "denied": self.denied,
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "cache_read_tokens": self.usage.cache_read_tokens,
                "cache_write_tokens": self.usage.cache_write_tokens,
                "output_tokens": self.usage.output_tokens,
            },
            "cost_usd": self.cost_usd,
        }

    def _add_body(self, body: Body) -> None:
        match body:
            case AssistantMessage(usage=usage):
                self.answer = final_answer(body) or self.answer
                self.usage += usage or Usage()
            case Condense(figures=figures):
                self.usage += figures.usage
            case UserMessage(calls=calls):
                self.denied += sum(call.decision == "denied" for call in calls)

    def _code(self, reason: str) -> ExitCode:
        match reason:
            case "completed":
                return ExitCode.REFUSED if self.denied else ExitCode.OK
            case "cancelled":
                return ExitCode.CANCELLED
            case "context_full":
                return ExitCode.CONTEXT_FULL
            case _:
                return ExitCode.MODEL if self.request_failed else ExitCode.FAILED


def final_answer(body: AssistantMessage) -> str:
    """Return what an answer ends with: the result it finishes the task with, else its text."""
    for call in reversed(tool_uses(body.blocks)):
        if call.name == "attempt_completion" and isinstance(result := call.input.get("result"), str):
            return result
    return plain_text_of(body.blocks)
