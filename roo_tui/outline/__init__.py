"""Outlines of source files: what a file defines and at which lines, without the bodies.

`outline` works on a text already read. `Outliner` does the same in a separate process, because parsing holds the
interpreter lock. `languages` says which files can be outlined; `queries/` has one query per language. This package
reads no source files: its callers decide what may be read.
"""

from roo_tui.outline.languages import language_of
from roo_tui.outline.outliner import Outliner
from roo_tui.outline.signatures import LARGEST_CHARACTERS, outline

__all__ = ["LARGEST_CHARACTERS", "Outliner", "language_of", "outline"]
