"""The transcript: every row of a conversation, of which only what is on the screen is ever drawn.

`widget` is what the screen uses, `view` its scrolling and painting. `row_list` knows which rows there are, `layout`
where they are, `row_box` how one is drawn, `arriving` what comes faster than it is drawn, `marks` what is laid over the
lines. What a row looks like is in `widgets.rows` and `widgets.views`.
"""

from roo_tui.tui.widgets.transcript.widget import TranscriptView

__all__ = ["TranscriptView"]
