"""Rows of the transcript: one module a kind. `sketch_of` turns a row's values into a sketch the transcript can draw."""

from dataclasses import dataclass
from typing import assert_never

from roo_tui.domain.views import (
    AnswerRow,
    CheckpointRow,
    CommandView,
    DiffView,
    FailureRow,
    ReductionRow,
    RowBody,
    ThinkingRow,
    ToolRow,
    UserRow,
)
from roo_tui.tui.widgets.rows.messages import answer_sketch, thinking_sketch, user_sketch
from roo_tui.tui.widgets.rows.notes import checkpoint_sketch, failure_sketch
from roo_tui.tui.widgets.rows.reduction import reduction_sketch, reduction_text
from roo_tui.tui.widgets.rows.row_view import Hint, RowView, Title
from roo_tui.tui.widgets.rows.tool import tool_sketch, tool_text
from roo_tui.tui.widgets.views.canvas import estimate_lines

__all__ = [
    "FoldedRow",
    "Hint",
    "RowView",
    "StatusRow",
    "Title",
    "estimate_of",
    "gap_between",
    "opens_by_itself",
    "sketch_of",
    "text_of",
]

_OPEN_DIFF_LINES = 30


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """Stands for rows that are not in context and folded away."""

    count: int
    open: bool = False


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The last line while something goes on: what, for how long, and what stops it."""

    text: str
    seconds: int
    frame: str
    hint: str


AnyBody = RowBody | FoldedRow | StatusRow


def sketch_of(body: AnyBody, expanded: bool, live_output: str = "") -> RowView:
    """Return how a row is drawn. `live_output` is what a running command printed so far."""
    match body:
        case UserRow():
            return user_sketch(body)
        case AnswerRow():
            return answer_sketch(body)
        case ThinkingRow():
            return thinking_sketch(body, expanded)
        case ToolRow():
            return tool_sketch(body, expanded, live_output)
        case ReductionRow():
            return reduction_sketch(body, expanded)
        case FailureRow():
            return failure_sketch(body, expanded)
        case CheckpointRow():
            return checkpoint_sketch(body, expanded)
        case FoldedRow():
            rows = "1 earlier row" if body.count == 1 else f"{body.count:,} earlier rows"
            return RowView(Title([[(f"{rows}, not in context", "muted")]]), foldable=True, expanded=body.open)
        case StatusRow():
            parts = [[(body.text, "accent")], [(f"{body.seconds} s", "muted")], [(body.hint, "faint")]]
            return RowView(Title(parts), bar="accent", sign=body.frame)
        case _:
            assert_never(body)


def opens_by_itself(body: AnyBody) -> bool:
    """Whether a row is unfolded until someone folds it: small changes to files."""
    if isinstance(body, ToolRow) and isinstance(body.view, DiffView):
        return body.state != "denied" and body.view.added + body.view.removed <= _OPEN_DIFF_LINES
    return False


def estimate_of(body: AnyBody, expanded: bool, width: int) -> int:
    """Return roughly how many lines the row takes, without looking at its text closely."""
    match body:
        case UserRow():
            return estimate_lines(body.words, width) + bool(body.extras)
        case AnswerRow():
            return estimate_lines(body.text, width) + body.interrupted
        case ThinkingRow():
            return 1 + (estimate_lines(body.text, width) if expanded else 0)
        case ToolRow(view=DiffView() as view):
            return 1 + (view.added + view.removed + 6 if expanded else 0)
        case ToolRow(view=CommandView() as view):
            return 1 + (estimate_lines(view.output, width) if expanded else 0)
        case _:
            return 1 + (8 if expanded else 0)


def gap_between(before: AnyBody | None, body: AnyBody) -> int:
    """Blank lines between two rows: none among the one-line rows, one around words."""
    if before is None:
        return 0
    return 1 if isinstance(before, UserRow | AnswerRow) or isinstance(body, UserRow | AnswerRow | StatusRow) else 0


def text_of(body: AnyBody) -> str:
    """Return the row as text to be copied: the words as they came."""
    match body:
        case UserRow():
            return body.words
        case AnswerRow() | ThinkingRow():
            return body.text
        case ToolRow():
            return tool_text(body)
        case ReductionRow():
            return reduction_text(body)
        case FailureRow():
            return "\n\n".join(part for part in (body.title, body.message, body.body) if part)
        case CheckpointRow():
            return "\n".join((body.short_hash, *body.files))
        case FoldedRow() | StatusRow():
            return ""
        case _:
            assert_never(body)
