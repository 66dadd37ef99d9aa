"""Rows for failures, checkpoints, folded rows and the current activity."""

from dataclasses import dataclass

from roo_tui.domain.views import CheckpointRow, FailureRow
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import counted, exact, money
from roo_tui.tui.widgets.rows.row_view import COPY, Hint, RowKind, RowView, StyledText, Title
from roo_tui.tui.widgets.views.canvas import Plain, RowPiece, fit
from roo_tui.tui.widgets.views.command import output_pieces

_STYLES = {"info": "accent", "warning": "warning", "error": "error"}
_SHOWN_FILES = 200


class FailureKind(RowKind[FailureRow]):
    """A failure in one line; opened: the whole message and its details."""

    def view(self, body: FailureRow, expanded: bool, _live_output: str, /) -> RowView:
        """Return title and message; of an error also what can be done about it."""
        parts: list[list[StyledText]] = [[(one_line(body.title, 80), _STYLES[body.level])]]
        if not expanded:
            parts.append([(one_line(body.message, 300), "muted")])
        if body.cost_usd:
            parts.append([(money(body.cost_usd), "muted")])
        pieces: list[RowPiece] = []
        if expanded:
            pieces.append(Plain(fit(body.message, 20_000), "text", indent=2))
            # The details begin with the message, which is already shown above.
            if rest := body.body.removeprefix(body.message).strip("\n"):
                pieces += output_pieces(fit(rest))
        return RowView(Title(parts, hints=_ways_out(body)), pieces, foldable=True, expanded=expanded)

    def copy_text(self, body: FailureRow, /) -> str:
        """Return title, message and details."""
        return "\n\n".join(part for part in (body.title, body.message, body.body) if part)


def _ways_out(body: FailureRow) -> list[Hint]:
    if body.level != "error":
        return [COPY]
    retry = "retry_condense" if body.of_condense else "retry"
    return [Hint("r", retry, strings.HINT_RETRY), Hint("m", "profile", strings.HINT_OTHER_MODEL), COPY]


class CheckpointKind(RowKind[CheckpointRow]):
    """A checkpoint of the files; opened: which ones changed."""

    def view(self, body: CheckpointRow, expanded: bool, _live_output: str, /) -> RowView:
        """Return its hash and how many files changed."""
        # Only the first checkpoint of all differs from none before it.
        count = counted(strings.FILES, len(body.files)) if body.files else strings.CHECKPOINT_FIRST
        title = Title(
            [
                [(strings.CHECKPOINT, "muted"), (f" {one_line(body.short_hash, 40)}", "faint")],
                [(count, "faint")],
            ],
            hints=(COPY,),
        )
        pieces: list[RowPiece] = []
        if expanded:
            names = [one_line(name, 400) for name in body.files[:_SHOWN_FILES]]
            if len(body.files) > _SHOWN_FILES:
                names.append(strings.MORE.format(count=exact(len(body.files) - _SHOWN_FILES)))
            pieces = [Plain("\n".join(names), "muted", True, "", 2)] if names else []
        return RowView(title, pieces, foldable=bool(body.files), expanded=expanded)

    def copy_text(self, body: CheckpointRow, /) -> str:
        """Return the hash and the files."""
        return "\n".join((body.short_hash, *body.files))


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """One line in place of rows that are not in context."""

    count: int
    open: bool = False


class FoldedKind(RowKind[FoldedRow]):
    """How many rows are folded away."""

    def view(self, body: FoldedRow, _expanded: bool, _live_output: str, /) -> RowView:
        """Return the line that opens them."""
        title = Title([[(counted(strings.FOLDED_ROWS, body.count), "muted")]])
        return RowView(title, foldable=True, expanded=body.open)

    def copy_text(self, _body: FoldedRow, /) -> str:
        """Return nothing: the folded rows are copied one by one."""
        return ""


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The last line while a job runs: what it does, for how long, and the key that stops it."""

    text: str
    seconds: int
    frame: str
    hint: str


class StatusKind(RowKind[StatusRow]):
    """The current activity."""

    spoken = True

    def view(self, body: StatusRow, _expanded: bool, _live_output: str, /) -> RowView:
        """Return the line."""
        parts: list[list[StyledText]] = [
            [(body.text, "accent")],
            [(strings.SECONDS.format(count=body.seconds), "muted")],
            [(body.hint, "faint")],
        ]
        return RowView(Title(parts), bar="accent", sign=body.frame)

    def copy_text(self, _body: StatusRow, /) -> str:
        """Return nothing: an activity is not part of the conversation."""
        return ""
