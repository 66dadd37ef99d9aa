"""A coding agent for the terminal that can stay in one conversation for days."""

__version__ = "0.1.0"
