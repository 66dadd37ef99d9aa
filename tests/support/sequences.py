"""What may happen to a task, as values: operations, lists of them, and the settings a sequence runs under.

Operations name entries by a number that is taken modulo what there is, so that any list of them can be played and
Hypothesis can shrink it. `played.py` plays them on an engine.
"""

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from roo_tui.domain.blocks import Block, Text, ToolResult, ToolUse
from roo_tui.domain.requests import ModelInfo
from tests.support.odd_blocks import MODEL, OTHER_MODEL, PROVIDER, answer_blocks, contents, user_blocks

Size = Literal["blank", "small", "medium", "large", "giant"]
Fault = Literal[
    "", "500", "timeout", "empty", "tool call", "longer", "no summary", "cut", "refusal", "too long", "cancel"
]
Strategy = Literal["", "native", "lossless", "truncation", "smart"]
Preset = Literal["", "conservative", "balanced", "aggressive"]
FAULTS: tuple[Fault, ...] = (
    "500",
    "timeout",
    "empty",
    "tool call",
    "longer",
    "no summary",
    "cut",
    "refusal",
    "too long",
    "cancel",
)


@dataclass(frozen=True, slots=True)
class Said:
    """A part of an answer: words of a size, reasoning, or a call of a tool.

    `what` is `text`, `signed` or `unsigned` or `redacted` reasoning, or the name of a call in `partner.CALLS`. `odd`
    gives a call an id that is used already or not plain.
    """

    what: str
    size: Size = "small"
    odd: bool = False


Answer = tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """The user sends a message; the model answers with `answers`, one for each request, then with plain text.

    `fault` is what the summarising model does if it is asked meanwhile, `too_long` how many requests the provider
    refuses as too long, `queued` whether a second message is typed while the first is worked on, `condense` whether a
    condense is asked for while the turn runs.
    """

    size: Size = "small"
    answers: tuple[Answer, ...] = ()
    fault: Fault = ""
    too_long: int = 0
    queued: bool = False
    condense: bool = False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A turn that is cancelled: while the model writes after `said`, or while a question of its waits."""

    said: Answer = ()
    at: Literal["words", "question", "request"] = "words"


@dataclass(frozen=True, slots=True)
class CondenseNow:
    """A condense by hand; `fault` is what the summarising model does. Blank means the settings' strategy and preset."""

    fault: Fault = ""
    instructions: str = ""
    strategy: Strategy = ""
    preset: Preset = ""


@dataclass(frozen=True, slots=True)
class MaskNow:
    """The lossless strategy masks what it can."""


@dataclass(frozen=True, slots=True)
class TruncateNow:
    """Hide the oldest half by hand."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back a marker, or (None) whatever was last done: a marker or a rewind."""

    which: int | None = None


@dataclass(frozen=True, slots=True)
class Redo:
    """Bring back a marker, or (None) whatever was last undone."""

    which: int | None = None


@dataclass(frozen=True, slots=True)
class Rewind:
    """Go back to a point; `back` counts from the newest."""

    back: int = 0


@dataclass(frozen=True, slots=True)
class Pin:
    """Pin a message, or take the pin off."""

    which: int = 0
    on: bool = True


@dataclass(frozen=True, slots=True)
class SaveAndLoad:
    """Open the task again; `restart` in a program that has forgotten everything else."""

    restart: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """Messages that another program wrote into the log, then opened here; `long` adds so many large turns."""

    long: int = 0
    messages: tuple[tuple[Literal["user", "assistant"], tuple[Block, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignMarker:
    """A marker of another program that hides any visible messages (numbers, modulo)."""

    kind: Literal["condense", "empty condense", "truncation"]
    hides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SwitchModel:
    """The other model answers from now on."""


Plain = (
    Turn
    | Cancelled
    | CondenseNow
    | MaskNow
    | TruncateNow
    | Undo
    | Redo
    | Rewind
    | Pin
    | SaveAndLoad
    | Imported
    | ForeignMarker
    | SwitchModel
)


@dataclass(frozen=True, slots=True)
class Crash:
    """The program dies during an operation, at a commit: just before it, or just after it was made (`late`)."""

    during: Plain
    commits: int = 0
    late: bool = False


Operation = Plain | Crash


@dataclass(frozen=True, slots=True)
class Setting:
    """What a sequence runs under. `window` is in tokens above what system prompt and tools take; `factor` is how many
    of the model's tokens one of ours makes, which the program does not know at first."""

    window: int = 20_000
    percent: int = 100
    factor: float = 1.0
    auto_condense: bool = True
    strategy: Strategy = "native"
    smart_preset: Preset = "balanced"
    lossless_first: bool = True
    fallback: Literal["outline", "truncation", "error"] = "truncation"
    keep_newest_turns: int = 0
    append_receipt: bool = False
    background_condense: bool = False
    cache: bool = False

    def model(self, window: int, *, other: bool = False) -> ModelInfo:
        """Return what is known of a model with this window."""
        return ModelInfo(
            OTHER_MODEL if other else MODEL,
            PROVIDER,
            window=window,
            max_output=1_000,
            input_usd=1.0,
            output_usd=5.0,
            cache_write_usd=1.25 if self.cache else None,
            cache_read_usd=0.1 if self.cache else None,
            token_factor=1.0,
        )


_sizes: st.SearchStrategy[Size] = st.sampled_from(["small", "small", "medium", "medium", "large", "large", "blank"])
_texts = st.builds(Said, st.just("text"), _sizes)
_reasoning = st.builds(Said, st.sampled_from(["signed", "unsigned", "redacted"]))
_called = st.builds(
    Said,
    st.sampled_from(
        ["read small", "read large", "read large", "picture", "missing", "unknown", "todo", "write", "odd"]
    ),
    odd=st.sampled_from([False, False, False, True]),
)
_answers = st.lists(_texts | _reasoning | _called | _called, max_size=4).map(tuple)
_faults: st.SearchStrategy[Fault] = st.sampled_from(["", "", *FAULTS])
_numbers = st.integers(0, 40)
_newest_or_any = st.none() | _numbers

_sizes_of_words: st.SearchStrategy[Size] = st.sampled_from(
    ["small", "small", "medium", "medium", "large", "large", "large", "giant"]
)
_rarely = st.sampled_from([False, False, False, True])
_talk = st.builds(Turn, _sizes_of_words, st.lists(_answers, max_size=2).map(tuple), queued=_rarely)
_work = st.builds(
    Turn,
    _sizes_of_words,
    st.lists(st.lists(_called, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple),
)
_stress = st.builds(
    Turn,
    st.just("large"),
    st.lists(_answers, min_size=1, max_size=4).map(tuple),
    _faults,
    st.sampled_from([0, 0, 1, 2]),
    condense=_rarely,
)
_presets: st.SearchStrategy[Preset] = st.sampled_from(["conservative", "balanced", "aggressive"])
_by_strategy = st.builds(
    CondenseNow, _faults, strategy=st.sampled_from(["native", "truncation", "smart", "smart"]), preset=_presets
)
_imported = st.builds(
    Imported,
    st.sampled_from([0, 0, 0, 4, 25]),
    st.lists(
        st.tuples(st.just("user"), user_blocks) | st.tuples(st.just("assistant"), answer_blocks), min_size=1, max_size=5
    ).map(tuple),
)
# Some services give results other ids than their calls; pictures in errors and results without words come so too.
_answered = st.builds(
    lambda calls, prefix, content, is_error: Imported(
        messages=(
            ("assistant", tuple(ToolUse(f"asked_{number}", "read_file") for number in range(calls))),
            ("user", tuple(ToolResult(f"{prefix}_{number}", content, is_error) for number in range(calls))),
            ("assistant", (Text("I see."),)),
        )
    ),
    st.integers(1, 3),
    st.sampled_from(["asked", "answered"]),
    contents,
    st.booleans(),
)
_plain: st.SearchStrategy[Plain] = st.one_of(
    _talk,
    _work,
    _stress,
    st.builds(Cancelled, _answers, st.sampled_from(["words", "question", "request"])),
    st.builds(CondenseNow, _faults, st.sampled_from(["", "Keep the names."])),
    _by_strategy,
    st.builds(MaskNow),
    st.builds(TruncateNow),
    st.builds(Undo, _newest_or_any),
    st.builds(Redo, _newest_or_any),
    st.builds(Rewind, _numbers),
    st.builds(Pin, _numbers, st.booleans()),
    st.builds(SaveAndLoad, st.booleans()),
    _imported,
    st.builds(
        ForeignMarker,
        st.sampled_from(["condense", "empty condense", "truncation"]),
        st.lists(_numbers, min_size=1, max_size=4).map(tuple),
    ),
    st.builds(SwitchModel),
)
_crashes = st.builds(Crash, _plain, st.integers(0, 12), st.booleans())
_turns = st.one_of(_talk, _work, _stress)
_reads = Turn("small", ((Said("read large"), Said("read small")), (Said("read large"), Said("text", "medium"))))
_reductions = st.one_of(st.builds(CondenseNow), _by_strategy, st.just(MaskNow()), st.just(TruncateNow()))


def _one(operations: st.SearchStrategy[Operation]) -> st.SearchStrategy[tuple[Operation, ...]]:
    return operations.map(lambda operation: (operation,))


# What belongs together rarely comes together by chance: most undos would find nothing to undo. Half of all are turns.
_phrases: tuple[st.SearchStrategy[tuple[Operation, ...]], ...] = (
    _one(_turns),
    _one(_turns),
    _one(_turns),
    _one(_plain),
    _one(_plain),
    _one(_crashes),
    _one(_imported),
    _one(_answered),
    st.tuples(_turns, _reductions, st.just(Undo()), st.just(Redo())),
    st.tuples(_reductions, st.builds(Undo, _newest_or_any), _turns, st.builds(Redo, _newest_or_any)),
    st.tuples(_turns, st.builds(Rewind, _numbers), st.just(Undo()), st.just(Redo())),
    st.just((_reads, _reads, MaskNow())),
)
sequences: st.SearchStrategy[list[Operation]] = st.lists(
    st.integers(0, len(_phrases) - 1).flatmap(lambda number: _phrases[number]), min_size=1, max_size=6
).map(lambda phrases: [operation for phrase in phrases for operation in phrase])
settings = st.builds(
    Setting,
    window=st.sampled_from([4_000, 8_000, 16_000, 60_000]),
    percent=st.sampled_from([100, 100, 90, 60, 30]),
    factor=st.sampled_from([1.0, 1.0, 0.8, 1.5]),
    auto_condense=st.sampled_from([True, True, True, False]),
    strategy=st.sampled_from(["native", "native", "smart", "smart", "lossless", "truncation"]),
    smart_preset=_presets,
    lossless_first=st.booleans(),
    fallback=st.sampled_from(["truncation", "outline", "error"]),
    keep_newest_turns=st.sampled_from([0, 0, 1, 3]),
    append_receipt=st.booleans(),
    background_condense=st.sampled_from([False, False, True]),
    cache=st.booleans(),
)
