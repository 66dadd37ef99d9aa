"""Everything about the context window: what the model sees, how full it is, when it is reduced and how.

Pure values and functions over a task's entries; no I/O and no model of its own. Start with `effective` (what the model
sees), then `pairing` (valid requests), `policy` (when) and `condense` (how).
"""
