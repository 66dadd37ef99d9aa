"""What a condense does to the history, on the real engine."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from roo_tui import paths, settings
from roo_tui.context.history.effective import Visible
from roo_tui.domain.entries import UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.events import Notice
from roo_tui.domain.markers import Condense
from roo_tui.domain.views import AnswerRow, ReductionRow, UserRow
from roo_tui.engine import Engine
from tests.support.engines import Recorder, bodies, engine_on, path_of
from tests.support.scripted_model import Answer, ScriptedModel, call
from tests.support.talks import (
    condensed,
    effective,
    long,
    said,
    scripted_app,
    small,
    summarising,
    talking,
)


def answers(count: int) -> list[Answer]:
    return [f"answer number {number}, and what belongs to it. {long(number)}" for number in range(count)]


async def condensed_thrice(engine: Engine, recorder: Recorder) -> None:
    """Six messages with a condense after every second one."""
    for number in range(6):
        await recorder.turn(f"question number {number}?")
        if number % 2:
            await condensed(engine)


@pytest.mark.line("A1")
async def test_a_resumed_task_sends_the_summary_and_the_new_message_and_nothing_that_was_condensed(
    workspace: Path,
) -> None:
    model = ScriptedModel([*answers(2), "ok"])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("question number 0?")
        await recorder.turn("question number 1?")
        await condensed(engine)
        task = engine.read.header().task_id
    async with engine_on(workspace, model, task=task) as (_, recorder):
        await recorder.turn("after the break")
    (message,) = model.requests[-1].messages
    sent = said(model.requests[-1])
    assert "Conversation Summary" in sent and "after the break" in sent
    assert "question number" not in sent and "answer number" not in sent
    assert message.role == "user"


@pytest.mark.line("A2")
async def test_a_rewind_to_before_any_of_several_condenses_finds_the_history_as_it_was(workspace: Path) -> None:
    model = ScriptedModel(answers(6))
    before: dict[str, list[tuple[Visible, ...]]] = {"user": [], "condense": []}
    async with engine_on(workspace, model) as (engine, recorder):
        for number in range(6):
            before["user"].append(effective(engine))
            await recorder.turn(f"question number {number}?")
            if number % 2:
                await condensed(engine)
                before["condense"].append(effective(engine))
        points = await engine.read.rewind_points()
        assert len(points) == 9
        for point in reversed(points):
            await engine.rewind(point.entry_id)
            assert effective(engine) == before[point.kind].pop()
            await engine.undo()
            assert len(bodies(engine, Condense)) == 3
        await engine.rewind(points[1].entry_id)
        assert bodies(engine, Condense) == []
        await recorder.turn("another way")
    assert "question number 0?" in said(model.requests[-1])
    assert "answer number 0" in said(model.requests[-1])
    assert "Conversation Summary" not in said(model.requests[-1])


@pytest.mark.line("A3")
async def test_after_an_undone_condense_the_originals_and_everything_since_are_sent(workspace: Path) -> None:
    model = ScriptedModel([*answers(4), "ok"])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("question number 0?")
        await recorder.turn("question number 1?")
        await condensed(engine)
        await recorder.turn("question number 2?")
        await recorder.turn("question number 3?")
        await engine.undo(next(e.id for e in path_of(engine) if isinstance(e.body, Condense)))
        await recorder.turn("question number 4?")
    sent = said(model.requests[-1])
    for number in range(4):
        assert sent.count(f"question number {number}?") == 1
        assert f"answer number {number}," in sent
    assert "question number 4?" in sent and "Conversation Summary" not in sent


@pytest.mark.line("A4")
async def test_one_key_takes_a_condense_back_and_the_figure_with_it(workspace: Path) -> None:
    model = ScriptedModel(answers(2))
    async with scripted_app(workspace, model) as screen:
        engine = screen.engine
        for words in ("one", "two"):
            await screen.type(words)
            await screen.press("enter")
            await screen.until(lambda: len(model.requests) and not engine.busy, "the answer")
        used, seen = engine.read.context_use().used, effective(engine)
        await screen.press("ctrl+t")
        await screen.until(lambda: engine.read.context_use().used < used, "the condense")
        await screen.until(lambda: not engine.busy, "the end of it")
        assert f"{used:,}" not in screen.text().splitlines()[-1]
        await screen.press("f8")
        await screen.until(lambda: engine.read.context_use().used == used, "the figure of before")
        assert effective(engine) == seen


@pytest.mark.line("A5")
async def test_every_message_can_be_scrolled_to_and_found_after_three_condenses_and_a_resume(
    workspace: Path,
) -> None:
    model = ScriptedModel(answers(6))
    async with engine_on(workspace, model) as (engine, recorder):
        await condensed_thrice(engine, recorder)
        task = engine.read.header().task_id
    async with scripted_app(workspace, model, task=task) as screen:
        rows = await screen.rows()
        asked = {row.key: row.body.words for row in rows if isinstance(row.body, UserRow)}
        told = [row for row in rows if isinstance(row.body, AnswerRow)]
        assert list(asked.values()) == [f"question number {number}?" for number in range(6)]
        assert len(told) == 6 and not any(row.in_context for row in rows if row.key in asked or row in told)
        for key, message in asked.items():
            screen.app.chat.transcript.scroll_to_key(key)
            await screen.sees(message)
        for number in range(6):
            found = await screen.engine.read.find(f'"answer number {number}"')
            assert [hit.entry_id for hit in found] == [told[number].entry_id]


@pytest.mark.line("A5a")
async def test_a_condense_is_a_point_of_its_own_to_rewind_to(workspace: Path) -> None:
    model = ScriptedModel(answers(3))
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("question number 0?")
        await recorder.turn("question number 1?")
        await condensed(engine)
        just_after = effective(engine)
        await recorder.turn("question number 2?")
        points = await engine.read.rewind_points()
        assert [point.kind for point in points] == ["user", "user", "condense", "user"]
        await engine.rewind(points[2].entry_id)
        assert effective(engine) == just_after


@pytest.mark.line("A5b")
@pytest.mark.parametrize("hindrance", ["", "edited by hand", "snapshots gone", "move refused"])
async def test_a_rewind_of_both_past_a_condense_takes_both_or_nothing(workspace: Path, hindrance: str) -> None:
    file = workspace / "plan.txt"
    file.write_text("as found\n")
    model = ScriptedModel([call("write_to_file", path="plan.txt", content="as written\n"), *answers(2)])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("write it")
        await recorder.turn("and then?")
        await condensed(engine)
        point = next(point for point in await engine.read.rewind_points() if point.kind == "user")
        before = (effective(engine), len(bodies(engine, Condense)))
        if hindrance == "edited by hand":
            file.write_text("as edited\n")
        if hindrance == "snapshots gone":
            shutil.rmtree(paths.checkpoints_dir())
        if hindrance == "move refused":
            await engine._runtime.store._database.run(_refuse_moves)
        if not hindrance:
            await engine.rewind(point.entry_id, conversation=True, files=True)
            assert effective(engine) == () and file.read_text() == "as found\n"
            return
        left = file.read_text()
        with pytest.raises(RooError):
            await engine.rewind(point.entry_id, conversation=True, files=True)
        assert (effective(engine), len(bodies(engine, Condense))) == before and file.read_text() == left


def _refuse_moves(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TRIGGER refuse BEFORE INSERT ON moves BEGIN SELECT RAISE(ABORT, 'refused'); END")


@pytest.mark.line("A5c")
async def test_what_is_stored_grows_by_a_summary_for_each_condense_and_nothing_old_is_written_again(
    workspace: Path,
) -> None:
    model = ScriptedModel(answers(10))
    sizes = []
    async with engine_on(workspace, model) as (engine, recorder):
        for number in range(5):
            await recorder.turn(f"question number {number}?")
            await recorder.turn("and more of it?")
            before = _stored()
            await condensed(engine)
            after = _stored()
            assert after[: len(before)] == before
            (added,) = after[len(before) :]
            sizes.append(len(added[-1]))
        assert len(bodies(engine, Condense)) == 5
    assert max(sizes) < 1.5 * min(sizes)


def _stored() -> list[tuple[int, int | None, int, str]]:
    with sqlite3.connect(paths.database_file()) as connection:
        found = connection.execute("SELECT id, parent_id, at_ms, body FROM entries ORDER BY id").fetchall()
    connection.close()
    return found


@pytest.mark.line("A6")
async def test_a_coming_condense_is_announced_once_with_where_and_how_to_put_it_off(workspace: Path) -> None:
    settings.save({"context.threshold_percent": 50})
    model = ScriptedModel([*answers(1), *["short"] * 6], info=small(100_000))
    model.tokens = lambda request: 38_000 if len(model.requests) == 1 else 41_000
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("one")
        assert not recorder.of(Notice)
        for words in ("two", "three", "four"):
            await recorder.turn(words)
        (notice,) = recorder.of(Notice)
        assert isinstance(notice, Notice)
        assert f"{engine.read.context_use().trigger_tokens:,}" in notice.text
        assert "raise the threshold" in notice.text
    assert not summarising(model)


TODOS = "[x] read the old parser\n[-] move it to src/new.py\n[ ] run the tests"
REQUEST = 'Move the parser to "src/new.py", then run the tests; keep {braces} and [brackets].'


def mid_task(workspace: Path) -> ScriptedModel:
    """A model whose third request in the first turn comes at a context that is due to be condensed."""
    (workspace / "old.py").write_text("\n".join(f"value_{number} = {number}" for number in range(900)))
    settings.save({"context.threshold_percent": 60})
    plan, read = call("update_todo_list", todos=TODOS), call("read_file", path="old.py")
    return ScriptedModel([plan, read, "Moved.", "Next."], info=small(16_000))


@pytest.mark.line("A7", "A10")
async def test_an_automatic_condense_in_the_middle_of_a_task_carries_the_request_and_open_items_verbatim(
    workspace: Path,
) -> None:
    model = mid_task(workspace)
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn(REQUEST)
        (marker,) = bodies(engine, Condense)
        assert marker.figures.trigger == "automatic"
        assert [state for _, state in engine.read.header().todos] == ["done", "in_progress", "pending"]
        await recorder.turn("thanks")
        await condensed(engine)
        await recorder.turn("what is left?")
    sent = said(talking(model)[2])
    assert "Conversation Summary" in sent and REQUEST in sent
    assert "[in_progress] move it to src/new.py" in sent and "[pending] run the tests" in sent
    assert "[done] read" not in sent and "value_800" not in sent
    # Answered since, the request is no longer what is worked on; open items stay open, done ones done.
    last = said(talking(model)[-1])
    assert REQUEST not in last and "[pending] run the tests" in last
    assert "[x] read the old parser" in last and last.count("read the old parser") == 1


@pytest.mark.line("A9")
async def test_rules_in_the_request_after_a_condense_are_those_on_disk(workspace: Path) -> None:
    model = mid_task(workspace)
    rules = workspace / "AGENTS.md"
    rules.write_text("Use tabs.\n")
    model.answers.insert(1, call("write_to_file", path="AGENTS.md", content="Use four blanks.\n"))
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn(REQUEST)
        assert len(bodies(engine, Condense)) == 1
        assert "Use tabs." in str(talking(model)[0].system)
        after = talking(model)[3]
        assert "Conversation Summary" in said(after)
        assert "Use four blanks." in str(after.system) and "Use tabs." not in str(after.system)
        await condensed(engine)
        rules.write_text("Use two blanks.\n")
        await recorder.turn("go on")
    assert rules.read_text().strip() in str(model.requests[-1].system)


@pytest.mark.line("A8")
async def test_a_first_request_when_pinned_is_found_word_for_word_after_five_condenses(workspace: Path) -> None:
    first = "Build the shed by docs/plan.md: oak, 2 x 3 metres, no nails."
    model = ScriptedModel(answers(7))
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn(first)
        path = path_of(engine)
        await engine.pin(next(entry.id for entry in path if isinstance(entry.body, UserMessage)))
        for number in range(5):
            await recorder.turn(f"question number {number}?")
            await condensed(engine)
        assert [isinstance(row.body, ReductionRow) for row in await engine.read.rows()].count(True) == 5
        await recorder.turn("and now?")
    assert first in said(model.requests[-1])
