"""The chat: the one screen that is always there.

`screen` shows the conversation, `commands` says what keys and slash words do, `dialogs` what happens on other screens.
Commands and dialogs see the screen only through `port`.
"""
