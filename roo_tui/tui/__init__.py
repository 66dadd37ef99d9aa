"""The terminal front end: shows what the engine says and turns keys into engine commands.

Start with `app` (start-up, errors), then `screens.chat` (commands) and `dispatcher` (events). Widgets show values and
post messages; screens decide; only the dispatcher knows both events and widgets.
"""
