import io
import json
from pathlib import Path

import pytest

from roo_tui.domain.entries import Entry, TaskInfo
from roo_tui.domain.errors import CommandRefused, CondenseRefused, ContextFull, MissingKey, SettingsError, TaskLocked
from roo_tui.domain.events import CondenseEnded, CondenseStarted, EntriesAppended, PromptRestored, ViewChanged
from roo_tui.domain.markers import Condense, CondenseFailed, Reduction
from roo_tui.domain.previews import CondenseRequest
from roo_tui.domain.views import Header
from roo_tui.headless import tasks
from roo_tui.headless.exit_codes import MEANING, ExitCode, code_of, table
from tests.support.scripted_engine import TASK, ScriptedEngine, ScriptedReader, Wait


async def test_tasks_are_listed_for_people_and_as_json() -> None:
    stored = [TaskInfo("abc", "fix \x1b[31mit\nnow", "here", 0, 0, 1200, 0.5), TaskInfo("def", "", "there", 0, 0)]
    engine = ScriptedEngine(reader=ScriptedReader(all_tasks=stored))
    out = io.StringIO()
    assert await tasks.list_tasks(engine, out, as_json=False) is ExitCode.OK
    first, second = out.getvalue().splitlines()
    assert "1,200 entries  $0.50  fix it now  here" in first
    assert "(no title)" in second
    out = io.StringIO()
    await tasks.list_tasks(engine, out, as_json=True)
    assert [task["id"] for task in json.loads(out.getvalue())] == ["abc", "def"]


async def test_the_last_word_of_an_import_is_the_new_tasks_id() -> None:
    engine, out = ScriptedEngine(), io.StringIO()
    await tasks.import_task(engine, Path("some chat.json"), "auto", out)
    assert out.getvalue().split()[-1] == "abc123"
    assert ("import_file", "some chat.json", "auto") in engine.calls


async def test_an_export_ends_with_one_line_break() -> None:
    out = io.StringIO()
    await tasks.export_task(ScriptedEngine(), TASK, "effective", "json", out)
    assert out.getvalue() == "effective json\n"


def condensed(*events) -> ScriptedEngine:
    return ScriptedEngine([CondenseStarted(TASK, "k", "manual", 148_210), *events])


async def test_a_condense_is_told_with_its_numbers() -> None:
    figures = Reduction(tokens_before=148_210, tokens_after=9_874, cost_usd=0.081)
    events = (
        EntriesAppended(TASK, (Entry(20, 19, 0, Condense((1, 2), (), figures)),)),
        CondenseEnded(TASK, "k", "condensed", entry_id=20),
    )
    out = io.StringIO()
    assert await tasks.condense_task(condensed(*events), TASK, out, CondenseRequest(), as_json=False) is ExitCode.OK
    assert out.getvalue() == "Context condensed  148,210 → 9,874 tokens  $0.08  native, 2 entries hidden\n"
    out = io.StringIO()
    await tasks.condense_task(condensed(*events), TASK, out, CondenseRequest(), as_json=True)
    found = json.loads(out.getvalue())
    assert (found["outcome"], found["entry"], found["tokens_after"]) == ("condensed", "e20", 9_874)


async def test_a_failed_condense_keeps_status_code_and_body() -> None:
    failed = CondenseFailed("manual", "Overloaded.", 529, "overloaded_error", "{}", tokens_before=10)
    events = (
        EntriesAppended(TASK, (Entry(20, 19, 0, failed),)),
        CondenseEnded(TASK, "k", "failed", "Overloaded.", 20),
    )
    out = io.StringIO()
    assert await tasks.condense_task(condensed(*events), TASK, out, CondenseRequest(), as_json=True) is ExitCode.MODEL
    found = json.loads(out.getvalue())
    assert (found["status"], found["code"], found["body"]) == (529, "overloaded_error", "{}")
    out = io.StringIO()
    await tasks.condense_task(condensed(*events), TASK, out, CondenseRequest(), as_json=False)
    assert out.getvalue() == "Condense failed. Overloaded.\n"


@pytest.mark.parametrize(
    "script", [[CondenseRefused("Too few messages.")], [CondenseEnded(TASK, "k", "refused", "Too few messages.")]]
)
async def test_a_refused_condense_says_why(script: list) -> None:
    out = io.StringIO()
    assert (
        await tasks.condense_task(ScriptedEngine(script), TASK, out, CondenseRequest(), as_json=False)
        is ExitCode.REFUSED
    )
    assert "Too few messages." in out.getvalue()


async def test_a_rewind_prints_the_message_that_was_taken_back() -> None:
    engine = ScriptedEngine([ViewChanged(TASK, "rewind"), PromptRestored(TASK, "fix the test")])
    out = io.StringIO()
    assert await tasks.rewind_task(engine, TASK, 12, out, files=True) is ExitCode.OK
    assert ("rewind", 12, True, True, False) in engine.calls
    assert out.getvalue().startswith("Rewound the conversation and files to e12; the context holds 9,874 tokens.\n")
    assert out.getvalue().endswith("fix the test\n")


async def test_undo_says_what_the_context_holds_now() -> None:
    engine, out = ScriptedEngine([]), io.StringIO()
    assert await tasks.undo_task(engine, TASK, out) is ExitCode.OK
    assert out.getvalue() == "Undone; the context holds 9,874 tokens.\n"


async def test_nothing_to_undo_is_an_error_and_the_engine_is_closed() -> None:
    engine = ScriptedEngine([CommandRefused("Nothing to undo.")])
    with pytest.raises(CommandRefused):
        await tasks.undo_task(engine, TASK, io.StringIO())
    assert engine.calls[-1] == ("close",)


async def test_a_task_that_is_open_elsewhere_is_not_changed() -> None:
    for work in (
        lambda engine: tasks.condense_task(engine, TASK, io.StringIO(), CondenseRequest(), as_json=False),
        lambda engine: tasks.rewind_task(engine, TASK, 1, io.StringIO()),
        lambda engine: tasks.undo_task(engine, TASK, io.StringIO()),
    ):
        engine = ScriptedEngine([Wait()], ScriptedReader(the_header=Header(read_only="Open elsewhere.")))
        with pytest.raises(TaskLocked):
            await work(engine)
        assert [call[0] for call in engine.calls] == ["start", "open_task", "close"]


def test_every_exit_code_has_a_meaning_and_is_in_the_table() -> None:
    assert set(MEANING) == set(ExitCode)
    assert all(f"{code.value:>3}  {meaning}" in table() for code, meaning in MEANING.items())
    errors = [MissingKey("x"), SettingsError("x"), CondenseRefused("x"), TaskLocked("x"), ContextFull("x"), OSError()]
    assert [int(code_of(error)) for error in errors] == [3, 3, 4, 5, 6, 1]
