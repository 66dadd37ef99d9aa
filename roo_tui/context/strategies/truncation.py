"""The truncation strategy: hides the oldest content, without a model and in a few milliseconds.

    1. contents of tool results, oldest first
    2. texts and inputs that a later message repeats
    3. whole units (a call with its results), oldest first

It stops once the target is reached. The first message, the summary in force and the last 10 messages stay. Calls and
results keep their ids, names and order, so pairs stay intact.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from roo_tui.context.condense.cut_point import too_few
from roo_tui.context.condense.preview import preview_of_bodies
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies.pieces import (
    SHORTEST,
    Part,
    PieceLocation,
    masks_in_force,
    name_of,
    orphaned,
    strings_of,
    suppressed,
    untouchable,
    without_target,
)
from roo_tui.context.strategies.protocol import StrategyOptions, StrategyPlan
from roo_tui.context.strategies.reduction_math import raw_goal, reduction, tokens_after
from roo_tui.domain.blocks import Text, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CondenseRefused
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Mask, MaskItem, Truncation
from roo_tui.prompt_files import render

KEPT_RECENT = 10


@dataclass
class TruncationStrategy:
    """Hides content by kind and age. A manual run without a target aims at half of the context."""

    id: str = "truncation"
    name: str = "Truncation"
    description: str = "Hides the oldest tool results, then duplicates, then the oldest exchanges. Free and fast."
    enabled: bool = True
    priority: int = 40

    def validate(self, given: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        """Require messages between the first and the last 10."""
        del options
        if len(effective_history(given.path)) > KEPT_RECENT + 1:
            return ()
        few = f"There are not enough messages to truncate: the first and the last {KEPT_RECENT} always stay."
        return (too_few(given.path, few),)

    def prepare(self, given: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        """Return the plan with a mask, a truncation, or both.

        Raises:
            CondenseRefused: nothing is old enough to hide, or nothing would be freed.
        """
        started = time.monotonic()
        target = options.target(given, self.id)
        hiding = _Hiding(given, options, given.context_tokens // 2 if target is None else target)
        hiding.mask_results()
        hiding.mask_duplicates()
        hiding.hide_units()
        return hiding.plan(self.id, started)


class _Hiding:
    """Collects what to hide, and counts the raw tokens that frees."""

    def __init__(self, given: ReductionInput, options: StrategyOptions, target: int) -> None:
        self._given = given
        self._options = options
        self._counter = options.counter
        self._goal = raw_goal(given, target)
        self._visible = effective_history(given.path)
        self._in_force = masks_in_force(given.path)
        self._raw = {entry.id: entry.body for entry in given.path} if self._in_force else {}
        self._fixed = untouchable(given.path, in_turn=options.in_turn)
        summary = max((at for at, message in enumerate(self._visible) if message.source == "summary"), default=0)
        self._first, self._end = summary + 1, len(self._visible) - KEPT_RECENT
        self._masks: dict[PieceLocation, tuple[MaskItem, int]] = {}
        self._hidden: set[EntryId] = set()
        self._freed = 0
        self._placeholder_tokens: dict[int, int] = {}
        self._reason = "Hiding tool results and duplicates alone did not free enough."

    def mask_results(self) -> None:
        """Mask contents of tool results, oldest first."""
        for message in self._old():
            for index, block in enumerate(message.blocks):
                if self._freed >= self._goal:
                    return
                if isinstance(block, ToolResult) and len(seen := result_text(block)) >= SHORTEST:
                    place = PieceLocation(message.entry_id, index, "result")
                    placeholder = suppressed(message.entry_id)
                    gain = self._counter.count_block(block) - self._tokens_of(placeholder)
                    self._mask(place, len(self._unmasked(place, seen)), placeholder, None, gain)

    def mask_duplicates(self) -> None:
        """Mask texts and inputs that a later message repeats."""
        if self._freed >= self._goal:
            return
        old = {message.entry_id for message in self._old()}
        known: dict[str, tuple[EntryId, int, Part, str, bool]] = {}
        for message in reversed(self._visible[self._first :]):
            alone = len(message.blocks) == 1
            for index, part, field, text in _texts(message):
                here = (message.entry_id, index, part, field, alone)
                there = known.setdefault(text, here)
                if there[0] == message.entry_id or message.entry_id not in old or self._freed >= self._goal:
                    continue
                place, newer = PieceLocation(*here[:4]), PieceLocation(*there[:4])
                if self._unmasked(place, text) is text:
                    placeholder = render("strategies/same_content", place=name_of(newer, there[4]))
                    gain = self._counter.count_text(text) - self._counter.count_text(placeholder)
                    self._mask(place, len(text), placeholder, newer.entry_id, gain)

    def hide_units(self) -> None:
        """Hide whole units until the target is reached."""
        if self._freed >= self._goal:
            return
        units = self._units()
        selector = self._options.truncation_selector
        line = self._counter.count_block(Text(render("history/truncated", count=len(self._visible))))
        masked: dict[EntryId, int] = {}
        for place, (_, gain) in self._masks.items():
            masked[place.entry_id] = masked.get(place.entry_id, 0) + gain
        for number in range(len(units)) if selector is None else selector.order(self._given, units):
            if self._hidden and self._freed - line >= self._goal:
                return
            for message in units[number]:
                if message.entry_id not in self._hidden:
                    self._hidden.add(message.entry_id)
                    self._freed += self._counter.count_blocks(message.blocks) - masked.get(message.entry_id, 0)

    def plan(self, strategy: str, started: float) -> StrategyPlan:
        """Return the plan with its markers: a mask, a truncation, or both.

        Raises:
            CondenseRefused: nothing is hidden, or nothing is gained by it.
        """
        given = self._given
        if self._count_hidden() <= self._masked_in_hidden():
            # The line that says how many are hidden would use more tokens than they do.
            self._hidden.clear()
        kept = [(item, gain) for item, gain in self._masks.values() if not {item.entry_id, item.target} & self._hidden]
        items = tuple(item for item, _ in kept)
        items += without_target(orphaned(self._in_force, items))
        hides = tuple(entry.id for entry in given.path if entry.id in self._hidden)
        found: list[tuple[Mask | Truncation, int]] = []
        if items:
            found.append((Mask(items), sum(gain for _, gain in kept)))
        if hides:
            found.append((Truncation(hides, reason=self._reason), self._count_hidden()))
        bodies: list[Body] = []
        before, path, freed = given.context_tokens, given.path, 0
        for marker, gain in found:
            freed += gain
            if self._in_force:
                path = appended(path, marker)
                after = tokens_after(given, path, self._counter)
            else:
                # No earlier mask is affected, so what was counted on the way is exact.
                after = given.after(freed, 0)
            figures = reduction(given, strategy, before, after, duration_s=time.monotonic() - started)
            bodies.append(replace(marker, figures=figures))
            before = after
        if before >= given.context_tokens:
            raise CondenseRefused("There is nothing old enough to truncate.")
        return StrategyPlan(preview_of_bodies(given, strategy, bodies, self._counter), tuple(bodies))

    def _masked_in_hidden(self) -> int:
        """Return the raw tokens that masks alone would free in hidden messages and in those that point to them."""
        return sum(gain for item, gain in self._masks.values() if {item.entry_id, item.target} & self._hidden)

    def _count_hidden(self) -> int:
        hidden = [message for message in self._visible if message.entry_id in self._hidden]
        line = Text(render("history/truncated", count=len(hidden)))
        return self._counter.count_messages(hidden) - self._counter.count_block(line)

    def _old(self) -> Iterator[Visible]:
        for message in self._visible[self._first : max(self._end, 0)]:
            if message.source == "entry" and message.entry_id not in self._fixed:
                yield message

    def _tokens_of(self, placeholder: str) -> int:
        """Return the tokens of a placeholder for suppressed content.

        Placeholders of one length have the same count: they differ only in a number, and up to three of its digits
        make one token.
        """
        if len(placeholder) not in self._placeholder_tokens:
            self._placeholder_tokens[len(placeholder)] = self._counter.count_text(placeholder)
        return self._placeholder_tokens[len(placeholder)]

    def _mask(self, place: PieceLocation, length: int, placeholder: str, target: EntryId | None, gain: int) -> None:
        if gain > 0:
            item = MaskItem(place.entry_id, place.block, place.part, 0, length, placeholder, target, place.field)
            self._masks[place] = (item, gain)
            self._freed += gain

    def _unmasked(self, place: PieceLocation, seen: str) -> str:
        """Return the string in the entry; `seen` itself if no mask changes it."""
        body = self._raw.get(place.entry_id)
        if body is None:
            return seen
        block = getattr(body, "blocks", ())[place.block]
        match block:
            case Text():
                text = block.text
            case ToolResult():
                text = result_text(block)
            case ToolUse():
                text = dict(strings_of(block.input)).get(place.field, seen)
            case _:
                return seen
        return seen if text == seen else text

    def _units(self) -> list[tuple[Visible, ...]]:
        """Return the parts of the old history that can be hidden alone, oldest first, without pins and commands."""
        cuts = [cut for cut in legal_cuts(self._visible) if self._first <= cut <= self._end]
        units = [self._visible[start:end] for start, end in pairwise(cuts)]
        return [unit for unit in units if not any(message.entry_id in self._fixed for message in unit)]


def _texts(message: Visible) -> Iterator[tuple[int, Part, str, str]]:
    """Yield block, part, field and string of the longer texts and inputs of a message."""
    if message.source != "entry":
        return
    for index, block in enumerate(message.blocks):
        if isinstance(block, ToolUse):
            for field, text in strings_of(block.input):
                if len(text) >= SHORTEST:
                    yield index, "input", field, text
        elif isinstance(block, Text) and len(block.text) >= SHORTEST:
            yield index, "text", "", block.text
