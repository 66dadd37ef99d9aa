"""What keys do in the chat, with a scripted engine."""

import pytest

from roo_tui.domain import events as ev
from roo_tui.domain.blocks import Text, Thinking, ToolUse
from roo_tui.domain.entries import AssistantMessage, QueuedMessage
from roo_tui.domain.errors import CommandRefused, MissingKey, WouldOverwrite
from roo_tui.domain.views import AnswerRow, ReductionRow, Row, ThinkingRow, ToolRow, UserRow
from roo_tui.tui import strings
from roo_tui.tui.widgets.approval import ApprovalPanel
from roo_tui.tui.widgets.dock import TodoList
from roo_tui.tui.widgets.status_bars import Footer, HeaderBar
from tests.support.screen import APPROVAL, CHOICE, started
from tests.support.scripted_engine import T0, TASK, ScriptedEngine


async def test_enter_sends_and_ctrl_j_starts_a_new_line() -> None:
    async with started() as screen:
        await screen.type("fix it")
        await screen.press("ctrl+j")
        await screen.type("please")
        await screen.press("enter")
        assert screen.called("submit") == [("fix it\nplease",)]
        assert screen.prompt == ""


async def test_blank_prompt_sends_nothing() -> None:
    async with started() as screen:
        await screen.type("   ")
        await screen.press("enter")
        assert screen.called("submit") == []


async def test_prompt_grows_to_ten_lines_and_no_further() -> None:
    async with started() as screen:
        for height in (1, 2, 3):
            assert screen.chat.prompt.area.size.height == height
            await screen.press("ctrl+j")
        await screen.press(*["ctrl+j"] * 12)
        assert screen.chat.prompt.area.size.height == 10


async def test_a_paste_keeps_its_lines_and_loses_its_control_characters() -> None:
    from textual.events import Paste

    async with started() as screen:
        screen.app.post_message(Paste("one\r\ntwo\x1b[31m red\x00\n[bold]three"))
        await screen.settle()
        await screen.press("enter")
        assert screen.called("submit") == [("one\ntwo red\n[bold]three",)]


async def test_up_and_down_walk_through_what_was_sent_and_back_to_the_draft() -> None:
    async with started() as screen:
        for text in ("first", "second"):
            await screen.type(text)
            await screen.press("enter")
        await screen.type("draft")
        await screen.press("up")
        assert screen.prompt == "second"
        await screen.press("up")
        assert screen.prompt == "first"
        await screen.press("up", "down", "down")
        assert screen.prompt == "draft"


async def test_while_somebody_types_nothing_is_loaded_ahead() -> None:
    async with started() as screen:
        screen.engine.calls.clear()
        await screen.type("a")
        screen.chat.warm_up(screen.engine)
        await screen.settle()
        assert screen.called("measure") == []
        screen.chat.prompt.area.key_at -= 1
        screen.chat.warm_up(screen.engine)
        await screen.settle()
        assert screen.called("measure") == [()]


async def test_history_survives_a_restart() -> None:
    async with started() as screen:
        await screen.type("remember me")
        await screen.press("enter")
    async with started() as screen:
        await screen.press("up")
        assert screen.prompt == "remember me"


async def test_a_message_typed_while_a_turn_runs_is_queued_and_can_be_edited_and_removed() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        await screen.settle()
        assert strings.PROMPT_QUEUE in screen.text()
        for text in ("also this", "and that"):
            await screen.type(text)
            await screen.press("enter")
        assert "queued  also this" in screen.text()
        await screen.press("shift+tab")  # from the prompt to the last queued message
        await screen.press("enter")
        assert screen.prompt == "and that"
        await screen.type("!")
        await screen.press("enter")
        assert screen.called("edit_queued") == [(2, "and that!")]
        await screen.press("shift+tab", "delete")
        assert screen.engine.read.queued == (QueuedMessage(1, "also this"),)


async def test_escape_keeps_a_queued_message_as_it_was_and_gives_the_draft_back() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        await screen.type("queued one")
        await screen.press("enter")
        await screen.type("my draft")
        screen.chat.prompt.edit(screen.engine.read.queued[0])
        await screen.settle()
        assert screen.prompt == "queued one"
        await screen.press("escape")
        assert screen.prompt == "my draft"
        assert screen.called("edit_queued") == []
        assert screen.called("cancel") == []


async def test_escape_interrupts_the_turn_only_when_nothing_smaller_is_open() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        await screen.settle()
        await screen.type("/")
        await screen.settle()
        assert "/condense" in screen.text()
        await screen.press("escape")
        assert screen.called("cancel") == []
        assert "/truncate" not in screen.text()
        await screen.press("escape")
        assert screen.called("cancel") == [()]


async def test_ctrl_t_condenses_while_the_prompt_has_the_focus() -> None:
    async with started() as screen:
        await screen.type("half a sentence")
        await screen.press("ctrl+t")
        assert screen.called("condense") == [("",)]
        assert screen.prompt == "half a sentence"


async def test_slash_condense_takes_instructions() -> None:
    async with started() as screen:
        await screen.type("/condense keep the [paths]")
        await screen.press("enter")
        assert screen.called("condense") == [("keep the [paths]",)]


async def test_one_enter_runs_a_command_that_was_typed_whole() -> None:
    async with started() as screen:
        await screen.type("/condense")
        await screen.press("enter")
        assert screen.called("condense") == [("",)]


async def test_the_word_right_of_the_bar_condenses_by_click() -> None:
    async with started() as screen:
        await screen.pilot.click("CondenseButton")
        await screen.settle()
        assert screen.called("condense") == [("",)]


async def test_tab_completes_a_command_and_a_file() -> None:
    async with started() as screen:
        await screen.type("/cond")
        await screen.settle()
        await screen.press("tab")
        assert screen.prompt == "/condense "
        await screen.press("ctrl+u")
        await screen.type("look at @my")
        await screen.until("docs/my notes.md")
        await screen.press("tab")
        assert screen.prompt == "look at @docs/my\\ notes.md "


async def test_the_projects_own_commands_are_offered_and_sent_as_typed() -> None:
    async with started() as screen:
        await screen.type("/rev")
        await screen.settle()
        assert "Review the last change" in screen.text()
        await screen.press("tab")
        await screen.type("now")
        await screen.press("enter")
        assert screen.called("submit") == [("/review now",)]


async def test_an_unknown_command_is_not_sent_and_not_lost() -> None:
    async with started() as screen:
        await screen.type("/nonsense here")
        await screen.press("enter")
        assert screen.called("submit") == []
        assert screen.prompt == "/nonsense here"
        assert "/nonsense" in screen.notices()


async def test_a_path_at_the_beginning_is_a_message() -> None:
    async with started() as screen:
        await screen.type("/etc/hosts is wrong")
        await screen.press("enter")
        assert screen.called("submit") == [("/etc/hosts is wrong",)]


async def test_what_the_engine_refuses_becomes_a_notice_with_its_words_unparsed() -> None:
    engine = ScriptedEngine()
    engine.refuse["condense"] = CommandRefused("There is [nothing] to condense.")
    async with started(engine) as screen:
        await screen.press("ctrl+t")
        assert "There is [nothing] to condense." in screen.notices()


async def test_a_message_that_could_not_be_sent_returns_to_the_prompt() -> None:
    engine = ScriptedEngine()
    engine.refuse["submit"] = CommandRefused("The task is read-only.")
    async with started(engine) as screen:
        await screen.type("hello")
        await screen.press("enter")
        assert screen.prompt == "hello"
        assert "read-only" in screen.notices()


async def test_without_a_key_the_demo_is_offered_and_the_words_are_kept() -> None:
    engine = ScriptedEngine()
    engine.refuse["submit"] = MissingKey("No key was found.")
    async with started(engine) as screen:
        await screen.type("hello")
        await screen.press("enter")
        assert strings.NO_KEY_TITLE in screen.text()
        await screen.press("enter")
        await screen.settle()
        assert screen.prompt == "hello"


async def test_y_allows_and_the_focus_returns_to_the_prompt() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        screen.engine.ask(APPROVAL)
        await screen.settle()
        shown = screen.text()
        assert "Allow apply_diff?" in shown
        assert "# [red]not markup[/red]" in shown
        assert "outside the workspace" in shown
        await screen.press("y")
        assert screen.called("answer") == [("q1", "allow", "")]
        await screen.type("next")
        assert screen.prompt == "next"


@pytest.mark.parametrize(("key", "option"), [("a", "always"), ("n", "deny")])
async def test_a_allows_always_and_n_denies(key: str, option: str) -> None:
    async with started() as screen:
        screen.engine.ask(APPROVAL)
        await screen.settle()
        await screen.press(key)
        assert screen.called("answer") == [("q1", option, "")]


async def test_a_denial_can_say_why() -> None:
    async with started() as screen:
        screen.engine.ask(APPROVAL)
        await screen.settle()
        await screen.press("f")
        await screen.type("use [utc]")
        await screen.press("enter")
        assert screen.called("answer") == [("q1", "deny", "use [utc]")]


async def test_escape_closes_the_feedback_line_before_it_interrupts() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        screen.engine.ask(APPROVAL)
        await screen.settle()
        await screen.press("f", "escape")
        assert screen.called("cancel") == []
        await screen.press("escape")
        assert screen.called("cancel") == [()]


async def test_an_approval_never_takes_the_focus_from_somebody_who_is_typing() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        await screen.type("some more thoughts, ")
        screen.engine.ask(APPROVAL)
        await screen.settle()
        await screen.type("yes")
        assert screen.called("answer") == []
        assert screen.prompt == "some more thoughts, yes"
        await screen.press("shift+tab")
        assert screen.chat.query_one(ApprovalPanel).has_focus_within


async def test_questions_are_answered_one_after_the_other() -> None:
    async with started() as screen:
        screen.engine.ask(APPROVAL)
        screen.engine.ask(CHOICE)
        await screen.settle()
        assert "Which database" not in screen.text()
        await screen.press("y")
        assert "a temporary [file]" in screen.text()
        await screen.press("2")
        assert screen.called("answer")[-1] == ("q2", "2", "")


async def test_a_question_takes_an_own_answer() -> None:
    async with started() as screen:
        screen.engine.ask(CHOICE)
        await screen.settle()
        await screen.press("tab")
        await screen.type("ask [me] later")
        await screen.press("enter")
        assert screen.called("answer") == [("q2", "", "ask [me] later")]


async def test_approval_buttons_can_be_clicked() -> None:
    async with started() as screen:
        screen.engine.ask(APPROVAL)
        await screen.settle()
        await screen.pilot.click("#option-deny")
        await screen.settle()
        assert screen.called("answer") == [("q1", "deny", "")]


async def test_a_withdrawn_question_goes_away() -> None:
    async with started() as screen:
        screen.engine.ask(APPROVAL)
        await screen.settle()
        screen.engine.emit(ev.QuestionClosed(TASK, "q1", ""))
        await screen.settle()
        assert not screen.chat.query(ApprovalPanel)


@pytest.mark.line("D31")
async def test_condensing_shows_in_header_transcript_and_footer_and_typing_goes_on() -> None:
    async with started() as screen:
        screen.engine.busy = True
        screen.engine.emit(ev.CondenseStarted(TASK, "c1", "manual", 148_210))
        await screen.settle()
        await screen.type("typed while it condenses")
        screen.engine.emit(ev.CondenseText(TASK, "c1", "some of the summary"))
        await screen.settle()
        assert screen.prompt == "typed while it condenses"
        assert strings.CONDENSING in screen.text(screen.chat.query_one(HeaderBar))
        assert strings.CONDENSING in screen.text(screen.chat.transcript)
        assert strings.CONDENSING in screen.text(screen.chat.query_one(Footer))
        await screen.press("escape")
        assert screen.called("cancel") == [()]
        screen.engine.emit(ev.CondenseEnded(TASK, "c1", "cancelled"))
        await screen.settle()
        assert strings.CONDENSING not in screen.text()


async def test_a_condense_takes_away_the_sentence_that_one_is_near_but_no_warning() -> None:
    async with started() as screen:
        near = "It will be condensed soon."
        for notice, stays in ((ev.Notice(TASK, "info", near), False), (ev.Notice(TASK, "warning", near), True)):
            screen.engine.emit(notice)
            await screen.settle()
            assert "condensed soon" in screen.text()
            screen.engine.emit(ev.CondenseStarted(TASK, "c1", "automatic", 148_210))
            screen.engine.emit(ev.CondenseEnded(TASK, "c1", "condensed"))
            await screen.settle()
            assert ("condensed soon" in screen.text()) is stays


async def test_the_next_turn_takes_away_what_the_last_one_failed_with() -> None:
    async with started() as screen:
        screen.engine.emit(ev.Notice(TASK, "error", "The disk is full."))
        screen.engine.begin_turn()
        screen.engine.emit(ev.TurnEnded(TASK, "turn", "failed", "The provider is overloaded."))
        await screen.settle()
        assert screen.chat.notices.shown.text == "The provider is overloaded."
        screen.engine.emit(ev.TurnStarted(TASK, "next"))
        await screen.settle()
        assert screen.chat.notices.shown.text == "The disk is full."


async def test_a_retry_shows_its_countdown_and_how_to_end_it() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        screen.engine.emit(ev.RetryWaiting(TASK, "request", 2, 3, 3.0, "Overloaded"))
        await screen.settle()
        assert "Retrying in 3 s (2 of 3)  Esc cancels  Overloaded" in screen.text()
        screen.engine.emit(ev.RetryWaiting(TASK, "request", 2, 3, 0, "Overloaded"))
        await screen.settle()
        assert "Trying again" not in screen.text()


async def test_a_streamed_answer_becomes_the_row_of_its_entry_by_the_ids_of_its_blocks() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        for block in (
            ev.BlockStarted(TASK, "b1", "thinking"),
            ev.BlockStarted(TASK, "b2", "text"),
            ev.BlockStarted(TASK, "b3", "tool_use", "read_file"),
        ):
            text = ev.BlockText(TASK, block.block_id, "Hello there [world]")
            screen.engine.emit(block, text, ev.BlockEnded(TASK, block.block_id))
        await screen.until("Thought")
        rows = screen.chat.transcript
        rows.toggle("live:b1")
        streamed = list(rows._list.rows())
        answer = AssistantMessage(
            (Thinking("Hello there [world]"), Text("Hello there [world]"), ToolUse("c1", "x", {}))
        )
        screen.engine.append(
            Row("e1.0", 1, ThinkingRow("Hello there [world]")),
            Row("e1.1", 1, AnswerRow("Hello there [world]")),
            Row("call:c1", 1, ToolRow("c1", "read_file", "a.py", "waiting")),
            body=answer,
            block_ids=("b1", "b2", "b3"),
        )
        screen.engine.end_turn()
        await screen.settle()
        shown = screen.text(rows)
        assert shown.count("Hello there [world]") == 2, "thinking stays open, the answer stands once"
        assert shown.index("Thought") < shown.rindex("Hello there") < shown.index("read_file a.py")
        assert list(rows._list.rows()) == streamed, "the rows go on as they were drawn"
        assert [box.key for box in streamed] == ["e1.0", "e1.1", "call:c1"]


async def test_an_answer_that_was_read_before_it_was_told_stands_once() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        screen.engine.emit(ev.ViewChanged(TASK, "condense"))
        screen.engine.emit(ev.BlockStarted(TASK, "b1", "text"), ev.BlockText(TASK, "b1", "Yes."))
        screen.engine.append(
            Row("e1.0", 1, AnswerRow("Yes.")), body=AssistantMessage((Text("Yes."),)), block_ids=("b1",)
        )
        screen.engine.end_turn()
        await screen.settle()
        assert [box.key for box in screen.chat.transcript._list.rows()] == ["e1.0"]


async def test_the_same_words_of_another_answer_are_not_taken_for_a_stream() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        screen.engine.emit(ev.BlockStarted(TASK, "b1", "text"), ev.BlockText(TASK, "b1", "Yes."))
        await screen.until("Yes.")
        screen.engine.append(Row("e1", 1, UserRow("asked meanwhile", T0)), Row("e1.0", 1, AnswerRow("Yes.")))
        await screen.settle()
        assert [box.key for box in screen.chat.transcript._list.rows()] == ["live:b1", "e1", "e1.0"]


async def test_the_queue_is_kept_and_shown_after_a_failed_turn() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        await screen.type("and then this")
        await screen.press("enter")
        screen.engine.end_turn("The provider is overloaded.")
        await screen.settle()
        assert "queued  and then this" in screen.text()
        assert "The provider is overloaded." in screen.text()
        assert strings.PROMPT_SEND in screen.text()
        await screen.press("shift+tab", "enter")
        assert screen.prompt == "and then this"


async def test_a_broken_attempt_leaves_nothing_behind() -> None:
    async with started() as screen:
        screen.engine.begin_turn()
        screen.engine.emit(ev.BlockStarted(TASK, "b1", "text"), ev.BlockText(TASK, "b1", "half an answ"))
        screen.engine.emit(ev.BlockStarted(TASK, "b2", "tool_use", "apply_diff"), ev.BlockText(TASK, "b2", '{"pa'))
        await screen.settle()
        assert "apply_diff" in screen.text()
        screen.engine.emit(ev.RequestEnded(TASK, "turn1", "r1", "failed"))
        await screen.settle()
        assert "half an answ" not in screen.text()
        assert "apply_diff" not in screen.text()


async def test_events_of_another_task_are_not_shown() -> None:
    async with started() as screen:
        screen.engine.emit(ev.Notice("other", "info", "not for here"))
        screen.engine.emit(ev.Notice(TASK, "warning", "for [here]"))
        await screen.settle()
        assert "not for here" not in screen.notices()
        assert "for [here]" in screen.notices()


async def test_u_on_a_condense_row_undoes_it() -> None:
    engine = ScriptedEngine()
    engine.append(Row("e1", 1, UserRow("hello", T0)))
    engine.append(Row("e7", 7, ReductionRow("condense", True, 148_210, 9_874, 0.08, "manual", "native", 12)))
    async with started(engine) as screen:
        assert "148,210 → 9,874 tokens" in screen.text()
        await screen.press("shift+tab")
        await screen.press("end", "u")
        assert screen.called("undo") == [(7,)]


async def test_c_on_a_row_copies_it() -> None:
    engine = ScriptedEngine()
    engine.append(Row("e1", 1, UserRow("copy [me]", T0)))
    async with started(engine) as screen:
        await screen.press("shift+tab")
        await screen.press("end", "c")
        assert screen.app.clipboard == "copy [me]"
        assert strings.COPIED in screen.notices()


async def test_a_on_a_condense_row_appends_its_receipt() -> None:
    engine = ScriptedEngine()
    left_out = ("never touch [vendor]", "exit 1")
    engine.append(
        Row("e7", 7, ReductionRow("condense", True, 148_210, 9_874, 0.08, "manual", "native", 12, receipt=left_out))
    )
    async with started(engine) as screen:
        await screen.press("shift+tab")
        await screen.press("end", "a")
        assert screen.called("append_receipt") == [(7,)]
        assert strings.RECEIPT_APPENDED in screen.text()


@pytest.mark.line("A4")
async def test_f8_and_f9_undo_and_redo_the_newest_change() -> None:
    async with started() as screen:
        await screen.press("f8", "f9")
        assert screen.called("undo") == [(None,)]
        assert screen.called("redo") == [(None,)]


async def test_an_undo_that_would_overwrite_own_changes_asks_first() -> None:
    engine = ScriptedEngine()
    engine.refuse["undo"] = WouldOverwrite("You changed src/[mine].py since the last step.")
    async with started(engine) as screen:
        await screen.press("f8")
        assert "src/[mine].py" in screen.text()
        await screen.press("n")
        assert screen.called("undo") == [(None,)]
        await screen.press("f8")
        del engine.refuse["undo"]
        await screen.press("y")
        assert screen.called("undo")[-1] == (None, "overwrite")


async def test_restored_words_come_back_to_the_prompt_and_the_draft_is_kept() -> None:
    async with started() as screen:
        await screen.type("draft")
        screen.engine.emit(ev.PromptRestored(TASK, "the old [words]"))
        await screen.settle()
        assert screen.prompt == "the old [words]"
        await screen.press("up")
        assert screen.prompt == "draft"


async def test_todos_fold_and_count() -> None:
    async with started() as screen:
        todos = (("read [the] tests", "done"), ("fix it", "in_progress"), ("run them", "pending"))
        screen.engine.set_header(todos=todos)
        await screen.settle()
        assert "1 of 3 todos" in screen.text(screen.chat.query_one(HeaderBar))
        assert "run them" not in screen.text()
        await screen.pilot.click(TodoList)
        await screen.settle()
        assert "✓ read [the] tests" in screen.text()
        assert "run them" in screen.text()


async def test_ctrl_c_twice_quits_and_says_how_to_go_on() -> None:
    engine = ScriptedEngine()
    engine.append(Row("e1", 1, UserRow("hello", T0)))
    async with started(engine) as screen:
        await screen.press("ctrl+c")
        assert strings.QUIT_AGAIN in screen.text()
        assert screen.called("close") == []
        await screen.press("ctrl+c")
        assert screen.called("close") == [()]
    assert screen.app.return_value == 0
    assert screen.app.farewell == strings.RESUME_WITH.format(options="", task_id=TASK)


@pytest.mark.parametrize("key", ["ctrl+q", "ctrl+d"])
async def test_one_key_quits_an_empty_task_without_a_word(key: str) -> None:
    async with started() as screen:
        await screen.press(key)
        assert screen.called("close") == [()]
    assert (screen.app.return_value, screen.app.farewell) == (0, "")


async def test_ctrl_d_deletes_where_something_is_typed() -> None:
    async with started() as screen:
        await screen.type("ab")
        await screen.press("home", "ctrl+d")
        assert screen.prompt == "b"
        assert screen.called("close") == []


async def test_a_notice_stands_above_the_prompt_and_fades_and_an_error_stays_until_dismissed() -> None:
    async with started() as screen:
        screen.chat.tell("something [small]")
        await screen.settle()
        assert "── something [small] ──" in screen.text()
        screen.engine.emit(ev.Notice(TASK, "error", "the disk is full\x1b[31m; free some space"))
        await screen.settle()
        assert "✗ the disk is full; free some space" in screen.text()
        screen.chat.tell("by the way", "information")
        await screen.settle()
        assert "by the way" in screen.text()
        assert screen.chat.notices.dismiss()
        await screen.settle()
        assert "the disk is full" in screen.text()
        await screen.press("escape")
        assert "the disk is full" not in screen.text()
        await screen.type("/notices")
        await screen.press("enter")
        assert "by the way" in screen.text()
        assert "the disk is full" in screen.text()
        await screen.press("escape")
        assert screen.app.screen is screen.chat


async def test_a_long_error_takes_more_lines_and_hides_neither_prompt_nor_panel() -> None:
    async with started() as screen:
        screen.engine.ask(APPROVAL)
        screen.engine.emit(ev.Notice(TASK, "error", "A sentence that goes on. " * 40))
        await screen.settle()
        shown = screen.text()
        assert "y Allow" in shown and "condense at" in shown and "❯" in shown
        assert screen.chat.notices.size.height == 4


async def test_an_empty_task_says_what_to_do_until_its_first_row() -> None:
    async with started() as screen:
        assert strings.WELCOME_TITLE in screen.text()
        await screen.press("enter")
        assert (screen.called("submit"), screen.prompt) == ([], "")
        screen.engine.append(Row("e1", 1, UserRow("hello", T0)))
        await screen.settle()
        assert strings.WELCOME_TITLE not in screen.text()
        assert "hello" in screen.text()


@pytest.mark.parametrize("key", ["tab", "enter"])
async def test_the_demo_suggests_a_task_that_a_key_puts_into_the_prompt(key: str) -> None:
    engine = ScriptedEngine()
    engine.set_header(demo=True)
    async with started(engine) as screen:
        assert strings.WELCOME_DEMO.format(task=strings.DEMO_TASK) in screen.text()
        await screen.press(key)
        assert screen.prompt == strings.DEMO_TASK
        await screen.press("enter")
        assert screen.called("submit") == [(strings.DEMO_TASK,)]


async def test_ctrl_c_copies_what_is_selected_in_the_prompt() -> None:
    async with started() as screen:
        await screen.type("copy me")
        await screen.press("f7", "ctrl+c")
        assert screen.app.clipboard == "copy me"
        assert strings.QUIT_AGAIN not in screen.notices()


async def test_page_keys_scroll_the_transcript_while_the_prompt_has_the_focus() -> None:
    engine = ScriptedEngine()
    for number in range(1, 60):
        engine.append(Row(f"e{number}", number, UserRow(f"message {number}", T0)))
    async with started(engine) as screen:
        assert "message 59" in screen.text()
        await screen.press("pageup", "pageup")
        assert "message 59" not in screen.text()
        await screen.type("still typing")
        assert screen.prompt == "still typing"


async def test_keys_of_the_footer_can_be_clicked() -> None:
    async with started() as screen:
        line = screen.text(screen.chat.query_one(Footer))
        await screen.pilot.click(Footer, offset=(line.index("Condense"), 0))
        await screen.settle()
        assert screen.called("condense") == [("",)]


async def test_resume_opens_the_task_that_was_named() -> None:
    async with started(resume="abc123") as screen:
        assert screen.called("open_task") == [("abc123",)]
        assert screen.called("new_task") == []


async def test_control_characters_and_brackets_of_foreign_text_do_no_harm() -> None:
    evil = "\x1b[2J\x9b31m[/bold] [link=x] \ud800 \u202e end"
    async with started() as screen:
        screen.engine.set_header(profile=evil, model=evil, workspace=evil, todos=((evil, "in_progress"),))
        screen.engine.emit(ev.Notice(TASK, "error", evil), ev.PromptRestored(TASK, evil))
        screen.engine.ask(ev.Question("q9", ev.Approval("c", evil, evil, "edit", None, (evil,)), APPROVAL.options))
        await screen.settle()
        shown = screen.text()
        assert "\x1b" not in shown
        assert "[/bold]" in shown
        await screen.press("shift+tab", "n")
        assert screen.called("answer") == [("q9", "deny", "")]
