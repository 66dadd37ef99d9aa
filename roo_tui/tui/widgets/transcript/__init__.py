"""The transcript: what people look at all day.

`widget` is what the screen uses, `view` its scrolling and painting. `sheet` knows which rows there are, `layout` where
they are, `box` how one is drawn, `arriving` what comes faster than it is drawn, `stream` the pieces of an open answer,
`marks` what is laid over the lines, `heights` the sums. What a row looks like is in
`widgets.rows` and `widgets.views`.
"""

from roo_tui.tui.widgets.transcript.widget import TranscriptView

__all__ = ["TranscriptView"]
