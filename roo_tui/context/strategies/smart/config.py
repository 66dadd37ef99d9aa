"""The configuration of the smart strategy: its passes, what each does to which content, and when it runs.

Fields are in camelCase or snake_case: `{"passes": [{"id": "old-results", "mode": "individual", …}]}`. Everything is
validated before use, and an error names the field.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from roo_tui.domain.errors import SettingsError

_OPERATIONS = frozenset({"keep", "suppress", "truncate", "summarize"})
_MOST_PASSES = 20


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, strict=True)


class TruncateParams(_Part):
    """How much of a content stays: whole lines, then characters. At least one limit must be set."""

    max_chars: int | None = Field(default=None, ge=0)
    max_lines: int | None = Field(default=None, ge=0)
    add_ellipsis: bool = True

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if self.max_chars is None and self.max_lines is None:
            raise ValueError("set maxChars or maxLines")
        return self


class SummarizeParams(_Part):
    """How to ask for a summary. `api_profile` names the profile whose model writes it, blank for the usual one."""

    api_profile: str = ""
    max_tokens: int | None = Field(default=None, ge=16, le=32_000)
    custom_prompt: str = ""


class KeepOperation(_Part):
    """Keeps the content."""

    operation: Literal["keep"] = "keep"


class SuppressOperation(_Part):
    """Replaces the content with a placeholder."""

    operation: Literal["suppress"] = "suppress"


class TruncateOperation(_Part):
    """Keeps the beginning of the content."""

    operation: Literal["truncate"] = "truncate"
    params: TruncateParams


class SummarizeOperation(_Part):
    """Replaces the content with a model's summary."""

    operation: Literal["summarize"] = "summarize"
    params: SummarizeParams = SummarizeParams()


Operation = Annotated[
    KeepOperation | SuppressOperation | TruncateOperation | SummarizeOperation, Field(discriminator="operation")
]


class PieceOperations(_Part):
    """One operation for each type of content."""

    message_text: Operation = KeepOperation()
    tool_parameters: Operation = KeepOperation()
    tool_results: Operation = KeepOperation()


class SomeOperations(_Part):
    """Operations that override the defaults for one message; None keeps the default."""

    message_text: Operation | None = None
    tool_parameters: Operation | None = None
    tool_results: Operation | None = None


class Sizes(_Part):
    """The smallest size, in tokens, at which a content of each type is processed; None processes every size."""

    message_text: int | None = Field(default=None, ge=0)
    tool_parameters: int | None = Field(default=None, ge=0)
    tool_results: int | None = Field(default=None, ge=0)


class Override(_Part):
    """Other operations for one message. `message_index` counts the pass's selected messages from 0."""

    message_index: int = Field(ge=0)
    operations: SomeOperations
    message_token_thresholds: Sizes | None = None


class Individual(_Part):
    """The individual mode: each content is processed by itself."""

    defaults: PieceOperations
    message_token_thresholds: Sizes = Sizes()
    overrides: tuple[Override, ...] = ()

    @model_validator(mode="after")
    def _one_override_a_message(self) -> Self:
        indices = [override.message_index for override in self.overrides]
        if len(set(indices)) < len(indices):
            raise ValueError("overrides name the same messageIndex twice")
        return self


class BatchSummary(_Part):
    """How many of the selected messages stay at each end, and how to summarise the rest."""

    api_profile: str = ""
    custom_prompt: str = ""
    max_tokens: int | None = Field(default=None, ge=16, le=32_000)
    keep_first: int = Field(default=1, ge=0)
    keep_last: int = Field(default=0, ge=0)


class Batch(_Part):
    """The batch mode: all selected messages are processed together."""

    operation: Literal["keep", "summarize"]
    summarization_config: BatchSummary = BatchSummary()


class Selection(_Part):
    """Which messages a pass leaves alone: the last `keep_recent_count`, or the last `keep_percentage` percent."""

    type: Literal["preserve_recent", "preserve_percent"] = "preserve_recent"
    keep_recent_count: int = Field(default=10, ge=0)
    keep_percentage: float = Field(default=30, ge=0, le=100, strict=False)


class Condition(_Part):
    """The condition of a pass: more context tokens than `token_threshold`, or less freed than `reduction_percentage`.

    The percentage is relative to the context tokens at the start (`initial`) or to the trigger (`trigger`).
    """

    token_threshold: int | None = Field(default=None, ge=0)
    reduction_percentage: float | None = Field(default=None, ge=0, le=100, strict=False)
    reduction_relative_to: Literal["initial", "trigger"] = "initial"

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.token_threshold is None and self.reduction_percentage is None:
            raise ValueError("set tokenThreshold or reductionPercentage")
        return self


class Execution(_Part):
    """When a pass runs."""

    type: Literal["always", "conditional"] = "always"
    condition: Condition | None = None

    @model_validator(mode="after")
    def _condition_fits(self) -> Self:
        if self.type == "conditional" and self.condition is None:
            raise ValueError("a conditional pass needs a condition")
        if self.type == "always" and self.condition is not None:
            raise ValueError("a pass that always runs must not have a condition")
        return self


class PassThresholds(_Part):
    """Thresholds of a pass in context tokens; 0 means not set.

    `trigger_tokens`: the pass runs from this count on. `stop_tokens`: it stops at this count. `min_gain_tokens`: a pass
    that frees less is undone.
    """

    trigger_tokens: int = Field(default=0, ge=0)
    stop_tokens: int = Field(default=0, ge=0)
    min_gain_tokens: int = Field(default=0, ge=0)


class Pass(_Part):
    """One step of the strategy."""

    id: str = Field(min_length=1, max_length=100)
    name: str = ""
    description: str = ""
    selection: Selection = Selection()
    mode: Literal["individual", "batch"]
    individual_config: Individual | None = None
    batch_config: Batch | None = None
    execution: Execution = Execution()
    thresholds: PassThresholds = PassThresholds()

    @model_validator(mode="after")
    def _mode_is_configured(self) -> Self:
        if self.mode == "individual" and self.individual_config is None:
            raise ValueError("mode individual needs an individualConfig")
        if self.mode == "batch" and self.batch_config is None:
            raise ValueError("mode batch needs a batchConfig")
        return self


class PreludeOperations(_Part):
    """Which of the lossless strategy's three operations the prelude uses."""

    deduplicate_file_reads: bool = True
    consolidate_tool_results: bool = True
    remove_obsolete_state: bool = True


class Prelude(_Part):
    """Whether the lossless strategy runs first, and which of its operations."""

    enabled: bool = True
    operations: PreludeOperations = PreludeOperations()


class SmartConfig(_Part):
    """A configuration: the lossless prelude, then the passes in order."""

    lossless_prelude: Prelude = Prelude()
    passes: tuple[Pass, ...] = Field(max_length=_MOST_PASSES)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [step.id for step in self.passes]
        if repeated := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"passes share the id {', '.join(repeated)}")
        return self


def parse(text: str) -> SmartConfig:
    """Return the configuration in a JSON text.

    Raises:
        SettingsError: the text is not JSON, or a field is not valid; the message names each such field.
    """
    try:
        json.loads(text)  # its errors name line and column
        return SmartConfig.model_validate_json(text)
    except ValidationError as error:
        problems = [f"{_field(problem['loc'])}: {_sentence(problem)}" for problem in error.errors()]
        raise SettingsError("; ".join(problems)) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"it is not JSON: {error}") from error


def _field(location: Sequence[int | str]) -> str:
    """Return a field's full name: `passes[0].individualConfig.defaults.toolResults.params.maxLines`."""
    name = ""
    for step in location:
        if isinstance(step, int):
            name += f"[{step}]"
        elif step not in _OPERATIONS:
            name += f".{step}" if name else str(step)
    return name or "the configuration"


def _sentence(problem: ErrorDetails) -> str:
    if problem["type"] == "extra_forbidden":
        return "there is no such field"
    given = problem.get("input")
    message = str(problem["msg"]).removeprefix("Value error, ")
    shown = json.dumps(given, default=str) if isinstance(given, str | int | float | bool) or given is None else ""
    return f"{message} (it is {shown})" if shown and problem["type"] != "missing" else message


@dataclass(frozen=True, slots=True)
class Progress:
    """The context tokens at the start, now, and at which a reduction is due."""

    initial: int
    now: int
    trigger: int


def runs(step: Pass, progress: Progress) -> bool:
    """Return whether a pass runs now, by its trigger and its condition."""
    if step.thresholds.trigger_tokens and progress.now < step.thresholds.trigger_tokens:
        return False
    condition = step.execution.condition
    if condition is None:
        return True
    if condition.token_threshold is not None:
        return progress.now > condition.token_threshold
    base = progress.trigger if condition.reduction_relative_to == "trigger" else progress.initial
    freed_percent = 100 * (progress.initial - progress.now) / base if base else 0.0
    return condition.reduction_percentage is not None and freed_percent < condition.reduction_percentage


def selected(selection: Selection, messages: int) -> int:
    """Return how many of the oldest `messages` a pass may touch."""
    if selection.type == "preserve_recent":
        kept = selection.keep_recent_count
    else:
        kept = int(messages * selection.keep_percentage / 100)
    return max(0, messages - kept)
