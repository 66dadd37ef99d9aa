"""Draw Markdown as pieces: each block on its own; a code fence is coloured line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style

from roo_tui.tui.widgets.views.canvas import Blank, Canvas, Line, RowPiece, Span, crop, estimate_lines, fold_cells, wrap
from roo_tui.tui.widgets.views.code import PIECE_LINES, Code, CodePiece, LineLexer
from roo_tui.tui.widgets.views.markdown_blocks import MarkdownBlock, split

if TYPE_CHECKING:  # only names: the parser is imported when the first text is drawn
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


def markdown_pieces(text: str, indent: int = 0) -> list[RowPiece]:
    """Return a whole Markdown text as pieces."""
    return [piece for block in split(text) for piece in block_pieces(block, indent)]


def block_pieces(block: MarkdownBlock, indent: int = 0) -> list[RowPiece]:
    """Return a finished block as pieces; only a long fence has more than one, besides the gap before it."""
    pieces: list[RowPiece] = [Blank()] if block.gap else []
    if block.kind == "fence":
        return pieces + fence_pieces(block, Code(block.lines, block.language), indent)
    return [*pieces, Flow(block.text, indent)]


def fence_pieces(block: MarkdownBlock, code: Code, indent: int = 0) -> list[RowPiece]:
    """Return the lines of a fence as pieces, coloured by `code`, which may know many of them already."""
    lines = len(block.lines)
    return [
        CodePiece(code, start, min(lines, start + PIECE_LINES), indent=indent)
        for start in range(0, max(1, lines), PIECE_LINES)
    ]


@dataclass(frozen=True, slots=True)
class Flow:
    """One block that is not a fence: a paragraph, heading, list item, quote, table or rule."""

    text: str
    indent: int = 0

    def estimate(self, width: int) -> int:
        """Return roughly its lines, taking newlines within a paragraph as they are."""
        return estimate_lines(self.text, width - self.indent)

    def draw(self, canvas: Canvas) -> list[Line]:
        """Return its lines."""
        lines = flow_lines(self.text, canvas.narrower(self.indent) if self.indent else canvas)
        if not self.indent:
            return lines
        margin: Span = (" " * self.indent, canvas.palette.text)
        return [Line([margin, *line.spans], line.background) for line in lines]


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable(["html_block", "html_inline"])


def warm_up() -> None:
    """Import what drawing needs, so that the first answer does not wait for it. May run in a thread."""
    _parser().parse("*warm*")
    for language in ("python", "bash"):
        LineLexer(language).tokens("up=1")


def flow_lines(text: str, canvas: Canvas) -> list[Line]:
    """Return a block of Markdown as lines; plain text is shown unchanged."""
    lines = _Drawing(canvas).block(_parser().parse(text))
    return lines or [Line([(part, canvas.palette.muted)]) for part in text.split("\n")]


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int


@dataclass(slots=True)
class _Drawing:
    """Draws the tokens of markdown-it. `_first` and `_rest` are the prefixes of the next line and of those after it."""

    canvas: Canvas
    _lines: list[Line] = field(default_factory=list)
    _first: list[Span] = field(default_factory=list)
    _rest: list[Span] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)
    _saved: list[list[Span]] = field(default_factory=list)
    _quotes: int = 0

    def block(self, tokens: Sequence[Token]) -> list[Line]:
        """Return the lines of one block."""
        heading = ""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            match token.type:
                case "heading_open":
                    heading = token.tag
                case "heading_close":
                    heading = ""
                case "inline":
                    self._put(wrap(self._inline(token.children or (), self._style(heading)), self._room()))
                case "paragraph_open":
                    if self._lines and not self._first_is_open() and not token.hidden:
                        self._lines.append(Line(self._rest))
                case "bullet_list_open" | "ordered_list_open":
                    start = token.attrGet("start")
                    self._lists.append(_List(token.type == "ordered_list_open", int(start) if start is not None else 1))
                case "bullet_list_close" | "ordered_list_close":
                    self._lists.pop()
                case "list_item_open":
                    self._open_item()
                case "list_item_close" | "blockquote_close":
                    self._rest = self._saved.pop()
                    self._first = self._rest
                    self._quotes -= token.type == "blockquote_close"
                case "blockquote_open":
                    self._saved.append(self._rest)
                    bar: Span = ("│ ", self.canvas.palette.faint)
                    self._first, self._rest = [*self._first, bar], [*self._rest, bar]
                    self._quotes += 1
                case "fence" | "code_block":
                    self._code(token.content.rstrip("\n"), token.info.split()[0] if token.info.split() else "")
                case "hr":
                    self._put([[("─" * self._room(), self.canvas.palette.faint)]])
                case "table_open":
                    end = next(n for n in range(at, len(tokens)) if tokens[n].type == "table_close")
                    self._table(tokens[at:end])
                    at = end
                case _:
                    pass
            at += 1
        return self._lines

    def _room(self) -> int:
        return max(8, self.canvas.width - 1 - sum(cell_len(text) for text, _ in self._rest))

    def _style(self, heading: str) -> Style:
        palette = self.canvas.palette
        if heading:
            return palette.heading + Style(underline=True) if heading == "h1" else palette.heading
        return palette.quote if self._quotes else palette.text

    def _first_is_open(self) -> bool:
        return self._first is not self._rest

    def _put(self, lines: Iterable[Sequence[Span]], background: Style | None = None) -> None:
        for spans in lines:
            self._lines.append(Line([*self._first, *spans], background))
            self._first = self._rest

    def _open_item(self) -> None:
        current = self._lists[-1]
        marker = f"{current.number}. " if current.ordered else ("• ", "◦ ", "▪ ")[min(2, len(self._lists) - 1)]
        current.number += 1
        self._saved.append(self._rest)
        self._first = [*self._first, (marker, self.canvas.palette.accent)]
        self._rest = [*self._rest, (" " * len(marker), self.canvas.palette.text)]

    def _code(self, text: str, language: str) -> None:
        code = Code(text.split("\n"), language)
        palette = self.canvas.palette
        for spans in code.spans(0, len(code.lines), palette):
            for part in fold_cells(spans, self._room() - 1):
                self._put([[(" ", palette.text), *part]], palette.code_background)

    def _inline(self, tokens: Iterable[Token], style: Style) -> list[Span]:
        palette = self.canvas.palette
        spans: list[Span] = []
        styles = [style]
        for token in tokens:
            match token.type:
                case "text" | "text_special":
                    spans.append((token.content, styles[-1]))
                case "softbreak":
                    spans.append((" ", styles[-1]))
                case "hardbreak":
                    spans.append(("\n", styles[-1]))
                case "code_inline":
                    spans.append((token.content, styles[-1] + palette.code))
                case "strong_open":
                    styles.append(styles[-1] + Style(bold=True))
                case "em_open":
                    styles.append(styles[-1] + Style(italic=True))
                case "s_open":
                    styles.append(styles[-1] + Style(strike=True))
                case "link_open":
                    styles.append(styles[-1] + palette.link + _link(token.attrGet("href")))
                case "strong_close" | "em_close" | "s_close" | "link_close":
                    styles.pop()
                case "image":
                    spans.append((f"[{token.content or token.attrGet('src')}]", styles[-1] + palette.link))
                case _:
                    spans.append((token.content, styles[-1]))
        return spans

    def _table(self, tokens: Sequence[Token]) -> None:
        palette = self.canvas.palette
        rows: list[list[list[Span]]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                style = palette.text if len(rows) > 1 else palette.strong
                rows[-1].append(self._inline(token.children or (), style))
        aligned = [str(token.attrGet("style") or "") for token in tokens if token.type == "th_open"]
        columns = len(aligned)
        rows = [row + [[]] * (columns - len(row)) for row in rows]
        widths = _column_widths(rows, columns, self._room())
        bar: Span = (" │ ", palette.faint)
        for number, row in enumerate(rows):
            cells = [wrap(cell, width) for cell, width in zip(row, widths, strict=False)]
            for part in range(max(map(len, cells))):
                spans: list[Span] = []
                for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
                    if column:
                        spans.append(bar)
                    spans += _aligned(cell[part] if part < len(cell) else [], width, aligned[column], palette.text)
                self._put([spans])
            if not number:
                self._put([[("─┼─".join("─" * width for width in widths), palette.faint)]])


def _column_widths(rows: Sequence[Sequence[Sequence[Span]]], columns: int, room: int) -> list[int]:
    """Return column widths that fit: the width of the cells, with the widest columns narrowed first."""
    wanted = [
        max([1, *(cell_len(part) for row in rows for part in _text(row[column]).split("\n"))])
        for column in range(columns)
    ]
    room = max(columns * 4, room - 3 * (columns - 1))
    if sum(wanted) <= room:
        return wanted
    widths = [min(wish, max(4, room // columns)) for wish in wanted]
    for column in sorted(range(columns), key=lambda at: wanted[at]):
        widths[column] = min(wanted[column], widths[column] + max(0, room - sum(widths)))
    return widths


def _text(spans: Iterable[Span]) -> str:
    return "".join(text for text, _ in spans)


def _aligned(spans: Sequence[Span], width: int, alignment: str, style: Style) -> Iterator[Span]:
    spans = crop(spans, width)
    left = width - sum(cell_len(text) for text, _ in spans)
    before = left if "right" in alignment else left // 2 if "center" in alignment else 0
    if before:
        yield (" " * before, style)
    yield from spans
    if left - before:
        yield (" " * (left - before), style)


@lru_cache(maxsize=256)
def _link(target: str | int | float | None) -> Style:
    """Return a hyperlink for web addresses; other targets are only underlined."""
    href = str(target or "")
    return Style(link=href) if href.startswith(("https://", "http://")) and href.isprintable() else Style()
