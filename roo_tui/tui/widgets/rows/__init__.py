"""Rows of the transcript. Each kind is one object; `_KINDS` is the table of all of them.

To add a kind: write its `RowKind` beside the others and add its line to the table, for a kind of row or for the calls
that show a kind of view.
"""

from collections.abc import Mapping
from typing import Any

from roo_tui.domain.views import (
    AnswerRow,
    CheckpointRow,
    FailureRow,
    ReductionRow,
    RowBody,
    ThinkingRow,
    ToolRow,
    ToolView,
    UserRow,
)
from roo_tui.tui.widgets.rows.messages import AnswerKind, ThinkingKind, UserKind
from roo_tui.tui.widgets.rows.notes import CheckpointKind, FailureKind, FoldedKind, FoldedRow, StatusKind, StatusRow
from roo_tui.tui.widgets.rows.reduction import ReductionKind
from roo_tui.tui.widgets.rows.row_view import RowKind, RowView
from roo_tui.tui.widgets.rows.tool import ToolKind

__all__ = ["AnyBody", "FoldedRow", "RowView", "StatusRow", "copy_text", "gap_between", "kind_of"]

AnyBody = RowBody | FoldedRow | StatusRow

_KINDS: Mapping[type[AnyBody | ToolView], RowKind[Any]] = {
    UserRow: UserKind(),
    AnswerRow: AnswerKind(),
    ThinkingRow: ThinkingKind(),
    ToolRow: ToolKind(),
    ReductionRow: ReductionKind(),
    FailureRow: FailureKind(),
    CheckpointRow: CheckpointKind(),
    FoldedRow: FoldedKind(),
    StatusRow: StatusKind(),
}


def kind_of(body: AnyBody) -> RowKind[Any]:
    """Return the `RowKind` of a row; for a call, that of its view if there is one."""
    if isinstance(body, ToolRow) and body.view is not None and (kind := _KINDS.get(type(body.view))):
        return kind
    return _KINDS[type(body)]


def gap_between(before: AnyBody | None, body: AnyBody) -> int:
    """Return the blank lines between two rows: one around messages, none among one-line rows."""
    return 1 if before is not None and (kind_of(before).spoken or kind_of(body).spoken) else 0


def copy_text(body: AnyBody) -> str:
    """Return the row as text to be copied."""
    return kind_of(body).copy_text(body)
