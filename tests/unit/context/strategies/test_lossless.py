"""What the model can see twice is shown once, by what calls did, and can be had back."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.context.history.effective import effective_history, with_marker
from roo_tui.context.history.log import appended
from roo_tui.context.history.recall import recall_hidden
from roo_tui.context.strategies.lossless.lossless import (
    LosslessOperations,
    LosslessStrategy,
    hide_duplicates,
    lossless_items,
)
from roo_tui.context.strategies.protocol import StrategyOptions
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Image, Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, CallFacts, CallRecord, Pinned, UserMessage
from roo_tui.domain.errors import CondenseRefused
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Mask, MaskItem, Truncation
from roo_tui.domain.recall import Recall
from tests.support.histories import History
from tests.support.rebuilding import Rebuilt
from tests.support.reductions import inputs

LINES = [f"value_{number} = compute({number * 7}, 'some words that make a line')" for number in range(60)]


def numbered(lines: Sequence[str], first: int = 1, form: str = "{} | {}") -> str:
    return "\n".join(form.format(number, line) for number, line in enumerate(lines, first))


class Work(History):
    """A conversation whose calls come with facts."""

    def __init__(self) -> None:
        super().__init__()
        self.user("please")

    def did(
        self, facts: CallFacts, result: str, tool: str = "read_file", *, is_error: bool = False, **given: object
    ) -> EntryId:
        """Append a call and its result; return the result's entry."""
        call_id = f"c{len(self.path)}"
        self.add(AssistantMessage((ToolUse(call_id, tool, given),)))
        record = CallRecord(call_id, tool, facts)
        return self.add(UserMessage((ToolResult(call_id, result, is_error),), source="tools", calls=(record,)))

    def read(self, path: str, content: str, lines: tuple[int, int] | None = None, *, whole: bool = True) -> EntryId:
        return self.did(CallFacts("read", path, lines, full_content=whole), content, path=path)

    def items(self, **options: object) -> dict[EntryId, MaskItem]:
        return {item.entry_id: item for item in lossless_items(self.path, **options)}  # type: ignore[arg-type]

    def masked(self) -> "Work":
        self.add(Mask(lossless_items(self.path)))
        return self

    def shown(self, entry_id: EntryId) -> str:
        block = next(message for message in effective_history(self.path) if message.entry_id == entry_id).blocks[0]
        assert isinstance(block, ToolResult) and isinstance(block.content, str)
        return block.content


def test_the_same_result_again_leaves_one_copy_the_newest():
    work = Work()
    older = work.did(CallFacts("command"), "\n".join(LINES[:5]), "execute_command", command="make")
    newer = work.did(CallFacts("command"), "\n".join(LINES[:5]), "execute_command", command="make")
    work.answer("done")
    work.masked()
    assert work.shown(older) == f"[Same content as e{newer}.]"
    assert work.shown(newer) == "\n".join(LINES[:5])


def test_a_short_result_stays_however_often_it_comes():
    work = Work()
    for _ in range(3):
        work.did(CallFacts("command"), "ok", "execute_command")
    assert work.items() == {}


@pytest.mark.parametrize(
    ("older", "newer", "superseded"),
    [
        (None, None, True),
        ((1, 20), None, True),
        ((5, 20), (1, 40), True),
        ((1, 20), (1, 20), True),
        (None, (1, 40), False),
        ((1, 41), (1, 40), False),
        ((30, 50), (1, 40), False),
    ],
)
def test_a_read_gives_way_to_a_later_one_that_covers_its_range(older, newer, superseded):
    work = Work()
    first = work.read("a.py", "\n".join(LINES[:15]), older)
    second = work.read("./a.py", "\n".join(LINES[20:40]), newer)
    work.answer("done")
    items = work.items()
    assert (first in items) == superseded
    if superseded:
        assert items[first].placeholder == (
            f"[Outdated: e{second} is newer. recall_history e{first} returns this version.]"
        )
        assert items[first].target == second


def test_a_later_read_that_is_cut_or_failed_or_of_another_file_supersedes_nothing():
    for facts, is_error in [
        (CallFacts("read", "a.py", full_content=False), False),
        (CallFacts("read", "a.py", full_content=True), True),
        (CallFacts("read", "b.py", full_content=True), False),
        (CallFacts("edit", "a.py", changed=("a.py",)), False),
    ]:
        work = Work()
        first = work.read("a.py", "\n".join(LINES[:15]))
        work.did(facts, "\n".join(LINES[20:40]), is_error=is_error)
        assert first not in work.items()


def test_a_read_gives_way_to_a_later_write_of_the_whole_file():
    work = Work()
    first = work.read("a.py", "\n".join(LINES[:15]))
    facts = CallFacts("write", "a.py", full_content=True, changed=("a.py",))
    wrote = work.did(facts, "a.py was written.", "write_to_file", path="a.py", content="\n".join(LINES[20:40]))
    item = work.items()[first]
    assert item.target == wrote - 1
    assert f"e{wrote - 1}.0.content is newer" in item.placeholder


def test_a_list_that_is_asked_for_again_gives_way_even_if_the_answer_changed():
    work = Work()
    facts = CallFacts("list", "src", full_content=True)
    first = work.did(facts, "\n".join(LINES[:9]), "list_files", path="src")
    other = work.did(facts, "\n".join(LINES[10:19]), "list_files", path="src", recursive=True)
    second = work.did(facts, "\n".join(LINES[20:29]), "list_files", path="src")
    items = work.items()
    assert items[first].target == second
    assert other not in items


def test_twenty_equal_lines_give_way_whatever_their_numbers():
    work = Work()
    older = work.did(CallFacts("command"), "intro\n" + numbered(LINES[:30], 101), "execute_command")
    newer = work.read("a.py", numbered(LINES[:30], 1, "{:>6}→{}"), (1, 30))
    work.answer("done")
    work.masked()
    assert (
        work.shown(older) == f"intro\n[30 lines, the same as e{newer} from its line 1 on, numbered from “101 | ” on.]"
    )


def test_nineteen_equal_lines_stay():
    work = Work()
    work.did(CallFacts("command"), "intro\n" + "\n".join(LINES[:19]) + "\nend", "execute_command")
    work.did(CallFacts("command"), "other\n" + "\n".join(LINES[:19]) + "\nelse", "execute_command")
    assert work.items() == {}


def test_a_text_that_repeats_itself_points_to_its_own_beginning():
    work = Work()
    twice = work.did(CallFacts("command"), "\n".join([*LINES[:25], "--", *LINES[:25]]), "execute_command")
    work.answer("done")
    work.masked()
    assert work.shown(twice).endswith(f"--\n[25 lines, the same as e{twice} from its line 1 on.]")


def test_a_copy_in_a_calls_input_is_what_stays():
    work = Work()
    text = "\n".join(LINES[:30])
    facts = CallFacts("write", "a.py", full_content=True, changed=("a.py",))
    wrote = work.did(facts, "a.py was written.", "write_to_file", path="a.py", content=text)
    read = work.read("a.py", numbered(LINES[:30]))
    work.answer("done")
    item = work.items()[read]
    assert (
        item.placeholder
        == f"[30 lines, the same as e{wrote - 1}.0.content from its line 1 on, numbered from “1 | ” on.]"
    )


def test_a_string_deep_in_an_input_can_be_masked_and_pointed_to():
    work = Work()
    text = "\n".join(LINES[:8])
    for _ in range(2):
        work.did(CallFacts("edit", "a.py"), "changed", "apply_edits", edits=[{"old": "x", "new/text": text}])
    work.masked()
    first = next(message for message in effective_history(work.path) if message.role == "assistant").blocks[0]
    assert isinstance(first, ToolUse)
    assert first.input == {"edits": [{"old": "x", "new/text": "[Same content as e4.0/edits/0/new~1text.]"}]}


def test_the_same_picture_again_goes_with_its_words():
    picture = Image("image/png", "aGk=" * 100)
    content = (Text("a picture of the page, and some words about it " * 5), picture)
    work = Work()
    entries = []
    for name in ("p", "q"):
        work.add(AssistantMessage((ToolUse(name, "read_file", {"path": "a.png"}),)))
        entries.append(work.add(UserMessage((ToolResult(name, content),), source="tools", calls=())))
    work.answer("done")
    work.masked()
    shown = effective_history(work.path)[2].blocks[0]
    assert isinstance(shown, ToolResult)
    assert shown.content == (Text(f"[Same content as e{entries[1]}.]"),)


def test_first_newest_and_pinned_messages_stay_and_are_pointed_to():
    work = History()
    text = "\n".join(LINES[:30])
    work.user(text)
    for call in ("p", "q"):
        work.add(AssistantMessage((ToolUse(call, "execute_command", {}),)))
        work.add(UserMessage((ToolResult(call, text),), source="tools"))
    work.add(Pinned(3))
    work.answer("done")
    items = lossless_items(work.path)
    assert [(item.entry_id, item.target) for item in items] == [(5, 1)]


def test_nothing_of_a_running_tool_loop_is_masked():
    work = Work()
    old = work.did(CallFacts("command"), "\n".join(LINES[:30]), "execute_command")
    work.answer("done")
    work.user("again")
    for _ in range(3):
        work.did(CallFacts("command"), "\n".join(LINES[:30]), "execute_command")
    assert set(work.items(in_turn=True)) == {old}
    assert len(work.items()) == 3


def test_a_mask_comes_off_when_what_it_points_to_is_hidden():
    work = Work()
    older = work.did(CallFacts("command"), "\n".join(LINES[:5]), "execute_command")
    newer = work.did(CallFacts("command"), "\n".join(LINES[:5]), "execute_command")
    work.answer("done")
    work.masked()
    after = with_marker(work.path, Truncation((newer - 1, newer)))
    assert after[2].entry_id == older
    assert after[2].blocks == (ToolResult("c1", "\n".join(LINES[:5])),)


def test_what_a_mask_points_to_is_not_masked_by_the_next_one_unless_both_are_out_of_date():
    work = Work()
    work.did(CallFacts("command"), "\n".join(LINES[:30]), "execute_command")
    read = work.read("a.py", "\n".join(LINES[:30]))
    work.answer("done")
    work.masked()
    work.read("a.py", "\n".join(LINES[25:55]))
    work.answer("done")
    assert read not in work.items()
    chain = Work()
    first = chain.read("a.py", "\n".join(LINES[:10]))
    second = chain.read("a.py", "\n".join(LINES[10:20]))
    chain.answer("done")
    chain.masked()
    third = chain.read("a.py", "\n".join(LINES[20:30]))
    chain.answer("done")
    chain.masked()
    assert f"e{second} is newer" in chain.shown(first)
    assert f"e{third} is newer" in chain.shown(second)


def test_each_operation_can_be_switched_off():
    work = Work()
    repeated = work.did(CallFacts("command"), "\n".join(LINES[:30]), "execute_command")
    work.did(CallFacts("command"), "\n".join(LINES[:30]), "execute_command")
    listed = work.did(CallFacts("list", "."), "\n".join(LINES[30:39]), "list_files")
    work.did(CallFacts("list", "."), "\n".join(LINES[40:49]), "list_files")
    read = work.read("a.py", "\n".join(LINES[50:60]))
    work.read("a.py", "\n".join(reversed(LINES[50:60])))
    work.answer("done")
    assert set(work.items()) == {repeated, listed, read}
    assert set(work.items(operations=LosslessOperations(same_content=False))) == {listed, read}
    assert set(work.items(operations=LosslessOperations(asked_again=False))) == {repeated, read}
    assert set(work.items(operations=LosslessOperations(out_of_date=False))) == {repeated, listed}


def test_the_mask_says_what_it_freed(counter: TokenCounter):
    work = Work()
    work.read("a.py", "\n".join(LINES))
    work.read("a.py", "\n".join(LINES))
    work.answer("done")
    now = inputs(work.path, counter, ratio=1.5)
    marker = hide_duplicates(now, counter)
    assert marker is not None
    after = appended(work.path, marker)
    freed = counter.count_messages(effective_history(work.path)) - counter.count_messages(effective_history(after))
    assert marker.figures.tokens_before == now.context_tokens
    assert marker.figures.tokens_after == now.context_tokens - round(1.5 * freed)
    assert marker.figures.strategy == "lossless"
    plan = LosslessStrategy().prepare(now, StrategyOptions(counter))
    assert plan.preview.tokens_after == marker.figures.tokens_after


def test_where_nothing_repeats_it_is_refused(counter: TokenCounter):
    work = Work()
    work.read("a.py", "\n".join(LINES))
    with pytest.raises(CondenseRefused, match="No duplicate"):
        LosslessStrategy().prepare(inputs(work.path, counter), StrategyOptions(counter))


line = st.sampled_from([*LINES[:12], "", "}", "  7 | odd", "12:30 on the clock", "\ttab\r", "3→x", "é\u2028y"])
form = st.sampled_from(["{1}", "{0} | {1}", "{0:>6}→{1}", "{0}:{1}", "{0}\t{1}", " {0} | {1}"])
parts = st.lists(st.integers(0, 30), min_size=1, max_size=3)


@st.composite
def contents(draw: st.DrawFn) -> list[str]:
    """Texts that share long stretches, numbered in different ways."""
    pool = draw(st.lists(line, min_size=40, max_size=70))
    texts = []
    for _ in range(draw(st.integers(2, 6))):
        start = draw(st.integers(0, 30))
        chosen = pool[start : start + draw(st.integers(15, 45))]
        if draw(st.booleans()):
            chosen = [*chosen, draw(line), *chosen[:25]]
        texts.append(numbered(chosen, draw(st.sampled_from([1, 7, 98, 995])), draw(form)))
    return texts


@settings(max_examples=150)
@given(contents(), st.lists(st.sampled_from(["result", "input", "typed"]), min_size=6, max_size=6))
def test_whatever_is_masked_can_be_written_again_from_what_is_seen(texts: list[str], kinds: list[str]):
    work = Work()
    for text, kind in zip(texts, kinds, strict=False):
        if kind == "typed":
            work.user(text)
        elif kind == "input":
            work.did(CallFacts("edit", "a.py"), "changed", "apply_diff", diff=text)
        else:
            work.did(CallFacts("command"), text, "execute_command")
    work.answer("done")
    before = effective_history(work.path)
    work.masked()
    after = Rebuilt(effective_history(work.path))
    for message in before:
        for index, block in enumerate(message.blocks):
            if isinstance(block, Text):
                assert after.text((message.entry_id, index, "")) == block.text
            elif isinstance(block, ToolResult):
                assert after.text((message.entry_id, index, "")) == block.content
            elif isinstance(block, ToolUse):
                for name, value in block.input.items():
                    assert after.text((message.entry_id, index, name)) == value


async def test_what_is_out_of_date_comes_back_by_one_recall():
    async def nothing(query: str) -> list[EntryId]:
        return []

    work = Work()
    first = work.read("a.py", "\n".join(LINES[:40]))
    work.read("a.py", "\n".join(reversed(LINES[:40])))
    work.answer("done")
    work.masked()
    found = re.search(r"recall_history e(\d+)", work.shown(first))
    assert found
    wanted = Recall(entries=((int(found[1]), 0),))
    assert "\n".join(LINES[:40]) in await recall_hidden(wanted, work.path, nothing)
