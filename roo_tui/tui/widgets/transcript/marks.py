"""Marks over drawn lines: the selection, and the pill that announces new rows below."""

from collections.abc import Sequence
from itertools import islice

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip

from roo_tui.tui import strings
from roo_tui.tui.widgets.transcript.layout import Layout, PlacedLine, Spot
from roo_tui.tui.widgets.views.canvas import GUTTER
from roo_tui.tui.widgets.views.palette import Palette

_PIECE_UNIT, _BOX_UNIT = 10_000, 100_000_000
_COPIED_LINES = 50_000


def line_number(place: PlacedLine) -> int:
    """Return a number that grows downwards and stays the same when heights elsewhere change."""
    return place.box.at * _BOX_UNIT + place.piece * _PIECE_UNIT + place.line


def with_pill(strip: Strip, width: int, palette: Palette) -> Strip:
    """Return the last line with the pill at its right end, which follows the end when it is clicked."""
    pill = f" {strings.NEW_BELOW} "
    at = max(0, width - len(pill) - 1)
    end = at + len(pill)
    styled = Segment(pill, palette.cursor_background + palette.accent + Style(meta={"row_action": "follow"}))
    return Strip.join([strip.crop(0, at), Strip([styled], len(pill)), strip.crop(end)])


def with_selection(strip: Strip, number: int, selection: Selection, style: Style) -> Strip:
    """Return a line with its selected part marked."""
    span = selection.get_span(number)
    text = strip.text
    if span is None:
        return strip
    start = max(0, span[0]) + GUTTER
    end = len(text.rstrip()) if span[1] == -1 else span[1] + GUTTER
    if end <= start:
        return strip
    left, right = cell_len(text[:start]), cell_len(text[:end])
    middle = strip.crop(left, right)
    marked = Strip([Segment(part, (own or Style()) + style) for part, own, _ in middle], middle.cell_length)
    return Strip.join([strip.crop(0, left), marked, strip.crop(right)])


def selected_text(layout: Layout, selection: Selection) -> str | None:
    """Return the selected lines as they are on the screen; None where the selection begins nowhere."""
    start = _spot_of(layout, selection.start.y) if selection.start is not None else Spot(layout.boxes[0])
    lines: list[str] = []
    if start is None:
        return None
    for place in islice(layout.down(start), _COPIED_LINES):
        span = selection.get_span(line_number(place))
        if span is None:
            if lines:
                break
            continue
        text = place.strip.text[GUTTER:]
        lines.append(text[max(0, span[0]) : None if span[1] == -1 else max(0, span[1])].rstrip())
    return "\n".join(lines)


def _spot_of(layout: Layout, number: int) -> Spot | None:
    at, rest = divmod(number, _BOX_UNIT)
    if not 0 <= at < len(layout.boxes):
        return None
    layout.touch(layout.boxes[at])
    return Spot(layout.boxes[at], min(rest // _PIECE_UNIT, len(layout.boxes[at].pieces) - 1), rest % _PIECE_UNIT)


def regions(lines: Sequence[int], width: int) -> list[Region]:
    """Return the given lines of the screen as regions, neighbours joined."""
    joined: list[Region] = []
    for y in lines:
        if joined and joined[-1].bottom == y:
            last = joined[-1]
            joined[-1] = Region(0, last.y, width, last.height + 1)
        else:
            joined.append(Region(0, y, width, 1))
    return joined
