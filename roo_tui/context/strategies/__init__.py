"""Strategies: ways to reduce the context, and the points where others can take part.

Start reading at `protocol.py` (what a strategy is), then `runner.py` (what happens around it). Built in are `native`
(a summary), `smart` (passes), `lossless` (what stands twice is shown once) and `truncation` (by kind and age). A
strategy returns markers and changes nothing itself, so order, pairs and undo are the log's matter, not its own.
"""
