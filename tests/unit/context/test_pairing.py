import math

import pytest

from roo_tui.context.history.effective import Visible
from roo_tui.context.history.pairing import (
    legal_cuts,
    open_calls,
    repair,
    with_user_blocks,
)
from roo_tui.domain.blocks import Block, Image, Message, Opaque, Role, Text, Thinking, ToolResult, ToolUse
from roo_tui.prompt_files import render
from tests.support.api_rules import violations
from tests.support.histories import History

MISSING = render("history/missing_result")


def seen(*messages: tuple[str, *tuple[Block, ...]]) -> list[Visible]:
    """Return an effective history; each message is its role's first letter and its blocks."""
    roles: dict[str, Role] = {"u": "user", "a": "assistant"}
    return [Visible(at, roles[role], blocks) for at, (role, *blocks) in enumerate(messages, start=1)]  # type: ignore[arg-type]


def use(call_id: str) -> ToolUse:
    return ToolUse(call_id, "read_file", {"path": "a"})


def request(*messages: tuple[str, *tuple[Block, ...]], provider: str = "p", model: str = "m") -> tuple[Message, ...]:
    """Return the repaired request, which must be valid."""
    repaired = repair(seen(*messages), provider=provider, model=model)
    whole = repaired if repaired[-1].role == "user" else with_user_blocks(repaired, (Text("go on"),))
    assert violations(whole, provider=provider, model=model) == []
    return repaired


HELLO = ("u", Text("hello"))


def test_neighbours_of_one_role_are_merged_with_results_first():
    first, second, third = request(
        HELLO, ("a", Text("ok")), ("a", use("c")), ("u", Text("by the way")), ("u", ToolResult("c", "r"), Text("more"))
    )
    assert first.blocks == (Text("hello"),)
    assert second.blocks == (Text("ok"), use("c"))
    assert third.blocks == (ToolResult("c", "r"), Text("by the way"), Text("more"))


def test_a_call_without_a_result_gets_one_that_says_so():
    assert request(HELLO, ("a", use("c"), use("d")), ("u", ToolResult("d", "r"), Text("stop")))[-1].blocks == (
        ToolResult("d", "r"),
        ToolResult("c", MISSING, is_error=True),
        Text("stop"),
    )
    assert request(HELLO, ("a", use("c")))[-1] == Message("user", (ToolResult("c", MISSING, is_error=True),))


def test_a_second_result_of_one_call_is_told_as_text_if_it_says_something_new():
    results = (ToolResult("c", "r"), ToolResult("c", "r"), ToolResult("c", "again"))
    told = Text(render("history/late_result", content="again"))
    assert request(HELLO, ("a", use("c")), ("u", *results))[-1].blocks == (results[0], told)
    assert request(HELLO, ("a", use("c")), ("u", results[0]), ("a", Text("ok")), ("u", *results))[-1].blocks == (told,)


def test_a_result_under_an_id_that_no_call_has_answers_the_call_at_its_position():
    calls = ("a", use("c"), use("d"))
    results = (ToolResult("lost", "first"), ToolResult("d", "second"))
    assert request(HELLO, calls, ("u", *results))[-1].blocks == (ToolResult("c", "first"), results[1])
    told = request(HELLO, calls, ("u", ToolResult("lost", "x"), ToolResult("c", "y"), ToolResult("d", "z")))[-1].blocks
    assert told == (
        ToolResult("c", "y"),
        ToolResult("d", "z"),
        Text(render("history/late_result", content="x")),
    )


def test_a_result_whose_call_is_not_just_before_goes_as_text():
    summary = ("u", Text("a summary"))
    assert request(summary, ("u", ToolResult("gone", "the only output")))[-1].blocks == (
        Text("a summary"),
        Text(render("history/late_result", content="the only output")),
    )
    assert request(summary, ("u", ToolResult("gone", "  "))) == (Message("user", (Text("a summary"),)),)


def test_a_message_that_becomes_empty_lets_its_neighbours_merge():
    messages = request(HELLO, ("a", Text("one")), ("u", Text(" \n"), ToolResult("x")), ("a", Text("two")))
    assert messages[-1].blocks == (Text("one"), Text("two"))


def test_an_id_used_again_makes_pairs_of_their_own():
    messages = request(
        HELLO, ("a", use("c")), ("u", ToolResult("c", "first")), ("a", use("c")), ("u", ToolResult("c", "second"))
    )
    assert messages[3].blocks == (use("c_2"),)
    assert messages[4].blocks == (ToolResult("c_2", "second"),)


def test_two_calls_of_one_id_in_one_answer_get_their_results_in_order():
    messages = request(HELLO, ("a", use("c"), use("c")), ("u", ToolResult("c", "first"), ToolResult("c", "second")))
    assert messages[-1].blocks == (ToolResult("c", "first"), ToolResult("c_2", "second"))


@pytest.mark.parametrize(("odd", "plain"), [("call.1|a b", "call_1_a_b"), ("", "call"), ("é", "_")])
def test_odd_ids_become_plain_in_call_and_result(odd: str, plain: str):
    messages = request(HELLO, ("a", use(odd)), ("u", ToolResult(odd, "r")))
    assert messages[1].blocks == (use(plain),)
    assert messages[2].blocks == (ToolResult(plain, "r"),)


def test_odd_ids_that_become_the_same_stay_apart():
    messages = request(HELLO, ("a", use("a.b"), use("a|b")), ("u", ToolResult("a|b", "two"), ToolResult("a.b", "one")))
    assert messages[-1].blocks == (ToolResult("a_b_2", "two"), ToolResult("a_b", "one"))


def test_an_assistant_who_begins_gets_a_user_before():
    messages = request(("a", Text("I begin")))
    assert [message.role for message in messages] == ["user", "assistant"]
    assert messages[0].blocks == (Text(render("history/earlier_start")),)


def test_an_empty_history_gives_no_messages():
    assert repair([]) == ()
    assert repair(seen(("u", Text("")))) == ()


def test_reasoning_goes_only_signed_and_to_its_own_model():
    own, other = Thinking("a", "sig", "p", "m"), Thinking("b", "sig", "p", "other")
    unsigned = Thinking("c", "", "p", "m")
    blocks = (own, other, unsigned, Text("so"))
    assert request(HELLO, ("a", *blocks))[-1].blocks == (own, Text("so"))
    assert request(HELLO, ("a", *blocks), model="other")[-1].blocks == (other, Text("so"))
    assert request(HELLO, ("a", *blocks), provider="", model="")[-1].blocks == (Text("so"),)


def test_reasoning_at_the_end_of_an_answer_is_left_out():
    own = Thinking("a", "sig", "p", "m")
    redacted = Opaque("p", "m", {"type": "redacted_thinking", "data": "x"})
    assert request(HELLO, ("a", Text("so"), own, redacted), ("u", Text("next")))[1].blocks == (Text("so"),)
    assert request(HELLO, ("a", own), ("u", Text("next"))) == (Message("user", (Text("hello"), Text("next"))),)
    assert request(HELLO, ("a", own)) == (Message("user", (Text("hello"),)),)


def test_opaque_blocks_go_only_to_their_own_model_and_role():
    document = Opaque("p", "m", {"type": "document", "source": {}})
    hidden_call = Opaque("p", "m", {"type": "tool_use", "id": "x"})
    assert request(("u", Text("see"), document, hidden_call))[0].blocks == (Text("see"), document)
    assert request(("u", Text("see"), document), model="other")[0].blocks == (Text("see"),)
    assert request(HELLO, ("a", Text("see"), document))[-1].blocks == (Text("see"),)


def test_blocks_in_the_wrong_role_are_left_out():
    picture = Image("image/png", "aGk=")
    assert request(("u", Text("x"), use("c"), picture), ("a", Text("y"), picture, ToolResult("c")))[1].blocks == (
        Text("y"),
    )


def test_pictures_no_provider_takes_are_left_out():
    good = Image("image/png", "aGk=")
    assert request(("u", Text("x"), Image("image/tiff", "aGk="), Image("image/png", ""), good))[0].blocks == (
        Text("x"),
        good,
    )


def test_lone_surrogates_are_replaced_everywhere():
    call = ToolUse("c", "write\udc00", {"a\ud800": ["\ud800", {"b": "\udfff"}], "n": math.nan})
    messages = request(("u", Text("x\ud800")), ("a", call), ("u", ToolResult("c", (Text("\ud800y"),))))
    assert messages[0].blocks == (Text("x�"),)
    assert messages[1].blocks == (ToolUse("c", "write_", {"a�": ["�", {"b": "�"}], "n": "nan"}),)
    assert messages[2].blocks == (ToolResult("c", (Text("�y"),)),)


def test_an_error_result_is_text_and_says_something():
    picture = Image("image/png", "aGk=")
    for content in ("", " ", (), (picture,), (Text(" "), picture)):
        result = request(HELLO, ("a", use("c")), ("u", ToolResult("c", content, is_error=True)))[-1].blocks
        assert result == (ToolResult("c", render("history/empty_error"), is_error=True),)
    assert request(HELLO, ("a", use("c")), ("u", ToolResult("c", (Text(" "),))))[-1].blocks == (ToolResult("c", ""),)


def test_blocks_that_are_fine_are_sent_as_the_same_objects():
    call, result = use("c"), ToolResult("c", (Text("r"), Image("image/png", "aGk=")))
    messages = request(HELLO, ("a", call), ("u", result))
    assert messages[1].blocks[0] is call
    assert messages[2].blocks[0] is result


def test_a_longer_history_begins_with_the_same_request():
    history: list[tuple[str, Block]] = [
        HELLO,
        ("a", use("c")),
        ("u", ToolResult("c", "r")),
        ("a", use("c")),
        ("u", ToolResult("c", "s")),
    ]
    longer = [*history, ("a", use("c_2")), ("u", ToolResult("c_2", "t"))]
    assert request(*longer)[: len(history)] == request(*history)


def test_user_blocks_extend_the_last_user_message_or_follow_an_assistant():
    asked = (Message("user", (Text("a"),)),)
    assert with_user_blocks(asked, (Text("b"),)) == (Message("user", (Text("a"), Text("b"))),)
    answered = (*asked, Message("assistant", (Text("x"),)))
    assert with_user_blocks(answered, (Text("b"),)) == (*answered, Message("user", (Text("b"),)))
    assert with_user_blocks((), (Text("b"),)) == (Message("user", (Text("b"),)),)


def test_a_cut_is_legal_where_no_call_is_open():
    history = seen(HELLO, ("a", use("c"), use("d")), ("u", ToolResult("c")), ("u", ToolResult("d")), ("a", Text("ok")))
    assert legal_cuts(history) == (0, 1, 4, 5)
    assert 4 in legal_cuts(history) and 2 not in legal_cuts(history)


def test_calls_the_assistant_went_on_without_do_not_forbid_cuts_for_ever():
    history = seen(HELLO, ("a", use("lost")), ("u", Text("go on")), ("a", Text("ok")), ("u", Text("thanks")))
    assert legal_cuts(history) == (0, 1, 4, 5)


def test_calls_in_neighbouring_answers_are_open_together():
    history = seen(HELLO, ("a", use("c")), ("a", use("d")), ("u", ToolResult("d")), ("u", ToolResult("c")))
    assert legal_cuts(history) == (0, 1, 5)


def test_open_calls_are_those_of_the_newest_turn_without_results():
    history = History()
    history.user("go")
    history.call("lost")
    history.user("never mind")
    history.call("c", "d", "e")
    history.result("d")
    assert [call.id for call in open_calls(history.path)] == ["c", "e"]
    history.answer("on without them")
    assert open_calls(history.path) == []


def test_nothing_is_open_where_the_newest_turn_made_no_calls():
    history = History()
    assert open_calls(history.path) == []
    history.call("lost")
    history.user("never mind")
    history.answer("ok")
    assert open_calls(history.path) == []
