"""Without a screen: one prompt or one command in, words or JSON out, an exit code at the end.

Start with `run` (a prompt) and `tasks` (commands on a stored task). What is printed is decided in `output`, who answers
questions in `policy`. Works on the engine's commands and events alone.
"""
