"""Plain frozen values every room speaks in: blocks, entries, markers, events, views, usage, errors.

Standard library only, no I/O. Start with `entries` (what a task is made of), then `events` (what the
engine says) and `views` (what a screen may show).
"""
