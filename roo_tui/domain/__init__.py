"""Immutable values that all packages share: blocks, entries, markers, events, views, usage and errors.

Standard library only, no I/O. Start with `entries` (what a task consists of), then `events` (what the engine
reports) and `views` (what a screen may show).
"""
