"""The demo's model: its script over requests as an engine would send them, with tools played by the test."""

import asyncio
import json
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roo_tui.commands import COMMANDS
from roo_tui.domain.blocks import Block, Message, Text, Thinking, ToolResult, ToolUse, tool_uses
from roo_tui.domain.requests import BlockClosed, BlockDelta, BlockOpened, Finished, Request, Started, ToolSpec
from roo_tui.llm import build
from roo_tui.llm.catalog import Catalog
from roo_tui.llm.demo.model import DemoModel
from roo_tui.llm.demo.position import is_condense_request, typed_text
from roo_tui.llm.demo.script import RUN_TESTS, TASKS
from roo_tui.llm.options import Profile

INFO = Catalog.load().info("demo", "demo")
TOOLS = (ToolSpec("read_file", "reads", {"type": "object"}),)
FAILING = "Exit code 1 after 0.1 s.\n\nValueError: day is out of range for month\nFAILED (errors=1)"
PASSING = "Exit code 0 after 0.1 s.\n\nRan 16 tests in 0.009s\n\nOK"
ENVIRONMENT = "<environment_details>\nTime: now\n</environment_details>"
ASK_FOR_SUMMARY = Message("user", (Text("Summarise. Write <analysis> tags, then <summary> tags."),))


class Talk:
    """A conversation with the demo. `outputs` are what commands print, one after the other."""

    def __init__(self, *outputs: str) -> None:
        self.model = DemoModel(INFO, speed=0)
        self.messages: list[Message] = []
        self.outputs = list(outputs)
        self.denied: set[str] = set()

    async def answer(self, tools: tuple[ToolSpec, ...] = TOOLS) -> tuple[Block, ...]:
        events = [event async for event in self.model.stream(Request(tuple(self.messages), ("Be good.",), tools))]
        return tuple(event.block for event in events if isinstance(event, BlockClosed))

    async def step(self) -> list[str]:
        """Let the model answer and its calls run; return the tools it called."""
        blocks = await self.answer()
        self.messages.append(Message("assistant", blocks))
        calls = tool_uses(blocks)
        if calls:
            self.messages.append(Message("user", tuple(self._result(call) for call in calls)))
        return [call.name for call in calls]

    async def say(self, words: str, steps: int = 100) -> list[str]:
        """Say something and let the model work until it is done; return every tool it called."""
        self.messages.append(Message("user", (Text(words), Text(ENVIRONMENT))))
        return await self.go_on(steps)

    async def go_on(self, steps: int = 100) -> list[str]:
        used: list[str] = []
        for _ in range(steps):
            names = await self.step()
            used += names
            if not names or names[-1] == "attempt_completion":
                break
        return used

    async def condense(self) -> str:
        """Put a summary in place of everything, as the engine does in the middle of a tool loop."""
        summary = await self.summary()
        reminder = "<system-reminder>\nThe request: fix the failing date test\n</system-reminder>"
        blocks = (Text(f"## Conversation Summary\n{summary}"), Text(reminder), Text(ENVIRONMENT))
        self.messages = [Message("user", blocks)]
        return summary

    async def summary(self) -> str:
        """Return the summary of the conversation, its tool blocks written out as text."""
        written = [Message(message.role, tuple(map(_as_text, message.blocks))) for message in self.messages]
        request = Request((*written, ASK_FOR_SUMMARY))
        assert is_condense_request(request)
        return "".join([event.text async for event in self.model.stream(request) if isinstance(event, BlockDelta)])

    def last_words(self) -> str:
        spoken = [message for message in self.messages if message.role == "assistant"][-1]
        calls = " ".join(json.dumps(call.input) for call in tool_uses(spoken.blocks))
        return " ".join(block.text for block in spoken.blocks if isinstance(block, Text)) + calls

    def _result(self, call: ToolUse) -> ToolResult:
        if call.name in self.denied:
            return ToolResult(call.id, "The user denied this call; it was not run.", is_error=True)
        return ToolResult(call.id, self.outputs.pop(0) if call.name == "execute_command" else "done")


def _as_text(block: Block) -> Block:
    match block:
        case ToolUse():
            return Text(f"[Tool Use: {block.name}]")
        case ToolResult():
            return Text(f"[Tool Result{' (Error)' if block.is_error else ''}]\n{block.content}")
        case Thinking():
            return Text("")
        case _:
            return block


async def test_the_first_message_starts_the_repair_whatever_it_says() -> None:
    talk = Talk(FAILING, PASSING)
    used = await talk.say("hello there")
    assert used[:2] == ["update_todo_list", "list_files"]
    assert used[-1] == "attempt_completion"
    assert used.count("read_file") == 7
    assert used.count("execute_command") == 2
    assert used.index("apply_diff") > used.index("execute_command")
    assert "Fixed" in talk.last_words()


async def test_the_tests_are_run_by_the_python_that_runs() -> None:
    talk = Talk(FAILING)
    await talk.say("fix it", steps=6)
    commands = [
        call.input["command"]
        for message in talk.messages
        for call in tool_uses(message.blocks)
        if "command" in call.input
    ]
    assert commands == [RUN_TESTS]
    assert RUN_TESTS.endswith(" -m unittest -v")


@pytest.mark.parametrize("steps", range(1, len(TASKS["fix"])))
async def test_a_condense_anywhere_in_the_task_loses_no_step(steps: int) -> None:
    whole, condensed = Talk(FAILING, PASSING), Talk(FAILING, PASSING)
    expected = await whole.say("fix it")
    used = await condensed.say("fix it", steps)
    await condensed.condense()
    used += await condensed.go_on()
    assert used == expected


async def test_a_summary_of_a_summary_keeps_place_and_messages() -> None:
    talk = Talk(FAILING, PASSING)
    await talk.say("please mend the dates", 3)
    await talk.condense()
    await talk.go_on(2)
    summary = await talk.condense()
    assert "please mend the dates" in summary
    assert (await talk.step())[-1] == "execute_command"


async def test_the_summary_has_its_nine_sections_and_is_plain_text() -> None:
    talk = Talk(FAILING)
    await talk.say("fix it", 6)
    summary = await talk.summary()
    headings = [line for line in summary.splitlines() if line[:1].isdigit()]
    assert [heading.split(".")[0] for heading in headings] == [str(number) for number in range(1, 10)]
    assert summary.startswith("<analysis>")
    assert summary.endswith("</summary>")
    assert "billing/dates.py" in summary


async def test_a_conversation_without_the_script_is_summarised_too() -> None:
    talk = Talk()
    talk.messages = [Message("user", (Text("hi"),)), Message("assistant", (Text("hello"),))]
    summary = await talk.summary()
    assert "   - hi" in summary
    assert "demo script" not in summary


async def test_a_second_task_adds_tests_for_leap_years() -> None:
    talk = Talk(FAILING, PASSING, PASSING)
    await talk.say("fix it")
    assert await talk.say("Add a test for leap years") == ["write_to_file", "execute_command", "attempt_completion"]


async def test_leap_year_tests_that_fail_are_told_honestly() -> None:
    talk = Talk(FAILING)
    await talk.say("add a test for leap years")
    assert "fix the failing date test" in talk.last_words()


async def test_the_projects_own_command_is_answered() -> None:
    talk = Talk()
    used = await talk.say("Run the command review given below.")
    assert used == ["read_file", "search_files", "attempt_completion"]


async def test_anything_else_is_answered_plainly_and_without_calls() -> None:
    talk = Talk(FAILING, PASSING)
    await talk.say("fix it")
    assert await talk.say("what do you think of the weather?") == []
    assert "This is the demo" in talk.last_words()


async def test_an_interrupted_step_is_done_again_when_asked_to_continue() -> None:
    talk = Talk(FAILING, PASSING)
    await talk.say("fix it", 2)
    half = (await talk.answer())[0]
    talk.messages.append(Message("assistant", (half,)))
    assert await talk.say("continue", 1) == ["read_file", "read_file"]


async def test_tests_that_pass_already_are_not_repaired() -> None:
    talk = Talk(PASSING)
    assert "apply_diff" not in await talk.say("fix it")
    assert "nothing left to fix" in talk.last_words()


async def test_a_denied_change_ends_the_task_with_what_came_back() -> None:
    talk = Talk(FAILING)
    talk.denied = {"apply_diff"}
    assert (await talk.say("fix it"))[-1] == "apply_diff"
    assert "The user denied this call" in talk.last_words()


async def test_a_denied_step_is_tried_again_when_asked_to_continue_as_the_demo_says() -> None:
    talk = Talk(FAILING, PASSING)
    talk.denied = {"execute_command"}
    assert (await talk.say("fix it"))[-1] == "execute_command"
    assert "try the same step again" in talk.last_words()
    talk.denied = set()
    assert (await talk.say("continue", 1))[-1] == "execute_command"


async def test_a_denied_change_is_not_called_done_after_a_condense() -> None:
    talk = Talk(FAILING)
    talk.denied = {"apply_diff"}
    await talk.say("fix it", 1)
    while await talk.step() != ["apply_diff"]:
        pass
    assert "changed `add_months`" not in await talk.condense()
    assert await talk.step() == ["apply_diff"]


async def test_a_repair_that_does_not_help_is_told_and_continue_does_not_make_it_one() -> None:
    talk = Talk(FAILING, FAILING)
    await talk.say("fix it")
    assert "still fail" in talk.last_words()
    await talk.say("continue")
    assert "still fail" in talk.last_words()


async def test_the_same_request_is_answered_alike_so_that_rewinding_works() -> None:
    talk = Talk(FAILING, PASSING)
    await talk.say("fix it")
    calls = [[call.name for call in tool_uses(message.blocks)] for message in talk.messages]
    talk.messages = talk.messages[:5]
    talk.outputs = [FAILING, PASSING]
    await talk.go_on()
    assert [[call.name for call in tool_uses(message.blocks)] for message in talk.messages] == calls


async def test_no_call_id_is_used_twice() -> None:
    talk = Talk(FAILING, PASSING, PASSING)
    await talk.say("fix it")
    await talk.say("fix it again")
    ids = [call.id for message in talk.messages for call in tool_uses(message.blocks)]
    assert len(ids) == len(set(ids))


def test_each_step_says_something_no_other_step_says() -> None:
    spoken = [step.reply.say for steps in TASKS.values() for step in steps]
    assert len(spoken) == len(set(spoken))
    assert all(words == words.strip() and words for words in spoken)


def test_what_the_program_adds_is_not_taken_for_a_message_of_the_user() -> None:
    added = (
        Text(ENVIRONMENT),
        Text("<system-reminder>\n<summary> x\n</system-reminder>"),
        Text('<command name="review">\nLook.\n</command>'),
        Text("[Earlier messages hidden here to make room in the context window: 3]"),
        ToolResult("t", "fix it"),
    )
    assert typed_text(Message("user", added)) == ""
    assert typed_text(Message("user", (*added, Text(" go [on] <b> ")))) == "go [on] <b>"


async def test_the_stream_has_the_shape_every_adapters_stream_has() -> None:
    model = DemoModel(INFO, speed=0)
    request = Request((Message("user", (Text("fix it"),)),), ("Be good.",), TOOLS)
    events = [event async for event in model.stream(request)]
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert events[-1].stop_reason == "tool_use"
    assert events[-1].usage.prompt_tokens == await model.count_tokens(request)
    assert events[-1].usage.output_tokens > 50
    assert [event.type for event in events if isinstance(event, BlockOpened)] == ["thinking", "text", "tool_use"]
    for closed in (event for event in events if isinstance(event, BlockClosed)):
        streamed = "".join(
            event.text for event in events if isinstance(event, BlockDelta) and event.index == closed.index
        )
        match closed.block:
            case Text(text) | Thinking(text):
                assert streamed == text
            case ToolUse():
                assert json.loads(streamed) == closed.block.input


async def test_the_speed_is_tokens_a_second() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model = DemoModel(INFO, speed=100, sleep=sleep)
    request = Request((Message("user", (Text("fix it"),)),))
    tokens = [event async for event in model.stream(request)][-1]
    assert isinstance(tokens, Finished)
    assert sum(waits) == pytest.approx(tokens.usage.output_tokens / 100, rel=0.05)
    assert max(waits) < 0.2


async def test_cancelling_stops_the_stream_at_once() -> None:
    model = DemoModel(INFO, speed=0.001)

    async def read() -> None:
        async with aclosing(model.stream(Request((Message("user", (Text("fix it"),)),)))) as events:  # type: ignore[type-var]
            async for _ in events:
                pass

    reader = asyncio.create_task(read())
    await asyncio.sleep(0)
    reader.cancel()
    async with asyncio.timeout(2):
        with pytest.raises(asyncio.CancelledError):
            await reader


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=60)), min_size=1, max_size=6), st.booleans())
def test_no_conversation_is_too_strange(said: list[tuple[bool, str]], tools: bool) -> None:
    messages = tuple(Message("user" if by_person else "assistant", (Text(words),)) for by_person, words in said)
    model = DemoModel(INFO, speed=0)

    async def read() -> list[Any]:
        return [event async for event in model.stream(Request(messages, tools=TOOLS if tools else ()))]

    assert isinstance(asyncio.run(read())[-1], Finished)


def test_keys_the_demo_names_are_those_of_the_commands() -> None:
    spoken = " ".join(step.reply.say + json.dumps(step.reply.calls) for step in TASKS["fix"])
    keys = {command.id: command.keys for command in COMMANDS}
    assert "ctrl+t" in keys["condense"]
    assert "Ctrl+T (or `/condense`)" in spoken
    assert "ctrl+r" in keys["rewind"]
    assert "Ctrl+R rewinds" in spoken
    assert "f8" in keys["undo"]
    assert "u" in keys["undo_row"]


def test_the_demo_says_that_it_is_one_and_has_prices(tmp_path: Path) -> None:
    model = build(Profile("demo", provider="demo", model="demo"), key="", catalog=Catalog.load())
    assert (model.info.provider, model.info.id, model.info.known) == ("demo", "demo", True)
    assert model.info.input_usd
    assert model.info.window < 20_000
