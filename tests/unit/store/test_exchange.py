"""Messages read from files, and what is written of a task."""

import gzip
import json

import pytest

from roo_tui.domain.blocks import Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, CallFacts, CallRecord, Entry, Noted, UserMessage
from roo_tui.domain.errors import ExchangeError
from roo_tui.domain.markers import Condense, Reduction
from roo_tui.domain.requests import ModelInfo
from roo_tui.engine.exchange import export_text
from roo_tui.store.codec import decode
from roo_tui.store.exchange.export import markdown, messages_json, transcript_jsonl
from roo_tui.store.exchange.messages import read_messages
from roo_tui.store.exchange.tool_facts import call_facts
from tests.unit.store.test_store import EVERY_BODY

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
CONVERSATION = [
    {"role": "user", "content": "read a.py", "ts": 5},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "signed"},
            {"type": "redacted_thinking", "data": "secret"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py", "offset": 3, "limit": 2}},
            {"type": "tool_use", "id": "t2", "name": "Teleport", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "3 x"}, IMAGE]},
            {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True},
            {"type": "text", "text": "<system-reminder>not typed</system-reminder>"},
            {"type": "text", "text": "and then?"},
            IMAGE,
        ],
    },
]


def written(tmp_path, content, name="messages.json"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_messages_become_bodies_with_what_their_tools_did(tmp_path):
    first, answer, results = read_messages(written(tmp_path, CONVERSATION))
    assert first == UserMessage((Text("read a.py"),), words="read a.py", source="import")
    assert answer == AssistantMessage(
        (
            Thinking("hm", "signed", "anthropic"),
            Opaque("anthropic", "", {"type": "redacted_thinking", "data": "secret"}),
            Text("I look."),
            ToolUse("t1", "Read", {"file_path": "a.py", "offset": 3, "limit": 2}),
            ToolUse("t2", "Teleport", {}),
        )
    )
    assert isinstance(results, UserMessage)
    assert results.blocks[:2] == (
        ToolResult("t1", (Text("3 x"), Image("image/png", "AAAA"))),
        ToolResult("t2", "no", is_error=True),
    )
    assert results.words == "and then?"
    assert results.calls == (
        CallRecord("t1", "Read", CallFacts("read", "a.py", (3, 4), full_content=True)),
        CallRecord("t2", "Teleport"),
    )


def test_what_was_read_is_written_the_same(tmp_path):
    bodies = read_messages(written(tmp_path, CONVERSATION[1:]))
    messages = [
        Message("assistant" if isinstance(body, AssistantMessage) else "user", body.blocks)
        for body in bodies
        if isinstance(body, UserMessage | AssistantMessage)
    ]
    assert messages_json(messages) == CONVERSATION[1:]


@pytest.mark.parametrize("name", ["messages.json.gz", "no-suffix"])
def test_a_compressed_file_is_read_whatever_its_name(tmp_path, name):
    path = written(tmp_path, gzip.compress(b"\xef\xbb\xbf" + json.dumps(CONVERSATION).encode()), name)
    assert len(read_messages(path)) == 3


def test_lone_surrogates_and_unknown_parts_are_kept(tmp_path):
    content = (
        b'[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x\\ud800","content":[{"type":"x","y":1}]},'
        b'{"type":"hologram","size":3},{"no":"type"}]}]'
    )
    (body,) = read_messages(written(tmp_path, content))
    assert isinstance(body, UserMessage)
    assert body.blocks == (
        ToolResult("x\ud800", (Text('{"type": "x", "y": 1}'),)),
        Opaque("anthropic", "", {"type": "hologram", "size": 3}),
        Opaque("anthropic", "", {"no": "type"}),
    )
    assert body.calls == (CallRecord("x\ud800", ""),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x1f\x8bnot gzip", "damaged gzip"),
        (b"hello", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        ({"messages": []}, "an object instead of a list of messages"),
        ([], "nothing to import"),
        ([*CONVERSATION, "hi"], "message 3 is a text instead of an object"),
        ([*CONVERSATION, {"role": "system", "content": "x"}], 'message 3 has the role "system"'),
        ([*CONVERSATION, {"content": "x"}], "message 3 has the role null"),
        ([{"role": "user"}], "message 0 has null as content instead of a text"),
        ([{"role": "user", "content": [3]}], "message 0 has a number as block 0 instead of an object"),
        ([{"role": "user", "content": [{"type": "text"}]}], "message 0 has a text block (0) without a valid 'text'"),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "x", "input": "y"}]}], "'input'"),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": 3}]}], "'content'"),
        (
            [{"role": "user", "content": [{"type": "tool_use", "id": "1", "name": "x"}]}],
            "only an “assistant”",
        ),
        (
            [{"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "1"}]}],
            "only a “user”",
        ),
    ],
)
def test_a_file_that_is_no_conversation_is_refused_with_the_place(tmp_path, content, said):
    path = written(tmp_path, content)
    with pytest.raises(ExchangeError) as refused:
        read_messages(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ExchangeError, match="cannot be read"):
        read_messages(tmp_path / "none.json")


PATCH = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n*** Add File: c d.py\n+x\n*** End Patch"


@pytest.mark.parametrize(
    ("name", "values", "facts"),
    [
        ("read_file", {"path": "a"}, CallFacts("read", "a", full_content=True)),
        ("read_file", {"path": "a", "line_range": "3-9"}, CallFacts("read", "a", (3, 9), True)),
        ("read_file", {"path": "a", "start_line": "3", "end_line": 9}, CallFacts("read", "a", (3, 9), True)),
        ("read_file", {"path": "a", "start_line": 3}, CallFacts("read", "a")),
        ("read_file", {"files": [{"path": "a"}, {"path": "b"}]}, CallFacts("read")),
        ("write_to_file", {"path": "a"}, CallFacts("write", "a", full_content=True, changed=("a",))),
        ("apply_diff", {"path": "a"}, CallFacts("edit", "a", changed=("a",))),
        ("search_files", {"path": "a", "regex": "x"}, CallFacts("search", "a", query="x")),
        ("list_files", {"path": "a"}, CallFacts("list", "a")),
        ("execute_command", {"command": "ls"}, CallFacts("command", query="ls")),
        ("update_todo_list", {"todos": "x"}, CallFacts("todo")),
        ("ask_followup_question", {"question": "x"}, CallFacts("question", query="x")),
        ("attempt_completion", {"result": "x"}, CallFacts("finish")),
        ("Read", {"file_path": "a"}, CallFacts("read", "a", full_content=True)),
        ("Read", {"file_path": "a", "limit": 5}, CallFacts("read", "a", (1, 5), True)),
        ("Read", {"file_path": "a", "offset": 5}, CallFacts("read", "a")),
        ("Write", {"file_path": "a"}, CallFacts("write", "a", full_content=True, changed=("a",))),
        ("MultiEdit", {"file_path": "a"}, CallFacts("edit", "a", changed=("a",))),
        ("Bash", {"command": "ls"}, CallFacts("command", query="ls")),
        ("Grep", {"pattern": "x", "path": "a"}, CallFacts("search", "a", query="x")),
        ("Glob", {"pattern": "*"}, CallFacts("list", query="*")),
        ("LS", {"path": "a"}, CallFacts("list", "a")),
        ("TodoWrite", {}, CallFacts("todo")),
        ("exec_command", {"cmd": "ls"}, CallFacts("command", query="ls")),
        ("shell", {"command": ["ls", "-l"]}, CallFacts("command", query="ls -l")),
        ("apply_patch", {"input": PATCH}, CallFacts("edit", changed=("a.py", "b.py", "c d.py"))),
        ("apply_patch", {"input": "*** Update File: a\n"}, CallFacts("edit", "a", changed=("a",))),
        ("bash", {"command": 3}, CallFacts("command")),
        ("open", {"path": "a"}, CallFacts("read", "a")),
        ("edit", {"search": "x"}, CallFacts("edit")),
        ("create", {"filename": "a"}, CallFacts("write", "a", full_content=True, changed=("a",))),
        ("something_else", {"path": "a"}, CallFacts()),
    ],
)
def test_a_known_tool_tells_what_it_did(name, values, facts):
    assert call_facts(ToolUse("t", name, values), ToolResult("t", "ok")) == facts


def test_a_read_that_its_tool_may_have_cut_is_not_whole():
    facts = call_facts(ToolUse("t", "Read", {"file_path": "a"}), ToolResult("t", "x\n" * 2000))
    assert facts == CallFacts("read", "a")


def test_a_failed_call_changed_nothing():
    failed = ToolResult("t", "no", is_error=True)
    assert call_facts(ToolUse("t", "Write", {"file_path": "a"}), failed) == CallFacts("write", "a")
    assert call_facts(ToolUse("t", "Read", {"file_path": "a"}), failed) == CallFacts("read", "a")


def entries(*bodies):
    return [Entry(number, number - 1 or None, 1_700_000_000_000, body) for number, body in enumerate(bodies, start=1)]


def test_a_transcript_as_json_lines_holds_every_entry_whole():
    lines = [json.loads(line) for line in transcript_jsonl(entries(*EVERY_BODY), hidden={1}).splitlines()]
    assert [line["id"] for line in lines] == list(range(1, len(EVERY_BODY) + 1))
    assert (lines[0]["hidden"], lines[1]["hidden"], lines[0]["parent_id"], lines[1]["parent_id"]) == (
        True,
        False,
        None,
        1,
    )
    assert [decode(json.dumps(line["body"])) for line in lines] == list(EVERY_BODY)


def test_a_transcript_for_people_names_every_entry_and_marks_hidden_ones():
    text = markdown(entries(*EVERY_BODY), hidden={1})
    assert all(f"## e{number} " in text for number in range(1, len(EVERY_BODY) + 1))
    assert text.startswith(
        "## e1 User (hidden from the model)\n\n*2023-11-14 22:13:20*\n\nhello\n\n## e2 Tool results\n"
    )
    assert "## e7 Context condensed\n" in text
    assert "100 → 10 tokens · 2 entries hidden · automatic · native · $0.50 · a remark" in text
    assert text.count("hidden from the model") == 1
    assert markdown([]) == ""


def test_the_effective_history_for_people_shows_no_times():
    path = tuple(entries(UserMessage((Text("hello"),)), AssistantMessage((Text("good day"),))))
    model = ModelInfo(id="demo", provider="demo")
    assert export_text(path, "effective", "markdown", model) == "## e1 User\n\nhello\n\n## e2 Assistant\n\ngood day\n"
    assert "*2023-11-14 22:13:20*" in export_text(path, "transcript", "markdown", model)


def test_fences_are_longer_than_those_inside_and_controls_are_left_out():
    body = UserMessage((ToolResult("t", "````\ncode\n````\n\x1b[31mred\ud800"),), source="tools")
    text = markdown(entries(body, Noted("info", "a\nb `c`")))
    assert "`````\n````\ncode\n````\nred\ufffd\n`````" in text
    assert "## e2 Info: a b `c`" in text


def test_a_summary_is_shown_with_what_it_leaves_out():
    text = markdown(entries(Condense((1,), (Text("## Conversation Summary"),), Reduction(), ("the\nlast error",))))
    assert "Not in the summary:\n\n- the last error" in text
