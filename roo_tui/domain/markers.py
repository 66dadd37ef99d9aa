"""Markers: entries that hide others and may put something in their place.

A marker carries the ids it hides and shows its replacement right after the last of them (its anchor). It is
switched off and on by appended `Toggle` entries, so undo and redo are facts of the log like everything else.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from roo_tui.domain.blocks import Block
from roo_tui.domain.ids import EntryId
from roo_tui.domain.usage import Usage

Trigger = Literal["automatic", "manual", "forced", "switch", "background"]


@dataclass(frozen=True, slots=True)
class PassMetrics:
    """What one pass of a strategy did; every figure is counted."""

    name: str
    tokens_before: int
    tokens_after: int
    duration_s: float = 0.0
    model_calls: int = 0
    cost_usd: float | None = None
    operations: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reduction:
    """The figures of one change to the context, frozen at its moment.

    Both counts include system prompt and tools: `tokens_after = tokens_before - ratio x (raw(hidden) - raw(shown))`.
    """

    trigger: Trigger = "manual"
    strategy: str = "native"
    shape: Literal["", "fresh", "cached", "staged", "outline"] = ""
    tokens_before: int = 0
    tokens_after: int = 0
    ratio: float = 1.0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    forecast_usd: float | None = None
    duration_s: float = 0.0
    model: str = ""
    remarks: tuple[str, ...] = ()
    passes: tuple[PassMetrics, ...] = ()


@dataclass(frozen=True, slots=True)
class Condense:
    """Older entries are hidden behind a summary, a `user` message.

    `summary` are that message's blocks, the model's answer first. `hides` are entry ids in path order, earlier
    markers that showed something included; the anchor is the last of them. `receipt` lists what the log knows and the
    summary does not say.
    """

    hides: tuple[EntryId, ...]
    summary: tuple[Block, ...]
    figures: Reduction = field(default_factory=Reduction)
    receipt: tuple[str, ...] = ()
    kind: Literal["condense"] = "condense"
    title: ClassVar[str] = "Context condensed"

    @property
    def touches(self) -> tuple[EntryId, ...]:
        """Return the entries that look different to the model: those it hides."""
        return self.hides

    @property
    def hidden_count(self) -> int:
        """Return how many entries it hides."""
        return len(self.hides)


@dataclass(frozen=True, slots=True)
class Truncation:
    """The oldest visible entries after the first are hidden; one line says how many."""

    hides: tuple[EntryId, ...]
    figures: Reduction = field(default_factory=Reduction)
    reason: str = ""
    kind: Literal["truncation"] = "truncation"
    title: ClassVar[str] = "Context truncated"

    @property
    def touches(self) -> tuple[EntryId, ...]:
        """Return the entries that look different to the model: those it hides."""
        return self.hides

    @property
    def hidden_count(self) -> int:
        """Return how many entries it hides."""
        return len(self.hides)


@dataclass(frozen=True, slots=True)
class MaskItem:
    """One stretch of one block is replaced by a one-line placeholder.

    `part` says where: a tool result's text, a string field of a call's input (`field`), or a text block. `start` and
    `end` are offsets in characters of that string. `target` is the entry that has the content; the mask comes off when
    the target is not visible (None: the content is found by recall only).
    """

    entry_id: EntryId
    block: int
    part: Literal["result", "input", "text"]
    start: int
    end: int
    placeholder: str
    target: EntryId | None = None
    field: str = ""


@dataclass(frozen=True, slots=True)
class Mask:
    """Single contents are replaced by placeholders; no message is hidden."""

    items: tuple[MaskItem, ...]
    figures: Reduction = field(default_factory=Reduction)
    kind: Literal["mask"] = "mask"
    title: ClassVar[str] = "Duplicates hidden"

    @property
    def hides(self) -> tuple[EntryId, ...]:
        """Return the entries it hides as a whole: none."""
        return ()

    @property
    def touches(self) -> tuple[EntryId, ...]:
        """Return the entries that look different to the model: those that hold a masked content."""
        return tuple(item.entry_id for item in self.items)

    @property
    def hidden_count(self) -> int:
        """Return how many contents it hides."""
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Toggle:
    """A marker is switched off (undo) or on (redo) from here on."""

    marker_id: EntryId
    on: bool
    kind: Literal["toggle"] = "toggle"


@dataclass(frozen=True, slots=True)
class CondenseFailed:
    """A condense ended without changing anything. What it cost is counted all the same."""

    trigger: Trigger
    message: str
    status: int = 0
    code: str = ""
    body: str = ""
    cancelled: bool = False
    tokens_before: int = 0
    tokens_after: int = 0
    cost_usd: float | None = None
    kind: Literal["condense_failed"] = "condense_failed"


Marker = Condense | Truncation | Mask
"""A reduction of the context: each kind knows its title, its figures, what it hides and what it touches."""

REDUCTIONS: dict[str, type[Marker]] = {"condense": Condense, "truncation": Truncation, "mask": Mask}
"""Every kind of reduction."""
