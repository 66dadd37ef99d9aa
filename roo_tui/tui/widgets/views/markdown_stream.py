"""Draw Markdown that is still streaming: finished blocks once, the open block again for each change."""

from roo_tui.plain_text import clean
from roo_tui.tui.widgets.views.canvas import Blank, RowPiece, short_line
from roo_tui.tui.widgets.views.code import Code, CodePiece
from roo_tui.tui.widgets.views.markdown import block_pieces
from roo_tui.tui.widgets.views.markdown_blocks import MarkdownBlock, Splitter

_SEALED_LINES = 16
"""Lines of an open fence that are drawn together once they are complete."""


class MarkdownStream:
    """Takes Markdown in any portions and returns pieces: final ones, and those of the open block.

    Each complete line is made fit for the screen once. The pieces of all finished blocks together with those of the
    open one draw the same lines as the whole text does.
    """

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._raw: list[str] = []
        self._partial: list[str] = []
        self._fence: Code | None = None
        self._fence_block: MarkdownBlock | None = None
        self._sealed = 0
        self._final: list[RowPiece] = []

    @property
    def text(self) -> str:
        """The whole text so far, unformatted."""
        return "".join(self._raw)

    def add(self, text: str) -> None:
        """Take more text."""
        self._raw.append(text)
        if "\n" not in text:
            self._partial.append(text)
            return
        *whole, rest = ("".join(self._partial) + text).split("\n")
        self._partial = [rest] if rest else []
        for line in whole:
            for part in _fit(line):
                self._line(part)

    def close(self) -> None:
        """End the text: the open block becomes final too."""
        for part in _fit("".join(self._partial)):
            self._line(part)
        self._partial = []
        for block in self._splitter.finish():
            self._end(block)

    def pieces(self) -> list[RowPiece]:
        """Return all pieces; those of the open block come last and differ from one call to the next."""
        return self._final + self._open_pieces()

    def _open_pieces(self) -> list[RowPiece]:
        partial = "\n".join(_fit("".join(self._partial)))
        block = self._splitter.open
        if block is not None and block.kind == "fence":
            code = self._follow(block)
            lines = len(block.lines)
            pieces: list[RowPiece] = [CodePiece(code, self._sealed, lines)] if lines > self._sealed else []
            if partial.strip("`~ "):
                pieces.append(CodePiece(code.beginning(partial), 0, 1))
            return self._gap(block) + pieces if self._sealed == 0 else pieces
        return [piece for each in self._splitter.blocks_with(partial) for piece in block_pieces(each)]

    def _gap(self, block: MarkdownBlock) -> list[RowPiece]:
        return [Blank()] if block.gap else []

    def _line(self, line: str) -> None:
        for block in self._splitter.feed(line):
            self._end(block)
        block_now = self._splitter.open
        if block_now is not None and block_now.kind == "fence":
            code = self._follow(block_now)
            while len(block_now.lines) - self._sealed >= _SEALED_LINES:
                if self._sealed == 0:
                    self._final += self._gap(block_now)
                self._final.append(CodePiece(code, self._sealed, self._sealed + _SEALED_LINES))
                self._sealed += _SEALED_LINES

    def _follow(self, block: MarkdownBlock) -> Code:
        if self._fence is None or self._fence_block is not block:
            self._fence, self._fence_block, self._sealed = Code(block.lines, block.language), block, 0
        return self._fence

    def _end(self, block: MarkdownBlock) -> None:
        if block.kind != "fence":
            self._final += block_pieces(block)
            return
        code = self._follow(block)
        if self._sealed == 0:
            self._final += self._gap(block)
        lines = max(1, len(block.lines)) if self._sealed == 0 else len(block.lines)
        if lines > self._sealed:
            self._final.append(CodePiece(code, self._sealed, len(block.lines)))
        self._fence = self._fence_block = None


def _fit(line: str) -> list[str]:
    line = clean(line)
    if "\t" in line:
        line = line.expandtabs(4)
    return [short_line(part) for part in line.split("\n")]
