"""When a pass runs, and which messages it may touch."""

from dataclasses import dataclass

from roo_tui.context.strategies.smart.config import Pass, Selection


@dataclass(frozen=True, slots=True)
class Progress:
    """Context tokens: at the start, now, and those at which a reduction is due."""

    initial: int
    now: int
    trigger: int


def runs(step: Pass, progress: Progress) -> bool:
    """Say whether a pass runs now.

    A token threshold wants more tokens than it says; a reduction percentage wants less freed so far than it says.
    """
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
    """Return how many of the oldest messages a pass may touch; the last ones stay."""
    if selection.type == "preserve_recent":
        kept = selection.keep_recent_count
    else:
        kept = int(messages * selection.keep_percentage / 100)
    return max(0, messages - kept)
