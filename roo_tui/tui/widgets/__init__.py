"""Widgets: each shows values it is given and posts messages; none knows the engine or the app."""
