"""The transcript: every row of a conversation. Only rows on the screen are drawn.

The chat uses `widget`; `view` scrolls and paints. `row_list` holds the rows, `layout` their positions, `row_box` the
drawing of one row, `stream_buffer` streamed text that is not drawn yet, `marks` the selection and the “new below” pill.
`widgets.rows` and `widgets.views` say what a row looks like.
"""

from roo_tui.tui.widgets.transcript.widget import TranscriptView

__all__ = ["TranscriptView"]
