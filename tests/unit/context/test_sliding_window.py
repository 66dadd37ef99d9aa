from collections.abc import Iterable

from roo_tui.context.history.effective import effective_history, truncation_line
from roo_tui.context.sliding_window import slide_window
from roo_tui.domain.blocks import Block, Text, ToolResult
from roo_tui.domain.markers import Mask, MaskItem, Truncation
from tests.support.histories import History


class Characters:
    def count_blocks(self, blocks: Iterable[Block]) -> int:
        return sum(
            len(block.text) if isinstance(block, Text) else len(block.content) if isinstance(block, ToolResult) else 1
            for block in blocks
        )


COUNTER = Characters()
LONG = "x" * 200


def talk(*lengths: int) -> History:
    """Return a history of user and assistant messages in turn, with texts of these lengths."""
    history = History()
    for at, length in enumerate(lengths):
        (history.answer if at % 2 else history.user)("x" * length)
    return history


def hides(history: History) -> tuple[int, ...] | None:
    marker = slide_window(history.path, COUNTER)
    return marker.hides if marker else None


def test_the_older_half_after_the_first_message_is_hidden():
    history = talk(100, 200, 200, 200, 200)
    assert hides(history) == (2, 3)


def test_the_figures_are_those_of_the_law():
    history = talk(100, 200, 200, 200, 200)
    marker = slide_window(history.path, COUNTER, ratio=1.5, tokens_before=1000, trigger="forced", reason="it was full")
    assert marker is not None
    freed = 400 - len(truncation_line(2).text)
    assert marker.figures.tokens_after == 1000 - int(1.5 * freed)
    assert (marker.figures.trigger, marker.figures.strategy, marker.figures.ratio) == ("forced", "sliding window", 1.5)
    assert marker.reason == "it was full"


def test_a_call_is_never_parted_from_its_result():
    history = talk(100)
    history.call("a", text=LONG)
    history.result("a", content=LONG)
    history.call("b")
    history.result("b", content="short")
    assert hides(history) == (2, 3)


def test_the_summary_in_force_stays():
    history = talk(100, 200)
    summary = history.condense(LONG)
    for _ in range(2):
        history.user(LONG)
        history.answer(LONG)
    found = hides(history)
    assert found == (4, 5)
    assert summary not in found


def test_the_newest_message_is_hidden_only_when_nothing_else_can_go():
    history = talk(10, 150, 150)
    history.call("a")
    history.result("a", content="x" * 2000)
    assert hides(history) == (2, 3)
    history.add(Truncation((2, 3)))
    assert hides(history) == (6, 4, 5)


def test_an_unanswered_message_of_the_user_is_never_hidden():
    assert hides(talk(10, 10, 5000)) is None
    assert hides(talk(10, 500, 5000)) == (2,)


def test_nothing_is_done_where_nothing_would_be_freed():
    assert hides(History()) is None
    assert hides(talk(10)) is None
    assert hides(talk(10, 10, 10, 10)) is None
    open_call = talk(10)
    open_call.call("a", text=LONG)
    assert hides(open_call) is None


def test_a_mask_that_comes_off_counts():
    history = talk(500, 100, 100, 20, 20)
    history.add(Mask((MaskItem(1, 0, "text", 0, 500, "see e3", target=3),)))
    assert hides(history) == (2,)


def test_truncating_again_and_again_ends_and_each_time_less_is_sent():
    history = talk(*[300] * 15)
    counts = [sum(COUNTER.count_blocks(message.blocks) for message in effective_history(history.path))]
    while marker := slide_window(history.path, COUNTER):
        history.add(marker)
        counts.append(sum(COUNTER.count_blocks(message.blocks) for message in effective_history(history.path)))
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts) > 3
    assert history.texts()[1] == truncation_line(13).text
