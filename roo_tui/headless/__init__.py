"""Headless mode: one prompt or one command in, text or JSON out, an exit code at the end.

Start with `run` (a prompt, and the answers to questions) and `tasks` (commands on stored tasks); `output` decides what
is printed. Uses only the engine's commands and events.
"""
