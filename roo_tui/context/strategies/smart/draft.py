"""The draft history of the smart strategy: what its passes masked and summarised so far, and what is left."""

from collections.abc import Sequence
from dataclasses import replace

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies.pieces import masks_in_force, orphaned, place_of, untouchable, without_target
from roo_tui.context.strategies.protocol import StrategyOptions
from roo_tui.context.strategies.reduction_math import reduction, tokens_after
from roo_tui.domain.entries import Body, Entry
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Mask, MaskItem


class DraftHistory:
    """A path that starts as the given one and grows by each pass. Each step can be undone; the log never changes."""

    def __init__(self, given: ReductionInput, options: StrategyOptions) -> None:
        self.given = given
        self.options = options
        self.counter = options.counter
        self.fixed = untouchable(given.path, in_turn=options.in_turn)
        self.in_force = masks_in_force(given.path)
        self.items: tuple[MaskItem, ...] = ()
        self.condenses: tuple[Condense, ...] = ()
        self.path: tuple[Entry, ...] = given.path
        self.tokens = given.context_tokens

    def masked(self) -> tuple[MaskItem, ...]:
        """Return the items in force: those of the path, then those of this run."""
        return (*self.in_force, *self.items)

    def state(self) -> tuple[tuple[MaskItem, ...], tuple[Condense, ...]]:
        """Return the present state, for `restore`."""
        return self.items, self.condenses

    def restore(self, state: tuple[tuple[MaskItem, ...], tuple[Condense, ...]]) -> None:
        """Undo everything since `state` was called."""
        self.items, self.condenses = state
        self._refresh()

    def mask(self, items: Sequence[MaskItem]) -> None:
        """Add items; drop existing ones within them, and the target of those that point to what is now masked."""
        if not items:
            return
        outer = {place_of(item): item for item in items}

        def is_inside(item: MaskItem) -> bool:
            """Return whether a new item includes this one."""
            new = outer.get(place_of(item))
            return new is not None and new.start <= item.start and item.end <= new.end

        kept = [item for item in self.items if not is_inside(item)]
        foreign = [item for item in self.in_force if not is_inside(item)]
        lost = orphaned([*foreign, *kept], items)
        gone = {id(item) for item in lost}
        self.items = (*(item for item in kept if id(item) not in gone), *without_target(lost), *items)
        self._refresh()

    def condense(self, condense: Condense) -> None:
        """Add a condense. It absorbs any condense of this run that it hides, whose id is only provisional."""
        provisional = {entry.id: entry.body for entry in self.path[len(self.given.path) :]}
        hides: list[EntryId] = []
        swallowed: list[Condense] = []
        for entry_id in condense.hides:
            body = provisional.get(entry_id)
            if isinstance(body, Condense):
                hides.extend(body.hides)
                swallowed.append(body)
            else:
                hides.append(entry_id)
        order = {entry.id: at for at, entry in enumerate(self.path)}
        whole = replace(condense, hides=tuple(sorted(hides, key=order.__getitem__)))
        self.condenses = (*(known for known in self.condenses if known not in swallowed), whole)
        self._refresh()

    def bodies(self, strategy: str) -> tuple[Body, ...]:
        """Return the markers with their figures: a mask of what is still visible, then the condenses."""
        visible = {message.entry_id for message in effective_history(self.path)}
        items = tuple(item for item in self.items if item.entry_id in visible)
        markers: list[Mask | Condense] = [Mask(items)] if items else []
        markers += self.condenses
        found: list[Body] = []
        before, path = self.given.context_tokens, self.given.path
        for marker in markers:
            path = appended(path, marker)
            after = tokens_after(self.given, path, self.counter)
            found.append(replace(marker, figures=reduction(self.given, strategy, before, after)))
            before = after
        return tuple(found)

    def _refresh(self) -> None:
        mask = (Mask(self.items),) if self.items else ()
        self.path = appended(self.given.path, *mask, *self.condenses) if mask or self.condenses else (self.given.path)
        self.tokens = tokens_after(self.given, self.path, self.counter)
