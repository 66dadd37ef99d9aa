"""Markers: entries that hide other entries and may show a replacement.

A marker names the entries it hides and shows its replacement right after the last of them (its anchor). Appended
`Toggle` entries switch it off and on, so undo and redo are in the log like everything else.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from roo_tui.domain.blocks import Block
from roo_tui.domain.ids import EntryId
from roo_tui.domain.usage import Usage

Trigger = Literal["automatic", "manual", "forced", "switch", "background"]


@dataclass(frozen=True, slots=True)
class PassMetrics:
    """What one pass of a strategy did. Every figure is measured."""

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
    """The figures of one reduction, as of when it was made.

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
    """Hides older entries behind a summary, which is a `user` message.

    `summary` holds that message's blocks, the model's answer first. `hides` lists entry ids in path order, including
    earlier markers that showed something; the last one is the anchor. `receipt` lists facts of the log that the summary
    does not mention.
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
    """Hides the oldest visible entries after the first and shows one line that says how many."""

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
    """Replaces one stretch of one block with a one-line placeholder.

    `part` names the string: a tool result's text, a string in a call's input (`field`), or a text block. `start` and
    `end` are character offsets in that string; an image in a result counts as `[Image]`. `block` is a whole block that
    has no such string; its offsets mean nothing. `target` is the entry that has the content; the mask has no effect
    while the target is not visible. None means that only recall finds the content.
    """

    entry_id: EntryId
    block: int
    part: Literal["result", "input", "text", "block"]
    start: int
    end: int
    placeholder: str
    target: EntryId | None = None
    field: str = ""


@dataclass(frozen=True, slots=True)
class Mask:
    """Replaces single contents with placeholders and hides no message.

    `refused` says that it hides what the provider did not accept; `reason` is then what the provider said.
    """

    items: tuple[MaskItem, ...]
    figures: Reduction = field(default_factory=Reduction)
    refused: Literal["", "pictures", "content"] = ""
    reason: str = ""
    kind: Literal["mask"] = "mask"
    title: ClassVar[str] = "Duplicates hidden"

    @property
    def heading(self) -> str:
        """Return the title of this mask, by what it hides."""
        match self.refused:
            case "pictures":
                return "Pictures hidden"
            case "content":
                return "Refused content hidden"
            case _:
                return self.title

    @property
    def hides(self) -> tuple[EntryId, ...]:
        """Return an empty tuple: a mask hides no entry as a whole."""
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
    """Switches a marker off (undo) or on (redo) from this entry on."""

    marker_id: EntryId
    on: bool
    kind: Literal["toggle"] = "toggle"


@dataclass(frozen=True, slots=True)
class CondenseFailed:
    """A condense that failed and changed nothing. `cost_usd` still counts, None if unknown."""

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
