"""What fills the context window."""

from roo_tui.context.window.breakdown import break_down
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallRecord, Entry, UserMessage
from roo_tui.domain.markers import Condense
from roo_tui.domain.requests import ToolSpec

COUNTER = TokenCounter()
TOOLS = (ToolSpec("read_file", "Reads a file.", {"type": "object"}),)


def path(*bodies: Body) -> tuple[Entry, ...]:
    return tuple(Entry(number, number - 1 or None, 0, body) for number, body in enumerate(bodies, 1))


HISTORY = (
    UserMessage((Text("fix it"), Text("<environment_details>\nTime\n</environment_details>")), words="fix it"),
    AssistantMessage((Text("Looking."), ToolUse("c1", "read_file", {"path": "a.py"}))),
    UserMessage((ToolResult("c1", "line\n" * 50),), source="tools", calls=(CallRecord("c1", "read_file"),)),
)


def test_the_parts_are_named_and_add_up_to_what_is_sent() -> None:
    sent = COUNTER.count_request(("You are an agent.",), TOOLS, HISTORY)
    found = break_down(path(*HISTORY), COUNTER, sent, system=("You are an agent.",), tools=TOOLS)
    assert {share.kind for share in found.by_kind} == {
        "system prompt",
        "tools",
        "your messages",
        "environment details",
        "answers",
        "tool calls",
        "results of read_file",
    }
    assert found.by_kind[0].kind == "results of read_file"
    assert sum(share.tokens for share in found.by_kind) == found.tokens == sent
    assert [share.title for share in found.by_entry] == ["fix it", "read_file", "read_file"]


def test_what_a_condense_hides_fills_nothing() -> None:
    condensed = (*HISTORY, Condense((1, 2, 3), (Text("## Conversation Summary\nAll of it."),)))
    found = break_down(path(*condensed), COUNTER, 1_000, system=(), tools=())
    assert [share.kind for share in found.by_kind] == ["summaries"]
    assert found.by_kind[0].tokens == 1_000
    assert [share.entry_id for share in found.by_entry] == [4]
