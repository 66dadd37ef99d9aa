"""Recall and search on the real engine: what is hidden comes back, to the model and to the user."""

import re
from pathlib import Path

import pytest

from roo_tui.domain.blocks import result_text, tool_results
from roo_tui.domain.entries import UserMessage
from roo_tui.domain.requests import Request
from tests.support.engines import engine_on, path_of
from tests.support.scripted_model import ScriptedModel, call


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "shed.md").write_text("The ladder is behind the door.\n" + "More about the shed.\n" * 300)
    return folder


def first_result(request: Request) -> str:
    """Return the id of the first hidden result that a request names."""
    found = re.search(r"\[(e\d+): result of", str(request.messages))
    assert found is not None
    return found[1]


async def test_the_model_brings_back_what_a_condense_hid(workspace: Path) -> None:
    model = ScriptedModel(
        [
            call("read_file", "c1", path="shed.md"),
            "Read. " * 50,
            call("recall_history", "c2", query="where does the user keep climbing tools: door"),
            lambda request: call("recall_history", "c3", id=first_result(request)),
            "Behind the door.",
        ]
    )
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("read shed.md, please")
        await engine.condense()
        await engine.idle()
        await recorder.turn("where was it?")
    seen = str(model.requests[3].messages)
    assert "The ladder is behind the door" not in seen
    (found,) = tool_results(model.requests[4].messages[-1].blocks)
    assert "The ladder is behind the door." in result_text(found)
    assert "result of read_file shed.md" in result_text(found)
    (by_id,) = tool_results(model.requests[5].messages[-1].blocks)
    assert result_text(by_id).count("More about the shed.") == 300


async def test_the_user_finds_text_on_every_branch_and_sees_where_it_is(workspace: Path) -> None:
    model = ScriptedModel(["One. " * 100, "Two. " * 100, "Three."])
    async with engine_on(workspace, model) as (engine, recorder):
        await recorder.turn("paint the fence")
        await recorder.turn("paint the gate")
        second = [point for point in await engine.read.rewind_points() if point.kind == "user"][1]
        await engine.rewind(second.entry_id)
        await engine.condense()
        await engine.idle()
        found = {hit.excerpt.split(" <env")[0]: hit for hit in await engine.read.find("paint")}
        fence = next(hit for text, hit in found.items() if text.startswith("paint the fence"))
        gate = next(hit for text, hit in found.items() if text.startswith("paint the gate"))
        assert (fence.on_path, fence.in_context) == (True, False)
        assert (gate.on_path, gate.in_context) == (False, False)
        assert await engine.read.find("nowhere") == ()


async def test_a_recall_changes_no_file_and_takes_no_snapshot(workspace: Path) -> None:
    model = ScriptedModel([call("recall_history", "c1", query="anything"), "Nothing there."])
    async with engine_on(workspace, model) as (engine, recorder):
        end = await recorder.turn("look back")
        assert end.reason == "completed"
        record = next(
            body.calls[0]
            for body in (entry.body for entry in path_of(engine))
            if isinstance(body, UserMessage) and body.calls
        )
        assert (record.tool, record.decision, record.facts.changed) == ("recall_history", "auto", ())
