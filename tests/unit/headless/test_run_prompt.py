import io
import json
import os
import signal

import pytest

from roo_tui.domain.blocks import Text, ToolUse
from roo_tui.domain.entries import AssistantMessage, CallRecord, UserMessage
from roo_tui.domain.errors import CommandRefused, ModelError
from roo_tui.domain.events import (
    Approval,
    BlockEnded,
    BlockStarted,
    BlockText,
    Choice,
    CondenseEnded,
    CondenseStarted,
    EntriesAppended,
    Event,
    Notice,
    Option,
    Question,
    QuestionAsked,
    RequestEnded,
    RequestStarted,
    RetryWaiting,
    TurnEnded,
    TurnStarted,
)
from roo_tui.domain.usage import Usage
from roo_tui.domain.views import FailureRow, Header, ReductionRow, ToolRow
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.headless.output import output
from roo_tui.headless.run import run_prompt
from roo_tui.prompt_files import render
from tests.support.scripted_engine import TASK, ScriptedEngine, ScriptedReader, Wait, entry, row

STARTED: list[Event] = [TurnStarted(TASK, "1"), RequestStarted(TASK, "1", "r", 1)]
COMPLETED = TurnEnded(TASK, "1", "completed")


def spoken(words: str, block: str = "b") -> list[Event]:
    return [
        BlockStarted(TASK, block, "text"),
        *(BlockText(TASK, block, part) for part in words.partition(" ")),
        BlockEnded(TASK, block),
    ]


def answered(words: str, number: int = 2, usage: Usage | None = None) -> EntriesAppended:
    return EntriesAppended(TASK, (entry(number, AssistantMessage((Text(words),), usage=usage)),))


def question(body, *options: str) -> QuestionAsked:
    return QuestionAsked(TASK, Question("q1", body, tuple(Option(option, option) for option in options)))


APPROVAL = question(Approval("c1", "execute_command", "rm x", "command", None), "allow", "always", "deny")


async def run(engine: ScriptedEngine, kind: str = "text", **options) -> tuple[ExitCode, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = await run_prompt(engine, "do it", output(kind, engine.read.rows_of, out, err), **options)
    return code, out.getvalue(), err.getvalue()


async def test_the_answer_goes_to_standard_output_and_steps_to_standard_error() -> None:
    read = ToolRow("c1", "read_file", "src/a.py", "done", "12 lines")
    denied = ToolRow("c2", "execute_command", "rm\nx", "denied")
    reduced = ReductionRow("condense", True, 148_210, 9_874, 0.08, "automatic", "native", 3)
    failed = FailureRow("Condense failed", "Overloaded")
    reader = ScriptedReader(all_rows=(row(2, read), row(3, denied), row(4, reduced), row(5, failed)))
    engine = ScriptedEngine(
        [
            *STARTED,
            *spoken("Looking at \x1b[31mit.\x1b[0m"),
            EntriesAppended(TASK, tuple(entry(number, UserMessage(())) for number in (2, 3, 4, 5))),
            RetryWaiting(TASK, "request", 1, 3, 2.0, "Overloaded (529)."),
            RetryWaiting(TASK, "request", 1, 3, 1.0, "Overloaded (529)."),
            CondenseStarted(TASK, "k", "automatic", 10),
            CondenseEnded(TASK, "k", "refused", "Too few messages."),
            Notice(TASK, "info", "Nearly full."),
            *spoken("It is done."),
            COMPLETED,
        ],
        reader,
    )
    code, out, err = await run(engine)
    assert code is ExitCode.OK
    assert out == "Looking at it.\n\nIt is done.\n"
    assert err.splitlines() == [
        "read_file  src/a.py  12 lines",
        "execute_command  rm x  denied",
        "Context condensed  148,210 → 9,874 tokens  $0.08",
        "Condense failed: Overloaded",
        "Overloaded (529). Retrying in 2 s (1 of 3).",
        "Condensing context…",
        "Too few messages.",
        "Nearly full.",
    ]
    assert engine.calls == [("start",), ("new_task",), ("submit", "do it"), ("close",)]


async def test_the_result_of_attempt_completion_is_the_answer() -> None:
    blocks = (Text("Finishing."), ToolUse("c1", "attempt_completion", {"result": "All tests pass."}))
    script = [*STARTED, EntriesAppended(TASK, (entry(2, AssistantMessage(blocks)),)), COMPLETED]
    assert (await run(ScriptedEngine(script)))[1] == "All tests pass.\n"
    _, out, _ = await run(ScriptedEngine(script), "json")
    assert json.loads(out)["result"] == "All tests pass."


async def test_json_is_one_object_with_usage_cost_and_reason() -> None:
    class Paid(ScriptedReader):
        def header(self) -> Header:
            self.the_header = Header(cost_usd=self.the_header.cost_usd + 0.25)
            return self.the_header

    engine = ScriptedEngine(
        [*STARTED, *spoken("x y"), answered("Hello \ud800", 2, Usage(10, 20, 30, 5)), COMPLETED], Paid()
    )
    code, out, err = await run(engine, "json")
    found = json.loads(out)
    assert (code, err) == (ExitCode.OK, "")
    assert found["result"] == "Hello \ud800"
    assert (found["task_id"], found["exit_reason"], found["exit_code"]) == (TASK, "ok", 0)
    assert found["usage"] == {
        "input_tokens": 10, "cache_read_tokens": 20, "cache_write_tokens": 30, "output_tokens": 5,
    }  # fmt: skip
    assert found["cost_usd"] > 0


async def test_stream_json_is_one_object_for_each_event_and_a_result() -> None:
    engine = ScriptedEngine([*STARTED, *spoken("Hello there"), answered("Hello there"), COMPLETED])
    _, out, _ = await run(engine, "stream-json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["type"] for line in lines] == [
        "TaskOpened", "TurnStarted", "RequestStarted", "BlockStarted", "BlockText", "BlockText", "BlockText",
        "BlockEnded", "EntriesAppended", "TurnEnded", "Result",
    ]  # fmt: skip
    assert lines[3]["block_type"] == "text"
    assert lines[8]["entries"][0]["body"] == {
        **lines[8]["entries"][0]["body"], "kind": "assistant", "blocks": [{"text": "Hello there", "type": "text"}],
    }  # fmt: skip


async def test_an_approval_is_denied_without_auto_approve_and_the_run_ends_as_refused() -> None:
    record = CallRecord("c1", "execute_command", decision="denied")
    engine = ScriptedEngine(
        [*STARTED, APPROVAL, EntriesAppended(TASK, (entry(2, UserMessage((), calls=(record,))),)), COMPLETED]
    )
    code, _, err = await run(engine)
    assert ("answer", "q1", "deny", render("headless/denied")) in engine.calls
    assert code is ExitCode.REFUSED
    assert "1 call was denied. Add --auto-approve" in err


async def test_an_approval_is_allowed_with_auto_approve() -> None:
    engine = ScriptedEngine([*STARTED, APPROVAL, COMPLETED])
    code, _, _ = await run(engine, auto_approve=True)
    assert ("answer", "q1", "allow", "") in engine.calls
    assert code is ExitCode.OK


async def test_a_question_is_answered_with_the_fact_that_no_one_is_here() -> None:
    engine = ScriptedEngine([question(Choice("Which one?"), "1", "2"), COMPLETED])
    await run(engine, auto_approve=True)
    assert ("answer", "q1", "", render("headless/no_answer")) in engine.calls


async def test_a_question_without_free_text_gets_its_last_option() -> None:
    engine = ScriptedEngine([question(Choice("Go on?", free_text=False), "yes", "no"), COMPLETED])
    await run(engine)
    assert ("answer", "q1", "no", "") in engine.calls


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([TurnEnded(TASK, "1", "failed", "Disk full.")], ExitCode.FAILED),
        ([RequestEnded(TASK, "1", "r", "failed"), TurnEnded(TASK, "1", "failed", "Overloaded.")], ExitCode.MODEL),
        ([TurnEnded(TASK, "1", "context_full", "201,000 of 200,000.")], ExitCode.CONTEXT_FULL),
        ([TurnEnded(TASK, "1", "cancelled")], ExitCode.CANCELLED),
        ([ModelError("No.")], ExitCode.MODEL),
        ([CommandRefused("No.")], ExitCode.REFUSED),
        ([], ExitCode.FAILED),
    ],
)
async def test_each_end_has_its_exit_code(events: list, code: ExitCode) -> None:
    found, _, err = await run(ScriptedEngine(events))
    assert found is code
    _, out, _ = await run(ScriptedEngine(events), "json")
    assert json.loads(out)["exit_code"] == int(code)
    message = str(getattr(events[-1], "message", events[-1])) if events else ""
    assert message in err
    assert json.loads(out)["message"] == message


async def test_a_broken_attempt_is_told_apart_from_the_next_one() -> None:
    engine = ScriptedEngine(
        [
            BlockStarted(TASK, "b", "text"),
            BlockText(TASK, "b", "Half"),
            RequestEnded(TASK, "1", "r", "failed"),
            *spoken("Whole answer", "c"),
            RequestEnded(TASK, "1", "r", "finished"),
            COMPLETED,
        ]
    )
    code, out, err = await run(engine)
    assert out == "Half\n\nWhole answer\n"
    assert "A retry starts it again" in err
    assert code is ExitCode.OK


async def test_a_failure_that_has_a_row_is_told_once() -> None:
    failed = row(2, FailureRow("The request failed", "Overloaded. Try again in a moment."))
    script: list[Event] = [
        EntriesAppended(TASK, (entry(2, UserMessage(())),)),
        TurnEnded(TASK, "1", "failed", "Overloaded. Try again in a moment."),
    ]
    _, _, err = await run(ScriptedEngine(script, ScriptedReader(all_rows=(failed,))))
    assert err == "The request failed: Overloaded. Try again in a moment.\n"


async def test_an_interrupt_cancels_the_turn() -> None:
    class Interrupted(ScriptedEngine):
        async def submit(self, words: str) -> None:
            await super().submit(words)
            os.kill(os.getpid(), signal.SIGINT)

    engine = Interrupted([*STARTED, Wait(), TurnEnded(TASK, "1", "cancelled")])
    code, _, _ = await run(engine)
    assert code is ExitCode.CANCELLED
    assert ("cancel",) in engine.calls
    assert engine.calls[-1] == ("close",)


async def test_a_reader_that_leaves_ends_the_run() -> None:
    class Left(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    engine = ScriptedEngine([*STARTED, *spoken("Hello there"), Wait()])
    with pytest.raises(BrokenPipeError):
        await run_prompt(engine, "do it", output("text", engine.read.rows_of, Left(), io.StringIO()))
    assert engine.calls[-2:] == [("cancel",), ("close",)]


async def test_a_task_can_be_resumed_or_continued() -> None:
    engine = ScriptedEngine([COMPLETED], latest="newest")
    await run(engine, latest=True)
    assert ("open_task", "newest") in engine.calls
    engine = ScriptedEngine([COMPLETED])
    await run(engine, task_id="abc")
    assert ("open_task", "abc") in engine.calls


async def test_continue_without_a_task_is_refused() -> None:
    code, _, err = await run(ScriptedEngine([COMPLETED]), latest=True)
    assert code is ExitCode.REFUSED
    assert "no task to continue" in err


async def test_a_task_that_is_open_elsewhere_is_left_alone() -> None:
    reader = ScriptedReader(the_header=Header(read_only="Another roo-tui has this task open."))
    engine = ScriptedEngine([COMPLETED], reader)
    code, _, err = await run(engine, task_id="abc")
    assert code is ExitCode.LOCKED
    assert "Another roo-tui" in err
    assert not [call for call in engine.calls if call[0] == "submit"]
