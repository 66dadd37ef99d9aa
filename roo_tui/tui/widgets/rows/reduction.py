"""`Context condensed`, `Context truncated`, `Context masked`: what was done to the context, and how to take it back."""

from roo_tui.domain.views import ReductionRow
from roo_tui.plain_text import one_line
from roo_tui.tui.widgets.rows.messages import COPY
from roo_tui.tui.widgets.rows.row_view import Hint, RowView, StyledText, Title
from roo_tui.tui.widgets.views.canvas import Blank, Plain, RowPiece, fit
from roo_tui.tui.widgets.views.markdown import markdown_pieces

_NAMES = {"condense": "Context condensed", "truncation": "Context truncated", "mask": "Context masked"}


def reduction_sketch(row: ReductionRow, expanded: bool) -> RowView:
    """One line of figures; opened: the summary, its analysis, the receipt, the details."""
    style, name = ("title", "accent") if row.on else ("muted", "muted")
    parts: list[list[StyledText]] = [[(_NAMES[row.kind], name)]]
    if not row.on:
        parts.append([("off", "warning")])
    parts.append([(f"{row.tokens_before:,} → {row.tokens_after:,} tokens", style)])
    if row.tokens_before > 0:
        change = round(100 * (row.tokens_after - row.tokens_before) / row.tokens_before)
        parts.append(
            [(f"{'−' if change < 0 else '+' if change else ''}{abs(change)} %", "success" if row.on else "muted")]
        )
    if row.cost_usd is not None:
        parts.append([(f"${row.cost_usd:.2f}", "muted")])
    parts.append([(one_line(row.how, 60), "faint")])
    return RowView(Title(parts, hints=_hints(row)), _body(row) if expanded else [], foldable=True, expanded=expanded)


def _hints(row: ReductionRow) -> list[Hint]:
    hints: list[Hint] = []
    if row.covered_by is None:
        hints.append(Hint("u", "undo", "undo", True) if row.on else Hint("u", "redo", "redo", True))
    if row.kind == "truncation" and row.on and row.covered_by is None:
        hints.append(Hint("s", "condense_instead", "condense instead"))
    if row.receipt and row.on:
        hints.append(Hint("a", "append_receipt", "append receipt"))
    return [*hints, COPY]


def _body(row: ReductionRow) -> list[RowPiece]:
    pieces: list[RowPiece] = []
    if row.covered_by is not None:
        pieces.append(Plain(f"A later change covers this one: undo e{row.covered_by} first.", "warning", indent=2))
    pieces += markdown_pieces(fit(row.summary).strip("\n"), 2) if row.summary.strip() else []
    if row.analysis.strip():
        words = len(row.analysis.split())
        pieces += [Blank(), Plain(f"Analysis, {words:,} words", "muted", indent=2)]
        pieces += [Plain(part, "faint", indent=4) for part in fit(row.analysis).strip("\n").split("\n\n")]
    if row.receipt:
        many = "1 thing" if len(row.receipt) == 1 else f"{len(row.receipt)} things"
        pieces += [Blank(), Plain(f"Receipt: {many} not in the summary", "accent", indent=2)]
        pieces += [Plain(f"• {fit(item, 4_000)}", "text", indent=4) for item in row.receipt]
    if row.details:
        wide = max(len(label) for label, _ in row.details)
        pieces += [Blank()] if pieces else []
        pieces += [
            Plain(f"{fit(label, 200):<{wide}}  {fit(value, 4_000)}", "muted", indent=2) for label, value in row.details
        ]
    return pieces


def reduction_text(row: ReductionRow) -> str:
    """What is copied: the summary, or the figures."""
    return row.summary or f"{_NAMES[row.kind]} {row.tokens_before:,} → {row.tokens_after:,} tokens"
