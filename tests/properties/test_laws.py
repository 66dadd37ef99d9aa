"""The laws of the log, over generated conversations: valid, reversible, order, progress, rewind, save and load.

`ROO_TUI_EXAMPLES` raises the number of generated conversations and makes them random.
"""

import os
from collections.abc import Iterable
from typing import Literal

import pytest
from hypothesis import Phase, assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from roo_tui.context.history.effective import Visible, active_markers, covering, effective_history, hidden_ids
from roo_tui.context.history.log import Log
from roo_tui.context.history.pairing import legal_cuts, open_calls, repair, with_user_blocks
from roo_tui.context.history.undo import newest_switchable, redo_marker, undo_marker
from roo_tui.context.sliding_window import slide_window
from roo_tui.domain.blocks import Block, Image, Text, Thinking, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import (
    AssistantMessage,
    Body,
    CallStarted,
    Checkpoint,
    Noted,
    UserMessage,
)
from roo_tui.domain.errors import CommandRefused
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Marker, Mask, MaskItem, Truncation
from tests.support.api_rules import violations
from tests.support.histories import History, loaded, saved
from tests.support.odd_blocks import MODEL, PROVIDER, answer_blocks, contents, user_blocks, words

pytestmark = pytest.mark.line("A2", "A3", "D34")

EXAMPLES = int(os.environ.get("ROO_TUI_EXAMPLES", "0"))


class CharacterCounter:
    """Counts characters, so that laws about counts need no vocabulary."""

    def count_blocks(self, blocks: Iterable[Block]) -> int:
        return sum(self._count(block) for block in blocks)

    def _count(self, block: Block) -> int:
        match block:
            case Text() | Thinking():
                return len(block.text)
            case ToolResult():
                return len(result_text(block))
            case ToolUse():
                return len(block.name)
            case _:
                return 3


COUNTER = CharacterCounter()


class Conversation(RuleBasedStateMachine):
    """Anything that may happen to a task, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History()
        self.seen: dict[EntryId | None, tuple[Visible, ...]] = {None: ()}
        self.heads: list[EntryId | None] = []

    @property
    def visible(self) -> tuple[Visible, ...]:
        return effective_history(self.history.path)

    def remember(self) -> None:
        """Keep what the model sees at this head, to compare when the head comes back."""
        self.seen[self.history.log.head] = self.visible

    def add(self, body: Body) -> EntryId:
        entry_id = self.history.add(body)
        self.remember()
        return entry_id

    @rule(blocks=user_blocks)
    def user_speaks(self, blocks: tuple[Block, ...]) -> None:
        self.add(UserMessage(blocks))

    @rule(blocks=answer_blocks)
    def model_answers(self, blocks: tuple[Block, ...]) -> None:
        self.add(AssistantMessage(blocks, provider=PROVIDER, model=MODEL))

    @rule(content=contents, is_error=st.booleans(), together=st.booleans())
    def all_calls_are_answered(self, content: str | tuple[Text | Image, ...], is_error: bool, together: bool) -> None:
        answers = tuple(ToolResult(call.id, content, is_error) for call in open_calls(self.history.path))
        for blocks in [answers] if together else [(answer,) for answer in answers]:
            self.add(UserMessage(blocks, source="tools"))
        assert open_calls(self.history.path) == []

    @rule(data=st.data())
    def some_calls_are_lost(self, data: st.DataObject) -> None:
        for call in open_calls(self.history.path):
            if data.draw(st.booleans()):
                self.add(CallStarted(call.id))
            else:
                self.add(UserMessage((ToolResult(call.id, "fine"),), source="tools"))

    @rule(body=st.sampled_from([Checkpoint("aa", "bb"), Noted("info", "a remark")]))
    def something_is_noted(self, body: Body) -> None:
        before = self.visible
        self.add(body)
        assert self.visible == before

    @rule(data=st.data(), summary=words)
    def condense(self, data: st.DataObject, summary: str) -> None:
        cuts = [cut for cut in legal_cuts(self.visible) if cut > 0]
        assume(cuts)
        cut = data.draw(st.sampled_from([cuts[-1], *cuts]))
        hides = tuple(message.entry_id for message in self.visible[:cut])
        self.do_and_undo(Condense(hides, (Text(summary),)))

    @rule()
    def truncate(self) -> None:
        marker = slide_window(self.history.path, COUNTER, tokens_before=1000)
        assume(marker)
        assert isinstance(marker, Truncation)
        before = self.visible
        assert before[0].entry_id not in marker.hides
        assert not any(message.source == "summary" for message in before if message.entry_id in marker.hides)
        self.do_and_undo(marker)

    @rule(data=st.data())
    def mask(self, data: st.DataObject) -> None:
        places: list[tuple[EntryId, int, Literal["result", "text"]]] = [
            (message.entry_id, index, "result" if isinstance(block, ToolResult) else "text")
            for message in self.visible
            if message.source == "entry"
            for index, block in enumerate(message.blocks)
            if isinstance(block, Text | ToolResult)
        ]
        assume(places)
        entry_id, index, part = data.draw(st.sampled_from(places))
        target = data.draw(st.sampled_from([None, *(message.entry_id for message in self.visible)]))
        start = data.draw(st.integers(0, 5))
        end = start + data.draw(st.integers(1, 300))
        self.do_and_undo(Mask((MaskItem(entry_id, index, part, start, end, "[cut]", target),)), frees=False)

    def do_and_undo(self, marker: Condense | Truncation | Mask, *, frees: bool = True) -> None:
        """Apply a marker, go on, undo it, redo it: what the model sees returns byte for byte each time."""
        before = self.visible
        marker_id = self.add(marker)
        changed = self.visible
        if isinstance(marker, Truncation) and frees:
            assert count(changed) < count(before)
        if isinstance(marker, Condense | Truncation):
            hidden = set(marker.hides)
            assert [message for message in changed if message.entry_id != marker_id] == [
                message for message in before if message.entry_id not in hidden
            ] or mask_came_off(self.history, hidden)
        later_id = self.add(UserMessage((Text("and then?"),), words="and then?"))
        later = (Visible(later_id, "user", (Text("and then?"),)),)
        assert self.visible == changed + later
        self.add(undo_marker(self.history.path, marker_id))
        assert self.visible == before + later
        self.add(redo_marker(self.history.path, marker_id))
        assert self.visible == changed + later

    @rule(data=st.data())
    def a_foreign_marker_hides_anything(self, data: st.DataObject) -> None:
        ids = [message.entry_id for message in self.visible]
        assume(ids)
        hides = tuple(sorted(data.draw(st.sets(st.sampled_from(ids), min_size=1))))
        markers: list[Marker] = [Condense(hides, (Text("imported"),)), Truncation(hides), Condense(hides, ())]
        self.add(data.draw(st.sampled_from(markers)))

    @rule(data=st.data(), on=st.booleans())
    def a_marker_is_switched(self, data: st.DataObject, on: bool) -> None:
        path = self.history.path
        markers = [entry.id for entry in path if isinstance(entry.body, Condense | Truncation | Mask)]
        assume(markers)
        marker_id = data.draw(st.sampled_from(markers))
        covered = covering(path, marker_id)
        assert covered is None or (covered in active_markers(path) and covered > marker_id)
        try:
            toggle = (redo_marker if on else undo_marker)(path, marker_id)
        except CommandRefused:
            assert covered is not None or (marker_id in active_markers(path)) == on
            return
        assert covered is None
        before = self.visible
        self.add(toggle)
        assert (marker_id in active_markers(self.history.path)) == on
        self.add((undo_marker if on else redo_marker)(self.history.path, marker_id))
        assert self.visible == before

    @rule(on=st.booleans())
    def the_newest_marker_is_switched(self, on: bool) -> None:
        marker_id = newest_switchable(self.history.path, on=on)
        assume(marker_id is not None)
        self.add((redo_marker if on else undo_marker)(self.history.path))
        assert (marker_id in active_markers(self.history.path)) == on

    @precondition(lambda self: self.history.path)
    @rule(data=st.data())
    def rewind(self, data: st.DataObject) -> None:
        self.heads.append(self.history.log.head)
        head = data.draw(st.sampled_from([None, *(entry.id for entry in self.history.path)]))
        self.history.log.move(head)
        assert self.visible == self.seen[head]

    @precondition(lambda self: self.heads)
    @rule()
    def undo_the_rewind(self) -> None:
        head = self.heads.pop()
        self.history.log.move(head)
        assert self.visible == self.seen[head]

    @rule()
    def the_program_is_restarted(self) -> None:
        entries = loaded(saved(self.history.log.entries))
        assert tuple(entries) == self.history.log.entries
        before, head = self.visible, self.history.log.head
        self.history.log = Log(entries, head)
        assert self.visible == before

    @invariant()
    def law_valid(self) -> None:
        request = repair(self.visible, provider=PROVIDER, model=MODEL)
        if not request or request[-1].role == "assistant":
            request = with_user_blocks(request, (Text("Continue."),))
        assert violations(request, provider=PROVIDER, model=MODEL) == []

    @invariant()
    def law_order(self) -> None:
        position = {entry.id: index for index, entry in enumerate(self.history.path)}
        places = [
            position[message.entry_id] if message.source == "entry" else self.anchor(message.entry_id, position)
            for message in self.visible
        ]
        assert places == sorted(places)
        assert hidden_ids(self.history.path).isdisjoint(message.entry_id for message in self.visible)

    def anchor(self, entry_id: EntryId, position: dict[EntryId, int]) -> int:
        """Return the place of the last message a marker stands for, counted through the markers it hides."""
        marker = active_markers(self.history.path).get(entry_id)
        if marker is None or isinstance(marker, Mask):
            return position[entry_id]
        return max(self.anchor(hidden, position) for hidden in marker.hides)


def count(visible: Iterable[Visible]) -> int:
    return sum(COUNTER.count_blocks(message.blocks) for message in visible)


def mask_came_off(history: History, hidden: set[EntryId]) -> bool:
    """Say whether a mask's target was hidden, so that the masked content is shown again."""
    return any(
        item.target in hidden
        for marker in active_markers(history.path).values()
        if isinstance(marker, Mask)
        for item in marker.items
    )


Conversation.TestCase.settings = settings(
    max_examples=EXAMPLES or 100,
    stateful_step_count=25,
    deadline=None,
    phases=(Phase.generate, Phase.shrink) if EXAMPLES else (Phase.generate,),
    database=None,
    derandomize=EXAMPLES == 0,
)
TestConversation = Conversation.TestCase
