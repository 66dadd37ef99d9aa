"""Commands that print figures: what fills a task's context, what each strategy would do, and what reductions did."""

from collections.abc import Iterable
from statistics import median
from typing import TextIO

from roo_tui.domain.entries import StoredReduction
from roo_tui.domain.ids import entry_ref
from roo_tui.domain.markers import CondenseFailed, Reduction
from roo_tui.domain.previews import CondensePreview
from roo_tui.domain.views import ContextBreakdown
from roo_tui.engine_api import EngineApi
from roo_tui.headless.as_json import encode, fields_of
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.headless.tasks import opened, started
from roo_tui.plain_text import one_line


async def show_context(engine: EngineApi, task_id: str, out: TextIO, *, as_json: bool) -> ExitCode:
    """Print what fills a task's context window, by kind and by entry."""
    async with opened(engine, task_id, writable=False):
        found = await engine.read.context_breakdown()
        use = engine.read.context_use()
    if as_json:
        print(encode({"task_id": task_id, "use": use, **fields_of(found)}), file=out)
    else:
        out.writelines(f"{line}\n" for line in _context_lines(found, use.window))
    return ExitCode.OK


def _context_lines(found: ContextBreakdown, window: int) -> Iterable[str]:
    yield f"{found.tokens:,} of {window:,} tokens"
    yield ""
    for kind in found.by_kind:
        yield f"{kind.tokens:>10,}  {100 * kind.tokens / max(found.tokens, 1):>4.0f} %  {one_line(kind.kind)}"
    yield ""
    for entry in found.by_entry:
        yield f"{entry.tokens:>10,}  {entry_ref(entry.entry_id):<7}{entry.role:<10} {one_line(entry.title)}"


async def show_comparison(
    engine: EngineApi, sources: list[str], out: TextIO, *, ask_model: bool, as_json: bool
) -> ExitCode:
    """Print what each strategy would do to each conversation (a file of messages or a task's id)."""
    async with started(engine):
        found = {source: await engine.compare_strategies(source, ask_model=ask_model) for source in sources}
    if as_json:
        print(encode(found), file=out)
        return ExitCode.OK
    for source, rows in found.items():
        print(one_line(source, 200), file=out)
        print(f"  {'strategy':<22}{'tokens':>22}{'freed':>8}{'survived':>11}{'cost':>9}{'seconds':>9}", file=out)
        out.writelines(f"  {_comparison_line(row)}\n" for row in rows)
    return ExitCode.OK


def _comparison_line(row: CondensePreview) -> str:
    name = f"{row.strategy} {row.preset}".strip()
    if row.refusal:
        return f"{name:<22}  {one_line(row.refusal, 120)}"
    tokens = f"{row.tokens_before:,} → {row.tokens_after:,}"
    freed = f"{100 * (row.tokens_before - row.tokens_after) / max(row.tokens_before, 1):.0f} %"
    survived = f"{row.survived} of {row.artefacts}"
    cost = "?" if row.cost_usd is None else f"${row.cost_usd:.2f}"
    return f"{name:<22}{tokens:>22}{freed:>8}{survived:>11}{cost:>9}{row.duration_s:>9.2f}"


async def show_stats(engine: EngineApi, out: TextIO, *, as_json: bool) -> ExitCode:
    """Print how often each kind of reduction ran in all tasks, what it freed and what it cost."""
    async with started(engine):
        found = await engine.read.reductions()
    if as_json:
        print(encode(found), file=out)
    else:
        out.writelines(f"{line}\n" for line in _stats_lines(found))
    return ExitCode.OK


def _stats_lines(found: tuple[StoredReduction, ...]) -> Iterable[str]:
    groups: dict[str, list[StoredReduction]] = {}
    for reduction in found:
        groups.setdefault(_group(reduction), []).append(reduction)
    if not groups:
        yield "No context has been condensed or truncated yet."
        return
    yield f"{'':<28}{'times':>6}{'undone':>8}{'tokens freed':>14}{'cost':>9}{'median s':>10}"
    for name, members in sorted(groups.items()):
        figures = [member.body.figures for member in members if not isinstance(member.body, CondenseFailed)]
        freed = sum(figure.tokens_before - figure.tokens_after for figure in figures)
        cost = sum(_cost(member) for member in members)
        took = median(figure.duration_s for figure in figures) if figures else 0.0
        undone = sum(member.undone for member in members)
        yield f"{name:<28}{len(members):>6,}{undone:>8,}{freed:>14,}{f'${cost:.2f}':>9}{took:>10.1f}"


def _group(reduction: StoredReduction) -> str:
    body = reduction.body
    if isinstance(body, CondenseFailed):
        return "condense cancelled" if body.cancelled else "condense failed"
    figures: Reduction = body.figures
    how = ", ".join(part for part in (figures.strategy, figures.shape) if part)
    return f"{body.kind} ({how})" if how else body.kind


def _cost(reduction: StoredReduction) -> float:
    body = reduction.body
    cost = body.cost_usd if isinstance(body, CondenseFailed) else body.figures.cost_usd
    return cost or 0.0
