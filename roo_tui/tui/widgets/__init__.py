"""Widgets: each shows the values it gets and posts messages; none knows the engine or the app."""
