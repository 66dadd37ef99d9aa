"""Which contents are hidden when a provider refuses a request, and that they come back byte for byte."""

import pytest

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.pairing import repair
from roo_tui.context.refused_content import hide_refused
from roo_tui.context.window.overflow import RefusedContent
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Image, Message, Opaque, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, UserMessage
from roo_tui.domain.markers import Mask, Toggle
from roo_tui.prompt_files import render
from tests.support.api_rules import violations
from tests.support.histories import History
from tests.support.reductions import MODEL, inputs

COUNTER = TokenCounter()
HIDDEN = Text(render("history/hidden_picture"))


def image(name: str, side: int = 100, size: int = 4) -> Image:
    return Image("image/png", name * size, side, side)


A, B, C, D = image("a"), image("b"), image("c", side=3_000), image("d", size=100)
DOCUMENT = Opaque(MODEL.provider, MODEL.id, {"type": "document", "source": {"type": "base64", "data": "e" * 50}})


@pytest.fixture
def history() -> History:
    """A picture the user sent, a result with two pictures and texts around them, a document, another picture."""
    found = History()
    found.add(UserMessage((Text("look"), A)))
    found.add(AssistantMessage((Text("I read."), ToolUse("t1", "read_file", {"path": "b.png"}))))
    found.add(UserMessage((ToolResult("t1", (Text("first"), B, Text("then"), C, Text("end"))),), source="tools"))
    found.answer("Seen.")
    found.add(UserMessage((DOCUMENT, Text("and this"))))
    found.answer("Read.")
    found.add(UserMessage((D,)))
    return found


def sent(history: History) -> tuple[Message, ...]:
    return repair(effective_history(history.path), provider=MODEL.provider, model=MODEL.id)


def left(history: History) -> list[Image | Opaque]:
    """Return the pictures and documents the model still gets, in order."""
    blocks = [block for message in sent(history) for block in message.blocks]
    parts = [part for block in blocks for part in (block.content if isinstance(block, ToolResult) else (block,))]
    return [part for part in parts if isinstance(part, Image | Opaque)]


def hide(history: History, refused: RefusedContent) -> Mask | None:
    """Hide what was refused, check that the request stays valid and that an undo restores it, and redo it."""
    before, messages = effective_history(history.path), sent(history)
    mask = hide_refused(inputs(history.path, COUNTER, trigger="forced"), messages, refused, COUNTER)
    if mask is None:
        return None
    marker_id = history.add(mask)
    assert not violations(sent(history), provider=MODEL.provider, model=MODEL.id)
    after = effective_history(history.path)
    freed = COUNTER.count_messages(before) - COUNTER.count_messages(after)
    assert mask.figures.tokens_after == max(0, mask.figures.tokens_before - freed)
    history.add(Toggle(marker_id, on=False))
    assert effective_history(history.path) == before
    history.add(Toggle(marker_id, on=True))
    assert effective_history(history.path) == after
    return mask


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ((0, 1, None), [B, C, DOCUMENT, D]),
        ((2, 0, 1), [A, C, DOCUMENT, D]),
        ((2, 0, 3), [A, B, DOCUMENT, D]),
        ((2, 0, None), [A, DOCUMENT, D]),
        ((4, 0, None), [A, B, C, D]),
        ((6, 0, None), [A, B, C, DOCUMENT]),
    ],
    ids=["sent by the user", "first of a result", "second of a result", "a whole result", "document", "the newest"],
)
def test_the_picture_the_provider_names_is_hidden(
    history: History, place: tuple[int, int, int | None], kept: list[Image | Opaque]
) -> None:
    mask = hide(history, RefusedContent("pictures", "no", place))
    assert mask is not None and (mask.heading, mask.reason) == ("Pictures hidden", "no")
    assert left(history) == kept


def test_the_second_picture_of_a_result_is_hidden_after_the_first_and_its_texts_stay(history: History) -> None:
    hide(history, RefusedContent("pictures", "no", (2, 0, 1)))
    hide(history, RefusedContent("pictures", "no", (2, 0, 3)))
    (result,) = sent(history)[2].blocks
    assert result == ToolResult("t1", (Text("first"), HIDDEN, Text("then"), HIDDEN, Text("end")))


def test_with_a_stated_limit_every_picture_over_it_is_hidden_at_once(history: History) -> None:
    hide(history, RefusedContent("pictures", "no", None, most_side=2_000))
    assert left(history) == [A, B, DOCUMENT, D]
    hide(history, RefusedContent("pictures", "no", None, most_base64=40))
    assert left(history) == [A, B]


def test_without_a_place_the_older_half_is_hidden_each_time_until_none_is_left(history: History) -> None:
    counts = []
    while hide(history, RefusedContent("pictures", "no")) is not None:
        counts.append(len(left(history)))
    assert counts == [2, 1, 0]


def test_for_its_bytes_the_oldest_are_hidden_until_half_of_them_are_left(history: History) -> None:
    hide(history, RefusedContent("bytes", "413"))
    assert left(history) == [D]  # the newest stays while there are others, even if it has more than half
    newer = image("f", size=60)
    history.add(UserMessage((newer,)))
    hide(history, RefusedContent("bytes", "413"))
    assert left(history) == [newer]
    hide(history, RefusedContent("bytes", "413"))
    assert left(history) == []


@pytest.mark.parametrize("place", [(0, 0, None), (1, 0, None), (1, 1, None), (2, 0, None), (3, 0, None)])
def test_a_named_block_is_hidden_and_calls_keep_their_results(
    history: History, place: tuple[int, int, int | None]
) -> None:
    mask = hide(history, RefusedContent("block", "no", place))
    assert mask is not None and mask.heading == "Refused content hidden"
    assert hide(history, RefusedContent("block", "no", place)) is None  # there is nothing more to hide


def test_nothing_is_hidden_for_a_place_that_was_not_sent(history: History) -> None:
    assert hide(history, RefusedContent("block", "no", (9, 0, None))) is None
    assert hide(history, RefusedContent("block", "no", (0, 9, None))) is None
    summarised = History()
    summarised.user("one")
    summarised.answer("two")
    summarised.condense("three")
    assert hide(summarised, RefusedContent("block", "no", (0, 0, None))) is None
    assert hide(summarised, RefusedContent("bytes", "413")) is None
