"""What was typed arrives in the prompt, leaves it once, and comes back if it was not sent."""

import pytest
from textual.events import Paste

from roo_tui.domain import events as ev
from roo_tui.domain.entries import QueuedMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.views import AnswerRow, Header, Row, UserRow
from roo_tui.tui import strings
from tests.support.screen import started
from tests.support.scripted_engine import HEADER, T0, TASK, ScriptedEngine, ScriptedReader


def talk() -> ScriptedEngine:
    """Return an engine whose task has a message and an answer."""
    engine = ScriptedEngine()
    engine.append(Row("e1", 1, UserRow("hello", T0)))
    engine.append(Row("e2", 2, AnswerRow("Hello.")))
    return engine


@pytest.mark.parametrize("key", ["right", "end", "ctrl+e"])
async def test_the_suggested_task_of_the_demo_is_put_into_the_prompt_once(key: str) -> None:
    header = Header(**{**{name: getattr(HEADER, name) for name in HEADER.__slots__}, "demo": True})
    async with started(ScriptedEngine(reader=ScriptedReader(the_header=header))) as screen:
        await screen.press("tab")
        assert screen.text(screen.chat.prompt).count(strings.DEMO_TASK) == 1
        await screen.press(key)
        assert screen.prompt == strings.DEMO_TASK
        await screen.press("enter")
        assert screen.called("submit") == [(strings.DEMO_TASK,)]


async def test_letters_typed_while_the_transcript_has_the_focus_go_to_the_prompt() -> None:
    async with started(talk()) as screen:
        screen.chat.transcript.focus()
        await screen.settle()
        await screen.type("run it: (just) a mess/c")
        assert screen.prompt == "run it: (just) a mess/c"
        assert screen.chat.prompt.area.has_focus


async def test_keys_pressed_one_by_one_arrive_in_their_order_too() -> None:
    async with started(talk()) as screen:
        screen.chat.transcript.focus()
        await screen.settle()
        await screen.press(*"run", "space", *"just", "A", "c")
        assert screen.prompt == "run justAc"


async def test_a_paste_while_the_transcript_has_the_focus_goes_to_the_prompt() -> None:
    async with started(talk()) as screen:
        screen.chat.transcript.focus()
        screen.app.post_message(Paste("two\nlines"))
        await screen.settle()
        assert screen.prompt == "two\nlines"


async def test_the_transcripts_own_keys_stay_its_own() -> None:
    async with started(talk()) as screen:
        screen.chat.transcript.focus()
        await screen.press("k", "down", "space", "c")
        assert screen.prompt == ""
        assert screen.app.clipboard == "Hello."


async def test_a_new_task_focuses_the_prompt() -> None:
    async with started(talk()) as screen:
        screen.chat.transcript.focus()
        await screen.press("ctrl+n")
        assert screen.chat.prompt.area.has_focus


async def test_enter_in_an_idle_empty_prompt_sends_the_queue() -> None:
    async with started(talk()) as screen:
        screen.engine._set_queue(QueuedMessage(1, "second"))
        await screen.settle()
        assert strings.PROMPT_SEND_QUEUE in screen.text()
        await screen.press("enter")
        assert screen.called("submit") == [("",)]


async def test_enter_in_an_empty_prompt_does_not_touch_the_queue_while_a_turn_runs() -> None:
    async with started(talk()) as screen:
        screen.engine.begin_turn()
        screen.engine._set_queue(QueuedMessage(1, "second"))
        await screen.settle()
        await screen.press("enter")
        assert screen.called("submit") == []


async def test_a_message_that_was_not_sent_comes_back_before_what_was_typed_since() -> None:
    async with started(talk()) as screen:
        await screen.type("typed since")
        screen.engine.refuse["submit"] = RooError("The disk is full.")
        screen.chat.prompt.post_message(type(screen.chat.prompt).Submitted("first", None))
        await screen.settle()
        assert screen.prompt == "first\ntyped since"
        assert "The disk is full." in screen.text()


async def test_ctrl_c_clears_the_prompt_and_up_brings_the_text_back() -> None:
    async with started(talk()) as screen:
        await screen.type("a long draft")
        await screen.press("ctrl+c")
        assert (screen.prompt, screen.called("close")) == ("", [])
        await screen.press("up")
        assert screen.prompt == "a long draft"


async def test_ctrl_c_interrupts_first_then_clears_then_quits() -> None:
    async with started(talk()) as screen:
        screen.engine.begin_turn()
        await screen.type("a draft")
        await screen.press("ctrl+c")
        assert (screen.called("cancel"), screen.prompt) == ([()], "a draft")
        await screen.press("ctrl+c")
        assert (screen.called("cancel"), screen.prompt) == ([()], "")
        await screen.press("ctrl+c")
        assert strings.QUIT_AGAIN in screen.text() and screen.called("close") == []
        await screen.press("ctrl+c")
        assert screen.called("close") == [()]


async def test_ctrl_c_interrupts_the_next_turn_too() -> None:
    async with started(talk()) as screen:
        for number in (1, 2):
            screen.engine.begin_turn()
            await screen.settle()
            await screen.press("ctrl+c")
            assert len(screen.called("cancel")) == number
            screen.engine.busy = False
            screen.engine.emit(ev.TurnEnded(TASK, "turn1", "cancelled", ""))
            await screen.settle()


async def test_a_draft_is_there_after_quitting() -> None:
    async with started(talk()) as screen:
        await screen.type("not sent yet")
        await screen.press("ctrl+q")
    async with started() as screen:
        await screen.press("up")
        assert screen.prompt == "not sent yet"
