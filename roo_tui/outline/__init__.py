"""Signatures of source files: what a file defines, and where, without its bodies.

`outline` does the work on a text already read; `Outliner` does it in a process of its own, because parsing holds the
interpreter's lock. `languages` says which files can be outlined; one query a language stands in `queries/`. The room
reads no files: whoever calls it decides what may be read.
"""

from roo_tui.outline.languages import language_of
from roo_tui.outline.outliner import Outliner
from roo_tui.outline.signatures import LARGEST_CHARACTERS, outline

__all__ = ["LARGEST_CHARACTERS", "Outliner", "language_of", "outline"]
