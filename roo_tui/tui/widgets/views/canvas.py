"""Draw rows and views: lines of styled spans, and their conversion to the strips of the screen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from rich.cells import cell_len, get_character_cell_size, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roo_tui.plain_text import clean
from roo_tui.tui import strings
from roo_tui.tui.numbers import exact
from roo_tui.tui.widgets.views.palette import Palette

Span = tuple[str, Style]
GUTTER = 3
"""Cells left of every line: the cursor or context marker, the speaker's bar or arrow, a blank."""
LINE_LIMIT = 4_000
"""Characters of one line that are shown; a longer one is cut with a note."""
SHOWN_CHARACTERS = 400_000
"""Characters of one text that are shown: its beginning and its end."""


class Line(NamedTuple):
    """One line of a row without its gutter. `background` fills it to the right edge, None means the row's own."""

    spans: Sequence[Span]
    background: Style | None = None


@dataclass(frozen=True, slots=True)
class Canvas:
    """The width (in cells) and colours that a row is drawn with."""

    width: int
    palette: Palette

    def narrower(self, cells: int) -> "Canvas":
        """Return the canvas for what is indented by that many cells."""
        return replace(self, width=max(8, self.width - cells))


class RowPiece(Protocol):
    """A part of a row that is drawn at once; long rows are made of many, so that only what is seen is drawn."""

    def estimate(self, width: int, /) -> int:
        """Return roughly the lines it takes at that width, cheaply; 0 only if it takes none."""
        ...

    def draw(self, canvas: Canvas, /) -> list[Line]:
        """Return its lines; called when they come into view, again for another width or theme."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """Text in one style, wrapped at words, or at cells where `code` says that columns matter."""

    text: str
    style: str = "text"
    code: bool = False
    background: str = ""
    indent: int = 0

    def estimate(self, width: int) -> int:
        """Return roughly the lines of the text."""
        return estimate_lines(self.text, width - self.indent)

    def draw(self, canvas: Canvas) -> list[Line]:
        """Return the lines of the text."""
        style: Style = getattr(canvas.palette, self.style)
        background: Style | None = getattr(canvas.palette, self.background) if self.background else None
        room = canvas.width - self.indent
        lead: list[Span] = [(" " * self.indent, style)] if self.indent else []
        broken = (
            (piece for line in self.text.split("\n") for piece in fold_cells([(line, style)], room))
            if self.code
            else wrap([(self.text, style)], room)
        )
        return [Line([*lead, *spans], background) for spans in broken]


@dataclass(frozen=True, slots=True)
class Blank:
    """Empty lines between two parts."""

    lines: int = 1

    def estimate(self, _width: int) -> int:
        """Return as many lines as asked for."""
        return self.lines

    def draw(self, _paper: Canvas) -> list[Line]:
        """Return empty lines."""
        return [Line(())] * self.lines


def fit(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """Return the text fit for the screen: cleaned, tabs expanded, overlong lines and texts cut with a note."""
    if len(text) > limit:
        head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
        missing = strings.NOT_SHOWN.format(count=exact(len(text) - len(head) - len(tail)))
        text = f"{head}\n{missing}\n{tail}"
    text = clean(text)
    if "\t" in text:
        text = text.expandtabs(4)
    if len(text) > LINE_LIMIT and any(len(line) > LINE_LIMIT for line in text.split("\n")):
        text = "\n".join(short_line(line) for line in text.split("\n"))
    return text


def short_line(line: str) -> str:
    """Return the line, cut after `LINE_LIMIT` characters with a note of how many are missing."""
    if len(line) <= LINE_LIMIT:
        return line
    return f"{line[:LINE_LIMIT]} {strings.LINE_CUT.format(count=exact(len(line) - LINE_LIMIT))}"


def estimate_lines(text: str, width: int) -> int:
    """Return roughly how many lines the text takes; of a huge one, how many of it are shown."""
    if len(text) > SHOWN_CHARACTERS:
        text = text[:SHOWN_CHARACTERS]
    return text.count("\n") + 1 + len(text) // (max(8, width) + 24)


def crop(spans: Sequence[Span], width: int) -> list[Span]:
    """Return the spans cut to at most `width` cells, `…` as the last one where something was cut."""
    total = sum(cell_len(text) for text, _ in spans)
    if total <= width:
        return list(spans)
    kept: list[Span] = []
    left = max(0, width - 1)
    for text, style in spans:
        size = cell_len(text)
        if size > left:
            kept.append((set_cell_size(text, left) + "…", style))
            break
        kept.append((text, style))
        left -= size
    return kept if width > 0 else []


def fold_cells(spans: Sequence[Span], width: int) -> Iterator[list[Span]]:
    """Yield the spans of one line in parts of at most `width` cells, broken anywhere but inside a character."""
    width = max(2, width)
    line: list[Span] = []
    used = 0
    for text, style in spans:
        if used + (size := cell_len(text)) <= width:
            line.append((text, style))
            used += size
            continue
        start = 0
        for at, character in enumerate(text):
            size = get_character_cell_size(character)
            if used + size > width:
                if at > start:
                    line.append((text[start:at], style))
                yield line
                line, used, start = [], 0, at
            used += size
        line.append((text[start:], style))
    yield line


def wrap(spans: Sequence[Span], width: int) -> list[list[Span]]:
    """Return the spans as lines of at most `width` cells, broken at blanks, within a word only where it is too long."""
    lines: list[list[Span]] = []
    for line in _hard_lines(spans):
        text = "".join(part for part, _ in line)
        if cell_len(text) <= width:
            lines.append(line)
        else:
            lines.extend(_slices(line, _breaks(text, max(2, width))))
    return lines


def _hard_lines(spans: Sequence[Span]) -> list[list[Span]]:
    lines: list[list[Span]] = [[]]
    for text, style in spans:
        first, *rest = text.split("\n")
        if first:
            lines[-1].append((first, style))
        lines.extend([(part, style)] if part else [] for part in rest)
    return lines


def _breaks(text: str, width: int) -> list[tuple[int, int]]:
    """Return the (start, end) of each line; blanks at a break belong to neither line."""
    ranges: list[tuple[int, int]] = []
    start = at = used = 0
    hanging = len(text) - len(text.lstrip(" "))
    while at < len(text):
        end = text.find(" ", max(at, hanging))
        end = len(text) if end < 0 else end
        word = cell_len(text[at:end])
        if used + word <= width:
            used += word
        elif word <= width and text[at:end].isascii():
            ranges.append((start, at))
            start, used = at, word
        else:
            # A long word, or a script that is written without blanks: broken between any two characters.
            if used and text[at:end].isascii():
                ranges.append((start, at))
                start, used = at, 0
            for position in range(at, end):
                size = get_character_cell_size(text[position])
                if used + size > width:
                    ranges.append((start, position))
                    start, used = position, 0
                used += size
        at = end
        while at < len(text) and text[at] == " ":
            at += 1
            used += 1
    ranges.append((start, len(text)))
    return [(first, first + len(text[first:last].rstrip(" "))) for first, last in ranges]


def _slices(spans: Sequence[Span], ranges: Sequence[tuple[int, int]]) -> Iterator[list[Span]]:
    spans_left = iter(spans)
    text, style = next(spans_left, ("", Style()))
    begin = 0
    for start, end in ranges:
        line: list[Span] = []
        while True:
            part = text[max(0, start - begin) : end - begin]
            if part:
                line.append((part, style))
            if begin + len(text) >= end:
                break
            begin += len(text)
            following = next(spans_left, None)
            if following is None:
                break
            text, style = following
        yield line


@lru_cache(maxsize=4096)
def on(background: Style, style: Style) -> Style:
    """Return the style on the background."""
    return background + style


def strip(line: Line, gutter: Sequence[Span], background: Style, canvas: Canvas, paint: Style) -> Strip:
    """Return the line as a strip that fills the whole width: gutter, spans, and the background to the right edge.

    Neighbours of one style are joined, and blanks go to the span before them where that cannot be seen: every change of
    style costs some forty bytes on the way to the terminal. No segment of words begins with
    blanks, which drawings of the screen lose.
    """
    width = canvas.width + GUTTER
    background = line.background or background
    segments: list[Segment] = []
    text, current = "", Style()
    spans = [(span, on(paint, style)) for span, style in gutter]
    spans += [(span, on(background, style)) for span, style in line.spans]
    for span, style in spans:
        if not span:
            continue
        if (style is current or style == current) and not (text.isspace() and not span.isspace()):
            text += span
            continue
        if text and span[0] == " " and current.bgcolor == style.bgcolor and not (_lined(current) or _lined(style)):
            words = span.lstrip(" ")
            text += span[: len(span) - len(words)]
            span = words
        if span:
            if text:
                segments.append(Segment(text, current))
            text, current = span, style
    used = sum(cell_len(part) for part, _, _ in segments) + cell_len(text)
    if used < width:
        if current.bgcolor == background.bgcolor and not _lined(current):
            text += " " * (width - used)
        else:
            segments.append(Segment(text, current))
            text, current = " " * (width - used), background
    segments.append(Segment(text, current))
    whole = Strip(segments, max(used, width))
    return whole if used <= width else whole.adjust_cell_length(width)


def _lined(style: Style) -> bool:
    """Return whether blanks of this style can be seen."""
    return bool(style.underline or style.strike or style.reverse or style.link or style._meta)
