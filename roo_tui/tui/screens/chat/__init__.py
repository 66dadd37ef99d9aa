"""The chat: the screen that is always open.

`screen` shows the conversation, `commands` runs keys and slash commands, `dialogs` opens other screens. Commands and
dialogs use the chat only through `port`.
"""
