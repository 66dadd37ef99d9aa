"""The terminal front end: shows what the engine says and turns keys into engine commands.

Start with `app` (start-up, errors), then `screens.chat` (what keys do) and `dispatcher` (event to widget). Widgets show
values and post messages; screens decide; only the dispatcher knows events and widgets.
"""
