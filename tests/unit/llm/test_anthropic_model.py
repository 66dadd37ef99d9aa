"""The Anthropic adapter through the real SDK, against a scripted server on loopback."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from roo_tui.domain.blocks import Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.errors import MissingKey, ModelError
from roo_tui.domain.requests import (
    BlockClosed,
    BlockDelta,
    BlockOpened,
    Finished,
    ModelEvent,
    ModelInfo,
    Request,
    Started,
    ToolSpec,
)
from roo_tui.domain.usage import Usage
from roo_tui.llm.anthropic_model import AnthropicModel
from tests.support.messages_server import (
    MessagesServer,
    Refusal,
    answer,
    broken_off,
    cut,
    hang,
    refusal,
    short,
    text,
    thinking,
    tool_call,
    whole_block,
)
from tests.support.pictures import picture as drawn

INFO = ModelInfo("claude-sonnet-5-5", "anthropic", supports_thinking=True, known=True)
HELLO = Request(messages=(Message("user", (Text("hello"),)),))


@pytest.fixture
async def connect() -> AsyncIterator[Any]:
    models: list[AnthropicModel] = []

    def make(server: MessagesServer, **options: Any) -> AnthropicModel:
        model = AnthropicModel(options.pop("info", INFO), key="sk-test", base_url=server.url, **options)
        models.append(model)
        return model

    yield make
    for model in models:
        await model.close()


async def events_of(model: AnthropicModel, request: Request = HELLO) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


async def failure_of(model: AnthropicModel, request: Request = HELLO) -> tuple[ModelError, list[ModelEvent]]:
    seen: list[ModelEvent] = []
    with pytest.raises(ModelError) as raised:
        async for event in model.stream(request):
            seen.append(event)  # noqa: PERF401 what came before the error must be seen too
    return raised.value, seen


def blocks_in(events: list[ModelEvent]) -> list[object]:
    return [event.block for event in events if isinstance(event, BlockClosed)]


async def body_sent(connect: Any, request: Request, info: ModelInfo = INFO) -> dict[str, Any]:
    async with MessagesServer([answer(text("ok"))]) as server:
        await events_of(connect(server, info=info), request)
        return server.requests[0].body


async def test_words_arrive_in_pieces_that_make_up_the_block(connect: Any) -> None:
    usage = {"input_tokens": 7, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 11}
    async with MessagesServer([answer(text("Good morning"), usage=usage)]) as server:
        events = await events_of(connect(server))
    assert events[0] == Started(Usage(7, 5, 3, 1))
    assert events[1] == BlockOpened(0, "text")
    assert "".join(event.text for event in events if isinstance(event, BlockDelta)) == "Good morning"
    assert events[-2:] == [BlockClosed(0, Text("Good morning")), Finished("end_turn", Usage(7, 5, 3, 11))]


async def test_a_call_arrives_with_its_name_its_json_and_its_input(connect: Any) -> None:
    call = tool_call("read_file", {"path": "ä.py", "lines": [1, 2]})
    async with MessagesServer([answer(text("Looking."), call)]) as server:
        events = await events_of(connect(server))
    assert BlockOpened(1, "tool_use", "read_file") in events
    pieces = "".join(event.text for event in events if isinstance(event, BlockDelta) and event.index == 1)
    assert json.loads(pieces) == {"path": "ä.py", "lines": [1, 2]}
    assert blocks_in(events)[1] == ToolUse("toolu_1", "read_file", {"path": "ä.py", "lines": [1, 2]})
    assert isinstance(events[-1], Finished)
    assert events[-1].stop_reason == "tool_use"


async def test_a_call_without_arguments_has_an_empty_input(connect: Any) -> None:
    async with MessagesServer([answer(tool_call("list_all", ""))]) as server:
        events = await events_of(connect(server))
    assert blocks_in(events) == [ToolUse("toolu_1", "list_all", {})]


async def test_thinking_is_kept_with_its_signature_and_its_model(connect: Any) -> None:
    async with MessagesServer([answer(thinking("Hm, dates."), text("Done"))]) as server:
        events = await events_of(connect(server))
    assert blocks_in(events)[0] == Thinking("Hm, dates.", "sig-1", "anthropic", "claude-sonnet-5-5")


async def test_blocks_of_an_unknown_kind_are_kept_exactly_as_they_came(connect: Any) -> None:
    redacted = {"type": "redacted_thinking", "data": "abc=="}
    later = {"type": "hologram", "layers": {"a": [1, None]}, "text": None}
    server_call = [{"type": "server_tool_use", "id": "s1", "name": "web", "input": {}}]
    server_call.append({"type": "input_json_delta", "partial_json": '{"q": 1}'})
    script = answer(whole_block(redacted), whole_block(later), server_call, text("Done"))
    async with MessagesServer([script]) as server:
        events = await events_of(connect(server))
    assert BlockOpened(0, "other") in events
    assert [block.payload for block in blocks_in(events) if isinstance(block, Opaque)] == [
        redacted,
        later,
        {"type": "server_tool_use", "id": "s1", "name": "web", "input": {"q": 1}},
    ]


async def test_unknown_events_and_deltas_mean_nothing(connect: Any) -> None:
    script = answer([*text("Hi"), {"type": "mood_delta", "mood": "glad"}])
    strange = {"type": "weather", "index": 99}
    async with MessagesServer([replace(script, events=(strange, *script.events))]) as server:
        events = await events_of(connect(server))
    assert blocks_in(events) == [Text("Hi")]


async def test_one_connection_serves_several_requests(connect: Any) -> None:
    async with MessagesServer([answer(text("one")), answer(text("two"))]) as server:
        model = connect(server)
        assert blocks_in(await events_of(model)) == [Text("one")]
        assert blocks_in(await events_of(model)) == [Text("two")]
        assert server.connections == 1


async def test_every_kind_of_block_is_sent_in_the_form_of_the_messages_api(connect: Any) -> None:
    data = base64.b64encode(drawn(3, 2)).decode()
    picture = Image("image/png", data)
    thought = Thinking("why", "sig", "anthropic", INFO.id)
    redacted = Opaque("anthropic", INFO.id, {"type": "redacted_thinking", "data": "x"})
    request = Request(
        messages=(
            Message("user", (Text("look"), picture)),
            Message("assistant", (thought, redacted)),
            Message("assistant", (ToolUse("t1", "shot", {"n": 1}), ToolUse("t2", "run", {}))),
            Message(
                "user",
                (ToolResult("t1", (Text("seen"), picture)), ToolResult("t2", "no such file", is_error=True)),
            ),
        ),
        cache=False,
    )
    source = {"type": "base64", "media_type": "image/png", "data": data}
    image = {"type": "image", "source": source}
    assert (await body_sent(connect, request))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "look"}, image]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "why", "signature": "sig"},
                {"type": "redacted_thinking", "data": "x"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t1", "name": "shot", "input": {"n": 1}},
                {"type": "tool_use", "id": "t2", "name": "run", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "seen"}, image]},
                {"type": "tool_result", "tool_use_id": "t2", "content": "no such file", "is_error": True},
            ],
        },
    ]


async def test_reasoning_of_other_models_unsigned_reasoning_and_blank_text_stay_here(connect: Any) -> None:
    foreign = (
        Thinking("a", "sig", "anthropic", "claude-opus-5"),
        Thinking("b", "sig", "openai", INFO.id),
        Thinking("c", "", "anthropic", INFO.id),
        Opaque("anthropic", "claude-opus-5", {"type": "redacted_thinking", "data": "x"}),
        Text("  \n"),
    )
    request = Request(
        messages=(*HELLO.messages, Message("assistant", foreign), Message("assistant", (*foreign, Text("hi")))),
        cache=False,
    )
    assert (await body_sent(connect, request))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
    ]


async def test_breakpoints_are_on_tools_system_and_the_two_newest_user_messages(connect: Any) -> None:
    tools = (ToolSpec("a", "first", {"type": "object"}), ToolSpec("b", "second", {"type": "object"}))
    said = tuple(Message("user", (Text(word), Text(" "))) for word in ("one", "two", "three"))
    body = await body_sent(connect, Request(messages=said, system=("role", "rules", ""), tools=tools))
    marked = [
        name
        for name, block in (
            *((tool["name"], tool) for tool in body["tools"]),
            *((part["text"], part) for part in body["system"]),
            *((message["content"][-1]["text"], message["content"][-1]) for message in body["messages"]),
        )
        if block.get("cache_control") == {"type": "ephemeral"}
    ]
    assert marked == ["b", "rules", "two", "three"]


async def test_without_caching_nothing_is_marked(connect: Any) -> None:
    request = replace(HELLO, system=("role",), tools=(ToolSpec("a", "first", {"type": "object"}),), cache=False)
    assert "cache_control" not in json.dumps(await body_sent(connect, request))


async def test_adaptive_thinking_is_asked_of_models_that_have_it_and_takes_the_temperatures_place(connect: Any) -> None:
    request = replace(HELLO, thinking="adaptive", temperature=0.3, max_output=4321)
    able = await body_sent(connect, request)
    assert able["thinking"] == {"type": "adaptive"}
    assert "temperature" not in able
    unable = await body_sent(connect, request, replace(INFO, supports_thinking=False))
    assert "thinking" not in unable
    assert unable["temperature"] == 0.3
    assert unable["max_tokens"] == 4321


async def test_text_that_is_not_unicode_is_sent_with_replacement_characters(connect: Any) -> None:
    request = Request(messages=(Message("user", (Text("a\ud800b\x00"), ToolResult("t", "\udfff"))),), cache=False)
    content = (await body_sent(connect, request))["messages"][0]["content"]
    assert content[0]["text"] == "a\ufffdb\x00"
    assert content[1]["content"] == "\ufffd"


async def test_a_deprecated_model_warns_nobody(connect: Any) -> None:
    await body_sent(connect, HELLO, replace(INFO, id="claude-sonnet-4-5"))


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        *((status, False) for status in (400, 401, 403, 404, 413)),
        *((status, True) for status in (408, 409, 429, 500, 529)),
    ],
)
async def test_a_refusal_tells_status_code_and_body(connect: Any, status: int, retryable: bool) -> None:
    async with MessagesServer([refusal(status, "some_error", "Because [/so] it is.")]) as server:
        error, events = await failure_of(connect(server))
    assert (error.status, error.code, error.retryable, events) == (status, "some_error", retryable, [])
    assert json.loads(error.body)["error"]["message"] == "Because [/so] it is."
    assert "Because [/so] it is." in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "250", "retry-after": "1"}, 0.25), ({"retry-after": "?"}, None)],
)
async def test_the_providers_wish_to_wait_is_told(connect: Any, headers: dict[str, str], seconds: float | None) -> None:
    async with MessagesServer([refusal(429, headers=headers)]) as server:
        error, _ = await failure_of(connect(server))
    assert error.retry_after_s == seconds


async def test_a_retry_date_in_the_past_means_at_once(connect: Any) -> None:
    async with MessagesServer([refusal(503, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})]) as server:
        error, _ = await failure_of(connect(server))
    assert error.retry_after_s == 0.0


async def test_the_provider_may_say_itself_whether_to_try_again(connect: Any) -> None:
    async with MessagesServer([refusal(529, headers={"x-should-retry": "false"})]) as server:
        error, _ = await failure_of(connect(server))
    assert not error.retryable


async def test_a_gateways_page_instead_of_json_is_shown_as_text(connect: Any) -> None:
    async with MessagesServer([Refusal(502, "<h1>Bad gateway</h1>")]) as server:
        error, _ = await failure_of(connect(server))
    assert (error.status, error.code, error.body, error.retryable) == (502, "", "<h1>Bad gateway</h1>", True)


@pytest.mark.parametrize(("type_", "retryable"), [("overloaded_error", True), ("invalid_request_error", False)])
async def test_an_error_in_mid_stream_comes_after_what_was_said(connect: Any, type_: str, retryable: bool) -> None:
    async with MessagesServer([broken_off(answer(text("Half a sentence")), type_)]) as server:
        error, events = await failure_of(connect(server))
    assert (error.status, error.code, error.retryable) == (200, type_, retryable)
    assert "".join(event.text for event in events if isinstance(event, BlockDelta)) == "Half a sentence"
    assert not blocks_in(events)


async def test_a_cut_connection_is_retryable_and_keeps_what_came(connect: Any) -> None:
    async with MessagesServer([cut(answer(text("Half a sentence")))]) as server:
        error, events = await failure_of(connect(server))
    assert (error.code, error.status, error.retryable) == ("connection_error", 0, True)
    assert "".join(event.text for event in events if isinstance(event, BlockDelta)) == "Half a sentence"


@pytest.mark.parametrize("events", [-1, -2, -3, 0])
async def test_an_answer_without_its_end_is_a_failure(connect: Any, events: int) -> None:
    script = answer(text("All of it"))
    async with MessagesServer([short(script, events or -len(script.events))]) as server:
        error, _ = await failure_of(connect(server))
    assert (error.code, error.retryable) == ("incomplete_stream", True)


async def test_an_end_without_a_stop_reason_is_a_failure(connect: Any) -> None:
    script = answer(text("All of it"))
    silent = replace(script, events=(*script.events[:-2], script.events[-1]))
    async with MessagesServer([silent]) as server:
        error, _ = await failure_of(connect(server))
    assert error.code == "incomplete_stream"


@pytest.mark.parametrize("arguments", ['{"path": ', "[1, 2]", "nonsense"])
async def test_a_call_that_is_no_json_object_is_a_failure_that_names_it(connect: Any, arguments: str) -> None:
    async with MessagesServer([answer(tool_call("read_file", arguments))]) as server:
        error, events = await failure_of(connect(server))
    assert (error.code, error.retryable, error.body) == ("malformed_tool_input", True, arguments)
    assert "read_file" in str(error)
    assert not blocks_in(events)


async def test_a_call_cut_by_the_output_limit_is_left_open_and_the_answer_ends(connect: Any) -> None:
    script = answer(text("Writing."), tool_call("write_to_file", '{"content": "half'), stop_reason="max_tokens")
    async with MessagesServer([script]) as server:
        events = await events_of(connect(server))
    assert blocks_in(events) == [Text("Writing.")]
    assert isinstance(events[-1], Finished)
    assert events[-1].stop_reason == "max_tokens"


async def test_a_malformed_event_is_a_failure_of_ours_not_an_exception_of_python(connect: Any) -> None:
    script = answer(text("Hi"))
    async with MessagesServer([replace(script, events=({"type": "content_block_start"},))]) as server:
        error, _ = await failure_of(connect(server))
    assert (error.code, error.retryable) == ("unreadable_answer", True)


async def test_a_dead_server_is_named_as_such() -> None:
    async with MessagesServer() as server:
        url = server.url
    model = AnthropicModel(INFO, key="sk-test", base_url=url)
    error, _ = await failure_of(model)
    await model.close()
    assert (error.code, error.retryable) == ("connection_error", True)
    assert "base URL" in str(error)


@pytest.mark.parametrize("url", ["no url at all", "http://[", "ftp://127.0.0.1", "http://127.0.0.1:99999"])
async def test_a_base_url_that_is_none_is_told_as_such(url: str) -> None:
    model = AnthropicModel(INFO, key="sk-test", base_url=url)
    error, _ = await failure_of(model)
    await model.close()
    assert "base URL" in str(error)


async def test_a_base_url_without_a_protocol_is_not_tried_again() -> None:
    model = AnthropicModel(INFO, key="sk-test", base_url="api.example.org/v1")
    error, _ = await failure_of(model)
    await model.close()
    assert (error.code, error.retryable) == ("base_url", False)


async def test_silence_is_given_up_after_the_idle_time_and_keeps_what_came(connect: Any) -> None:
    async with MessagesServer([hang(answer(text("And then")))]) as server:
        error, events = await failure_of(connect(server, idle_timeout_s=0.5))
        await server.requests[0].left.wait()
    assert (error.code, error.retryable) == ("timeout", True)
    assert "".join(event.text for event in events if isinstance(event, BlockDelta)) == "And then"


async def test_without_a_key_no_call_is_made_and_the_error_says_where_to_put_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("ROO_TUI_HOME", str(tmp_path))
    with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY") as raised:
        await events_of(AnthropicModel(INFO, key=""))
    assert str(tmp_path / "config" / "keys.toml") in str(raised.value)
    assert not raised.value.retryable


async def test_no_error_repeats_the_key(connect: Any) -> None:
    async with MessagesServer([refusal(401, message="invalid key")]) as server:
        error, _ = await failure_of(connect(server))
    assert "sk-test" not in f"{error} {error.body} {error!r}"


async def test_cancelling_the_reader_closes_the_connection_at_once(connect: Any) -> None:
    async with MessagesServer([hang(answer(text("On and on")))]) as server:
        model = connect(server)
        heard = asyncio.Event()

        async def read() -> None:
            async for event in model.stream(HELLO):
                if isinstance(event, BlockDelta):
                    heard.set()

        reader = asyncio.create_task(read())
        await heard.wait()
        reader.cancel()
        async with asyncio.timeout(2):
            with pytest.raises(asyncio.CancelledError):
                await reader
            await server.requests[0].left.wait()
        assert server.requests[0].abandoned


async def test_closing_the_stream_closes_the_connection_at_once(connect: Any) -> None:
    async with MessagesServer([hang(answer(text("On and on")))]) as server:
        async with aclosing(connect(server).stream(HELLO)) as events:
            async for event in events:
                if isinstance(event, BlockDelta):
                    break
        async with asyncio.timeout(2):
            await server.requests[0].left.wait()
        assert server.requests[0].abandoned


async def test_the_providers_count_is_asked_of_the_same_prompt(connect: Any) -> None:
    async with MessagesServer(counts=42) as server:
        assert await connect(server).count_tokens(replace(HELLO, system=("role",))) == 42
        body = server.counted[0].body
    assert body["messages"][0]["content"][0]["text"] == "hello"
    assert not {"max_tokens", "stream"} & set(body)


async def test_a_count_that_cannot_be_had_is_none(connect: Any) -> None:
    async with MessagesServer() as server:
        assert await connect(server).count_tokens(HELLO) is None
    assert await AnthropicModel(INFO, key="").count_tokens(HELLO) is None


async def test_warming_up_never_fails() -> None:
    await AnthropicModel(INFO, key="").warm_up()
    model = AnthropicModel(INFO, key="sk-test", base_url="no url at all")
    await model.warm_up()
    await model.close()
