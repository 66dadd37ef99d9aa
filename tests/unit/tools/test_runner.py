import asyncio
import logging

import pytest
from pydantic import BaseModel

from roo_tui.domain.blocks import ToolUse
from roo_tui.prompt_files import names, placeholders
from roo_tui.tools import registry
from roo_tui.tools.arguments import ToolArguments
from roo_tui.tools.base import CallFailure, CallPlan, Effect, Outcome, ToolContext
from roo_tui.tools.runner import Prepared, plan_call, run_call
from tests.support.tool_bench import Bench


def test_every_tool_has_a_description_and_a_clean_schema() -> None:
    specs = registry.specs()
    assert [spec.name for spec in specs] == list(registry.all_tools())
    for spec in specs:
        assert len(spec.description) > 40
        assert spec.schema["type"] == "object"
        assert spec.schema["additionalProperties"] is False
        assert "title" not in spec.schema
        for name, argument in spec.schema["properties"].items():
            assert argument.keys() >= {"type", "description"}, (spec.name, name)
            assert not argument.keys() & {"title", "anyOf", "$ref"}, (spec.name, name)


def test_what_prompts_say_of_arguments_is_of_those_the_tools_take() -> None:
    said = {name for name in names() if "/argument_" in name}
    assert said == {
        f"tools/{spec.name}/argument_{name}" for spec in registry.specs() for name in spec.schema["properties"]
    }


def test_every_tool_has_exactly_one_description_without_placeholders() -> None:
    described = {name.removeprefix("tools/") for name in names() if name.startswith("tools/") and name.count("/") == 1}
    assert described == set(registry.all_tools())
    assert not any(placeholders(f"tools/{name}") for name in described)


async def test_an_unknown_tool_is_told_what_there_is(bench: Bench) -> None:
    words = await bench.failure("edit_file", path="x")
    assert "“edit_file”" in words
    assert "apply_diff" in words


async def test_invalid_arguments_are_named_with_what_the_tool_takes(bench: Bench) -> None:
    words = await bench.failure("read_file", file_path="x", first_line="zero")
    assert "- path: Field required" in words
    assert "- file_path: Extra inputs are not permitted" in words
    assert "- first_line: Input should be a valid integer" in words
    assert "- path (string, required): The file, relative to the workspace." in words


async def test_harmless_slips_are_understood(bench: Bench) -> None:
    bench.write("a", "1\n2\n3\n")
    assert await bench.result("read_file", path="a", first_line="2", last_line=2.0) == "2 | 2"
    assert await bench.result("read_file", path="a", first_line=None, last_line=None) == "1 | 1\n2 | 2\n3 | 3"
    bench.write("7", "seven\n")
    assert await bench.result("read_file", path=7) == "1 | seven"
    await bench.run("ask_followup_question", question="?", suggestions='["yes", "no"]')
    assert bench.asked == [("?", ("yes", "no"))]


class _Broken:
    name = "broken"

    class Arguments(ToolArguments):
        at: str = "run"

    async def plan(self, arguments: Arguments, context: ToolContext) -> CallPlan | CallFailure:
        if arguments.at == "plan":
            raise RuntimeError("no plan")
        return CallPlan("x", Effect.READ, state=arguments.at)

    async def run(self, plan: CallPlan, context: ToolContext) -> Outcome:
        if plan.state == "cancel":
            raise asyncio.CancelledError
        raise RuntimeError("no run")


@pytest.fixture
def broken_tool(monkeypatch: pytest.MonkeyPatch) -> type[BaseModel]:
    monkeypatch.setitem(registry.all_tools(), "broken", _Broken())
    return _Broken.Arguments


async def test_a_defect_of_a_tool_is_logged_and_told_as_an_error(
    bench: Bench, broken_tool: type[BaseModel], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        assert "RuntimeError: no plan" in await bench.failure("broken", at="plan")
        outcome = await bench.run("broken")
    assert outcome.is_error
    assert "RuntimeError: no run" in str(outcome.for_model)
    assert len([record for record in caplog.records if record.exc_info]) == 2


async def test_a_cancel_goes_through(bench: Bench, broken_tool: type[BaseModel]) -> None:
    prepared = await plan_call(ToolUse("c", "broken", {"at": "cancel"}), bench.context)
    assert isinstance(prepared, Prepared)
    with pytest.raises(asyncio.CancelledError):
        await run_call(prepared, bench.context)


async def test_a_run_is_timed(bench: Bench) -> None:
    outcome = await bench.run("execute_command", command="sleep 0.05")
    assert 0.05 <= outcome.duration_s < 5
