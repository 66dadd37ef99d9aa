import pytest

from roo_tui.context.measure import last_usage, measure
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import AssistantMessage, Noted
from roo_tui.domain.markers import Toggle
from roo_tui.domain.usage import Usage
from tests.support.histories import History

USAGE = Usage(input_tokens=900, output_tokens=100)


@pytest.fixture
def talk() -> History:
    history = History()
    history.user("hello world")
    history.answer("hello", usage=USAGE)
    return history


def test_what_came_after_the_report_is_added(talk: History):
    talk.user("hello world")
    talk.add(Noted("info", "a remark"))
    assert measure(talk.path, TokenCounter(), 1.5) == 1003


def test_an_answer_without_a_report_is_counted_by_us(talk: History):
    talk.add(AssistantMessage((Text("hello world"),), interrupted=True))
    talk.add(AssistantMessage((Text("hello world"),), usage=Usage()))
    assert measure(talk.path, TokenCounter(), 1.0) == 1004


def test_a_report_from_before_a_marker_is_not_believed(talk: History):
    marker = talk.condense("hello world")
    assert measure(talk.path, TokenCounter(), 2.0, system=("hello world",)) == 8
    talk.add(Toggle(marker, on=False))
    assert measure(talk.path, TokenCounter(), 1.0) == 3
    talk.answer("fine", usage=USAGE)
    assert measure(talk.path, TokenCounter(), 1.0) == 1000


def test_a_report_from_before_the_head_was_moved_is_not_believed(talk: History):
    assert last_usage(talk.path, after=2) is None
    assert last_usage(talk.path, after=1) == (USAGE, ())


def test_a_report_of_another_model_is_not_believed():
    history = History()
    history.add(AssistantMessage((Text("x"),), provider="p", model="old", usage=USAGE))
    assert last_usage(history.path, model="new") is None
    assert last_usage(history.path, provider="q", model="old") is None
    assert last_usage(history.path, provider="p", model="old") == (USAGE, ())


def test_nothing_was_reported_at_the_start():
    assert last_usage(()) is None
    assert measure((), TokenCounter(), 1.5) == 0
