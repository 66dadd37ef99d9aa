"""Turns of the real engine: what is committed, sent and said."""

from pathlib import Path

import pytest

from roo_tui.domain.blocks import Text, Thinking, tool_results
from roo_tui.domain.entries import CallStarted, Checkpoint, UserMessage
from roo_tui.domain.errors import ModelError, WouldOverwrite
from roo_tui.domain.events import BlockStarted, BlockText, EntriesAppended, RetryWaiting, ToolOutput, TurnEnded
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.domain.views import AnswerRow, FailureRow, ReductionRow, ToolRow, UserRow
from tests.support.engines import engine_on, path_of
from tests.support.scripted_model import ScriptedModel, call, hang, overflow


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


async def test_a_plain_question_is_answered_and_stored(workspace: Path) -> None:
    model = ScriptedModel(["Hello **there**."])
    async with engine_on(workspace, model) as (engine, recorder):
        end = await recorder.turn("hi")
        assert (end.reason, end.message) == ("completed", "")
        rows = [row.body for row in await engine.read.rows()]
        assert [type(body) for body in rows][-2:] == [UserRow, AnswerRow]
        assert "".join(event.text for event in recorder.of(BlockText)) == "Hello **there**."
    assert "environment_details" in str(model.requests[0].messages[0])


async def test_a_committed_answer_names_the_blocks_that_streamed(workspace: Path) -> None:
    hanging = hang("Half")
    model = ScriptedModel([[Thinking("Well."), Text("Hello."), call("read_file", "c1", path="a.txt")], hanging])
    async with engine_on(workspace, model) as (engine, recorder):
        await engine.submit("hi")
        await hanging.reached.wait()
        engine.cancel()
        await engine.idle()
        told = [event for event in recorder.of(EntriesAppended) if event.block_ids]
        streamed = [event.block_id for event in recorder.of(BlockStarted)]
        assert [len(event.block_ids) for event in told] == [3, 1]
        assert [block_id for event in told for block_id in event.block_ids] == streamed


async def test_a_queued_message_waits_after_a_failed_turn_until_something_is_sent(workspace: Path) -> None:
    model = ScriptedModel([call("execute_command", "c1", command="sleep 0.3"), ModelError("No.", status=401), "Done."])
    async with engine_on(workspace, model, auto_approve=True) as (engine, recorder):
        await engine.submit("first")
        await engine.submit("second")
        end = await recorder.until(lambda event: isinstance(event, TurnEnded))
        await engine.idle()
        assert end.reason == "failed"
        assert [item.words for item in engine.read.queue()] == ["second"]
        assert (await recorder.turn("")).reason == "completed"
        assert engine.read.queue() == ()
    assert "second" in str(model.requests[-1].messages[-1])


async def test_a_call_is_committed_before_it_runs_and_its_result_is_sent(workspace: Path) -> None:
    model = ScriptedModel([call("read_file", "c1", path="a.txt"), "It has two lines."])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("what is in a.txt?")
        kinds = [type(entry.body) for entry in path_of(engine)]
        assert kinds.index(CallStarted) < len(kinds) - 1 - kinds[::-1].index(UserMessage)
        row = next(row.body for row in await engine.read.rows() if isinstance(row.body, ToolRow))
        assert (row.tool, row.title, row.state) == ("read_file", "a.txt", "done")
    result = tool_results(model.requests[1].messages[-1].blocks)[0]
    assert result.tool_use_id == "c1" and "two" in str(result.content)


async def test_an_edit_is_asked_about_shown_as_a_diff_and_checkpointed(workspace: Path) -> None:
    asked = []

    def answer(question):
        asked.append(question.body)
        return "allow", ""

    model = ScriptedModel([call("write_to_file", path="a.txt", content="three\n"), "Done."])
    async with engine_on(workspace, model, answer=answer) as (engine, recorder):
        await recorder.turn("write three")
        assert (workspace / "a.txt").read_text() == "three\n"
        assert asked[0].view.type == "diff" and asked[0].view.new == "three\n"
        trees = [e.body.tree for e in path_of(engine) if isinstance(e.body, Checkpoint)]
        assert len(set(trees)) == 2


async def test_a_denied_call_does_not_run_and_the_reason_reaches_the_model(workspace: Path) -> None:
    model = ScriptedModel([call("execute_command", "c1", command="touch made"), "Understood."])
    async with engine_on(workspace, model, answer=lambda _: ("deny", "use a file instead")) as (_, recorder):
        await recorder.turn("make it")
    assert not (workspace / "made").exists()
    assert "use a file instead" in str(model.requests[1].messages[-1])


async def test_always_is_remembered_for_this_very_command(workspace: Path) -> None:
    asked = []

    def answer(question):
        asked.append(question.body.title)
        return "always", ""

    commands = [call("execute_command", f"c{n}", command=text) for n, text in enumerate(["true", "true", "echo b"])]
    async with engine_on(workspace, ScriptedModel([*commands, "ok"]), answer=answer) as (_, recorder):
        await recorder.turn("go")
    assert asked == ["true", "echo b"]


async def test_escape_keeps_what_was_streamed_and_the_next_request_is_valid(workspace: Path) -> None:
    hanging = hang("Half an ans")
    model = ScriptedModel([hanging, "Next."])
    async with engine_on(workspace, model) as (engine, recorder):
        await engine.submit("go")
        await hanging.reached.wait()
        engine.cancel()
        await engine.idle()
        end = recorder.of(TurnEnded)[-1]
        assert isinstance(end, TurnEnded) and end.reason == "cancelled"
        answer = [row.body for row in await engine.read.rows() if isinstance(row.body, AnswerRow)][-1]
        assert answer.text == "Half an ans" and answer.interrupted
        await recorder.turn("go on")
    assert any("Half an ans" in str(message) for message in model.requests[1].messages)


async def test_a_cancelled_command_has_a_result_that_says_so(workspace: Path) -> None:
    model = ScriptedModel([call("execute_command", "c1", command="echo started; sleep 600"), "ok"])
    async with engine_on(workspace, model) as (engine, recorder):
        await engine.submit("go")
        await recorder.until(lambda event: isinstance(event, ToolOutput))
        engine.cancel()
        await engine.idle()
        await recorder.turn("and now?")
    results = [block for message in model.requests[1].messages for block in tool_results(message.blocks)]
    assert results[0].is_error and "interrupted" in str(results[0].content)


async def test_messages_typed_meanwhile_are_sent_once_and_in_order(workspace: Path) -> None:
    model = ScriptedModel([call("ask_followup_question", "c1", question="Which?", follow_up=["a", "b"]), "1", "2", "3"])
    seen = []

    async with engine_on(workspace, model, answer=lambda q: ("1", "")) as (engine, recorder):
        await engine.submit("first")
        await engine.submit("second")
        await engine.submit("third")
        await engine.idle()
        recorder.drain()
        while engine.busy or len(model.requests) < 4:
            await recorder.until(lambda event: isinstance(event, TurnEnded))
            await engine.idle()
        assert engine.read.queue() == ()
        seen = [row.body.words for row in await engine.read.rows() if isinstance(row.body, UserRow)]
    assert seen == ["first", "second", "third"]


async def test_a_request_that_failed_is_told_and_can_be_tried_again(workspace: Path) -> None:
    model = ScriptedModel([ModelError("Bad request", status=400, code="invalid_request_error", body="{}"), "fine"])
    async with engine_on(workspace, model) as (engine, recorder):
        end = await recorder.turn("hi")
        assert end.reason == "failed" and "Bad request" in end.message
        end = await recorder.turn("")
        assert end.reason == "completed"
        assert not recorder.of(RetryWaiting)
        assert [row.body.words for row in await engine.read.rows() if isinstance(row.body, UserRow)] == ["hi"]


@pytest.mark.line("A3")
async def test_a_manual_condense_hides_and_can_be_undone_and_redone(workspace: Path) -> None:
    model = ScriptedModel([call("read_file", "c1", path="a.txt"), "A long answer. " * 100, "After.", "More."])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("what is in a.txt? " * 50)
        await recorder.turn("go on")
        before = engine.read.context_use().used
        await engine.condense()
        await engine.idle()
        row = [row.body for row in await engine.read.rows()][-1]
        assert isinstance(row, ReductionRow) and row.on and row.tokens_after < row.tokens_before == before
        assert engine.read.context_use().used == row.tokens_after
        await engine.undo()
        assert engine.read.context_use().used == before
        await engine.redo()
        assert engine.read.context_use().used == row.tokens_after
        await recorder.turn("next")
    sent = str(model.requests[-1].messages)
    assert "Conversation Summary" in sent and "A long answer" not in sent


async def test_an_automatic_condense_fires_at_the_trigger(workspace: Path) -> None:
    model = ScriptedModel(["word " * 4000, "ok", "ok"])
    model.info = type(model.info)("scripted", "scripted", window=12_000, max_output=1000, token_factor=1.0)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("first")
        await recorder.turn("x " * 6000)
        path = path_of(engine)
        assert any(isinstance(entry.body, Condense) and entry.body.figures.trigger == "automatic" for entry in path)


@pytest.mark.line("C23")
async def test_an_overflow_the_provider_reports_is_reduced_and_retried(workspace: Path) -> None:
    model = ScriptedModel(["word " * 2000, overflow(90_000, 50_000), "fits now"])
    model.tokens = lambda request: 40_000
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("first")
        end = await recorder.turn("second")
        assert end.reason == "completed"
        path = path_of(engine)
        assert any(isinstance(e.body, Condense | Truncation) and e.body.figures.trigger == "forced" for e in path)
        assert engine.read.context_use().window == 50_000


async def test_a_provider_with_a_smaller_output_limit_is_asked_for_less(workspace: Path) -> None:
    said = "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for scripted"
    refused = ModelError(said, status=400, code="invalid_request_error")
    model = ScriptedModel([refused, "Short.", "Short again."])
    async with engine_on(workspace, model) as (engine, recorder):
        assert (await recorder.turn("hi")).reason == "completed"
        assert (await recorder.turn("again")).reason == "completed"
        assert engine.read.context_use().reserved == 4096
    assert [request.max_output for request in model.requests] == [8192, 4096, 4096]


@pytest.mark.line("C27")
async def test_a_failing_manual_condense_changes_nothing(workspace: Path) -> None:
    model = ScriptedModel(["long " * 500, "ok"])
    model.summary = ModelError("boom", status=400, code="api_error", body='{"error": 1}')
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("first " * 100)
        await recorder.turn("second")
        before = await engine.read.export("effective", "json")
        await engine.condense()
        await engine.idle()
        failure = path_of(engine)[-1].body
        assert isinstance(failure, CondenseFailed) and failure.status == 400
        assert await engine.read.export("effective", "json") == before


async def test_a_reopened_task_sends_the_same_history(workspace: Path) -> None:
    model = ScriptedModel([[Thinking("hm", "sig", "scripted", "scripted"), Text("One.")], "Two."])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("first")
        task_id = engine.read.header().task_id
        rows = await engine.read.rows()
    async with engine_on(workspace, model, task=task_id) as (engine, recorder):
        assert await engine.read.rows() == rows
        await recorder.turn("second")
    assert "One." in str(model.requests[1].messages) and model.requests[1].messages[1].blocks[0] == Thinking(
        "hm", "sig", "scripted", "scripted"
    )


async def test_rewind_restores_conversation_and_files_and_can_be_undone(workspace: Path) -> None:
    model = ScriptedModel([call("write_to_file", "c1", path="a.txt", content="new\n"), "Written.", "later"])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("hello")
        await recorder.turn("again")
        points = [point for point in await engine.read.rewind_points() if point.kind == "user"]
        preview = await engine.read.rewind_preview(points[0].entry_id)
        assert [change.path for change in preview.files] == ["a.txt"]
        await engine.rewind(points[0].entry_id, files=True)
        assert (workspace / "a.txt").read_text() == "one\ntwo\n"
        assert not [row for row in await engine.read.rows() if isinstance(row.body, UserRow)]
        await engine.undo()
        assert (workspace / "a.txt").read_text() == "new\n"
        assert len([row for row in await engine.read.rows() if isinstance(row.body, UserRow)]) == 2


async def test_files_that_a_rewind_restored_are_not_taken_for_changes_of_the_users_own(workspace: Path) -> None:
    model = ScriptedModel([call("write_to_file", "c1", path="a.txt", content="new\n"), "Written."])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("hello")
        (point,) = [point for point in await engine.read.rewind_points() if point.kind == "user"]
        await engine.rewind(point.entry_id, conversation=False, files=True)
        assert (workspace / "a.txt").read_text() == "one\ntwo\n"
        await engine.undo()
        assert (workspace / "a.txt").read_text() == "new\n"
        await engine.redo()
        assert (workspace / "a.txt").read_text() == "one\ntwo\n"
        (workspace / "a.txt").write_text("mine\n")
        with pytest.raises(WouldOverwrite, match=r"a\.txt"):
            await engine.undo()
        assert (workspace / "a.txt").read_text() == "mine\n"


async def test_a_file_over_ten_megabytes_is_named_as_not_restorable_and_one_just_under_is_restored(
    workspace: Path, tmp_path: Path
) -> None:
    sizes = {"under.bin": 10_000_000, "over.bin": 10_000_001}
    for name, size in sizes.items():
        (workspace / name).write_bytes(b"0" * size)
        (tmp_path / name).write_bytes(b"1" * size)
    change = call("execute_command", "c1", command="cp ../under.bin ../over.bin .")
    async with engine_on(workspace, ScriptedModel([change, "Changed."])) as (engine, recorder):
        await recorder.turn("change them")
        notes = [row.body for row in await engine.read.rows() if isinstance(row.body, FailureRow)]
        assert [(note.title, note.message) for note in notes] == [
            ("Not part of checkpoints; a rewind cannot restore them", "over.bin")
        ]
        (point,) = [point for point in await engine.read.rewind_points() if point.kind == "user"]
        preview = await engine.read.rewind_preview(point.entry_id)
        assert ([change.path for change in preview.files], preview.skipped) == (["under.bin"], ("over.bin",))
        await engine.rewind(point.entry_id, files=True)
    assert {name: (workspace / name).read_bytes()[:1] for name in sizes} == {"under.bin": b"0", "over.bin": b"1"}
