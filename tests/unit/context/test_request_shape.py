"""The fresh request: every history as text that any model can read."""

from dataclasses import replace

import pytest

from roo_tui.context.condense.request import fresh
from roo_tui.context.history.as_text import tool_result_text, tool_use_text
from roo_tui.context.history.effective import effective_history
from roo_tui.domain.blocks import Block, Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, UserMessage
from tests.support.api_rules import violations
from tests.support.histories import History
from tests.support.reductions import MODEL

PICTURE = Image("image/png", "iVBORw0KGgo=", 10, 10)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "[Tool Use: run]\n"),
        ({"path": "a.py", "note": "two\nlines"}, "[Tool Use: run]\npath: a.py\nnote: two\nlines"),
        ({"deep": True, "none": None, "count": 3}, "[Tool Use: run]\ndeep: true\nnone: null\ncount: 3"),
        ({"a": 1.0, "b": 0.5, "c": 1e-7, "d": 0.00001}, "[Tool Use: run]\na: 1\nb: 0.5\nc: 1e-7\nd: 0.00001"),
        ({"e": 1e16, "f": 1e21}, "[Tool Use: run]\ne: 10000000000000000\nf: 1e+21"),
        ({"list": ["ü", {"b": 1}]}, '[Tool Use: run]\nlist: [\n  "ü",\n  {\n    "b": 1\n  }\n]'),
    ],
)
def test_call_reads_as_key_and_value_lines(arguments: dict[str, object], text: str) -> None:
    assert tool_use_text(ToolUse("t", "run", arguments)) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult("t", "done"), "[Tool Result]\ndone"),
        (ToolResult("t", "broken", is_error=True), "[Tool Result (Error)]\nbroken"),
        (ToolResult("t", ""), "[Tool Result]\n"),
        (ToolResult("t", (Text("one"), PICTURE, Text("two"))), "[Tool Result]\none\n[Image]\ntwo"),
    ],
)
def test_result_reads_as_text_under_its_heading(result: ToolResult, text: str) -> None:
    assert tool_result_text(result) == text


def history() -> History:
    history = History()
    history.add(UserMessage((Text("look"), PICTURE), words="look"))
    reasoning = Thinking("secret", "signature", MODEL.provider, MODEL.id)
    redacted = Opaque(MODEL.provider, MODEL.id, {"type": "redacted_thinking", "data": "x"})
    history.add(AssistantMessage((reasoning, redacted, ToolUse("t1", "read_file", {"path": "a.py"}))))
    history.result("t1", content="{{name}} is not a placeholder")
    history.add(AssistantMessage((Thinking("only this", "signature", MODEL.provider, MODEL.id),)))
    document = Opaque(MODEL.provider, MODEL.id, {"type": "document", "source": {}})
    history.add(UserMessage((document,), words=""))
    return history


def blocks_of(messages: tuple[Message, ...]) -> list[Block]:
    return [block for message in messages for block in message.blocks]


@pytest.mark.parametrize("sees", [True, False])
def test_request_is_valid_and_holds_no_tool_block_and_no_reasoning(sees: bool) -> None:
    model = replace(MODEL, supports_images=sees)
    request = fresh(effective_history(history().path), "Summarise.", model, 1_000)
    blocks = blocks_of(request.messages)
    assert violations(request.messages) == []
    assert request.tools == ()
    assert (PICTURE in blocks) is sees
    assert {type(block) for block in blocks} <= {Text, Image}
    texts = [block.text for block in blocks if isinstance(block, Text)]
    assert ("[Image]" in texts) is not sees
    assert "[Tool Result]\n{{name}} is not a placeholder" in texts
    assert "[Document]" in texts
    assert texts[-1] == "Summarise."
    assert not any("secret" in text or "only this" in text for text in texts)


def test_instruction_is_part_of_the_last_user_message() -> None:
    log = History()
    log.user("one")
    log.answer("two")
    request = fresh(effective_history(log.path), "Summarise.", MODEL, 1_000)
    assert [message.role for message in request.messages] == ["user", "assistant", "user"]
    log.user("three")
    request = fresh(effective_history(log.path), "Summarise.", MODEL, 1_000)
    assert request.messages[-1].blocks == (Text("three"), Text("Summarise."))


def test_open_call_of_a_crashed_log_is_summarised_too() -> None:
    log = History()
    log.user("one")
    log.call("t1")
    request = fresh(effective_history(log.path), "Summarise.", MODEL, 1_000)
    assert violations(request.messages) == []
    assert Text("[Tool Use: read_file]\npath: a.py") in blocks_of(request.messages)
