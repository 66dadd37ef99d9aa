"""Rows for reductions: `Context condensed`, `Duplicates hidden`, `Pictures hidden` and others, with their undo keys."""

from roo_tui.domain.ids import entry_ref
from roo_tui.domain.views import ReductionRow
from roo_tui.plain_text import one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import change_percent, counted, exact, money
from roo_tui.tui.widgets.rows.row_view import COPY, Hint, RowKind, RowView, StyledText, Title
from roo_tui.tui.widgets.views.canvas import Blank, Plain, RowPiece, fit
from roo_tui.tui.widgets.views.markdown import markdown_pieces


class ReductionKind(RowKind[ReductionRow]):
    """One line of figures; opened: the summary, its analysis, the receipt, the details."""

    def view(self, body: ReductionRow, expanded: bool, _live_output: str, /) -> RowView:
        """Return the figures with the keys that undo it, and the rest where it is open."""
        name, figures, change = ("accent", "title", "success") if body.on else ("muted", "muted", "muted")
        parts: list[list[StyledText]] = [[(_title(body), name)]]
        if not body.on:
            parts.append([(strings.REDUCTION_OFF, "warning")])
        parts.append([(_tokens(body), figures)])
        if body.tokens_before not in (0, body.tokens_after):
            parts.append([(change_percent(body.tokens_before, body.tokens_after), change)])
        if body.cost_usd is not None:
            parts.append([(money(body.cost_usd), "muted")])
        parts.append([(one_line(body.how, 60), "faint")])
        pieces = _pieces(body) if expanded else []
        return RowView(Title(parts, hints=_hints(body)), pieces, foldable=True, expanded=expanded)

    def copy_text(self, body: ReductionRow, /) -> str:
        """Return the summary, or the figures."""
        return body.summary or f"{_title(body)} {_tokens(body)}"


def _title(body: ReductionRow) -> str:
    return body.title or strings.REDUCTION[body.kind]


def _tokens(body: ReductionRow) -> str:
    return strings.TOKENS_CHANGE.format(before=exact(body.tokens_before), after=exact(body.tokens_after))


def _hints(body: ReductionRow) -> list[Hint]:
    hints: list[Hint] = []
    if body.covered_by is None:
        action, label = ("undo", strings.HINT_UNDO) if body.on else ("redo", strings.HINT_REDO)
        hints.append(Hint("u", action, label, True))
    if body.kind == "truncation" and body.on and body.covered_by is None:
        hints.append(Hint("s", "condense_instead", strings.HINT_CONDENSE_INSTEAD))
    if body.receipt and body.on:
        hints.append(Hint("a", "append_receipt", strings.HINT_APPEND_RECEIPT))
    return [*hints, COPY]


def _pieces(body: ReductionRow) -> list[RowPiece]:
    pieces: list[RowPiece] = []
    if body.covered_by is not None:
        pieces.append(Plain(strings.COVERED.format(entry=entry_ref(body.covered_by)), "warning", indent=2))
    pieces += markdown_pieces(fit(body.summary).strip("\n"), 2) if body.summary.strip() else []
    if body.analysis.strip():
        pieces += [Blank(), Plain(counted(strings.ANALYSIS, len(body.analysis.split())), "muted", indent=2)]
        pieces += [Plain(part, "faint", indent=4) for part in fit(body.analysis).strip("\n").split("\n\n")]
    if body.receipt:
        pieces += [Blank(), Plain(counted(strings.RECEIPT, len(body.receipt)), "accent", indent=2)]
        pieces += [Plain(f"• {fit(item, 4_000)}", "text", indent=4) for item in body.receipt]
    if body.details:
        wide = max(len(label) for label, _ in body.details)
        pieces += [Blank()] if pieces else []
        pieces += [
            Plain(f"{fit(label, 200):<{wide}}  {fit(value, 4_000)}", "muted", indent=2) for label, value in body.details
        ]
    return pieces
