from dataclasses import replace

import pytest

from roo_tui.domain.views import TextView, Todos, TodoView
from roo_tui.tools.base import Effect
from roo_tui.tools.update_todo_list import parse_todos
from tests.support.tool_bench import Bench

LIST = "- [x] read\n[-] change\n\n3. [ ] test [it]\n  * [~] more\n"


async def test_a_checklist_becomes_the_todo_list(bench: Bench) -> None:
    items: Todos = (("read", "done"), ("change", "in_progress"), ("test [it]", "pending"), ("more", "in_progress"))
    plan = await bench.plan("update_todo_list", todos=LIST)
    assert (plan.title, plan.effect, plan.view) == ("1 of 4 done", Effect.TODO, TodoView(items))
    outcome = await bench.run("update_todo_list", todos=LIST)
    assert outcome.todos == items
    assert outcome.for_model == "The todo list is up to date."


@pytest.mark.parametrize("text", ["[ ] a\nsomething else", "[y] a", "[ ]"])
def test_a_line_that_is_no_item_is_named(text: str) -> None:
    assert parse_todos(text) == text.splitlines()[-1]


async def test_a_malformed_list_is_told_how_to_be_written(bench: Bench) -> None:
    assert "“do this” is not an item" in await bench.failure("update_todo_list", todos="do this")


async def test_an_empty_list_clears_it(bench: Bench) -> None:
    assert (await bench.run("update_todo_list", todos="\n")).todos == ()


async def test_a_question_is_answered_by_the_user(bench: Bench) -> None:
    bench.answer = "blue"
    outcome = await bench.run("ask_followup_question", question="Which?", suggestions=["red", " ", "blue"])
    assert bench.asked == [("Which?", ("red", "blue"))]
    assert outcome.for_model == "The user answered:\n\nblue"
    assert outcome.view == TextView("Which?\n\n> blue", True)
    assert (await bench.plan("ask_followup_question", question="Which?")).effect is Effect.ASK


async def test_without_a_user_the_policys_text_is_not_told_as_the_users_answer(bench: Bench) -> None:
    bench.context = replace(bench.context, user=False)
    bench.answer = "Nobody can answer."
    assert await bench.result("ask_followup_question", question="Which?") == "Nobody can answer."


async def test_no_answer_is_reported(bench: Bench) -> None:
    assert "gave no answer" in await bench.result("ask_followup_question", question="Which?")


async def test_more_than_four_suggestions_are_refused(bench: Bench) -> None:
    assert "suggestions" in await bench.failure("ask_followup_question", question="?", suggestions=list("abcde"))


async def test_a_completion_ends_with_the_result(bench: Bench) -> None:
    plan = await bench.plan("attempt_completion", result="**Done.**\nAll tests pass.")
    assert (plan.effect, plan.view) == (Effect.FINISH, TextView("**Done.**\nAll tests pass.", True))
    assert not (await bench.run("attempt_completion", result="Done.")).is_error
