"""Condensing: replacing older messages with a summary.

Start with `steps` (prepare, perform, validate, apply), then `request` (what the model is asked) and `marker` (what is
appended).
"""

from roo_tui.context.condense.attachments import receipt_block
from roo_tui.context.condense.file_outlines import outlines_of
from roo_tui.context.condense.marker import LOW_YIELD, swapped_in
from roo_tui.context.condense.outline import outline_summary
from roo_tui.context.condense.request import prefix_hash
from roo_tui.context.condense.steps import condense
from roo_tui.context.condense.summary_call import split_summary

__all__ = [
    "LOW_YIELD",
    "condense",
    "outline_summary",
    "outlines_of",
    "prefix_hash",
    "receipt_block",
    "split_summary",
    "swapped_in",
]
