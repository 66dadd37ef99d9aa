"""What the keys in the titles of rows do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roo_tui.domain.ids import parse_entry_ref
from roo_tui.engine_api import EngineApi
from roo_tui.tui import strings

if TYPE_CHECKING:
    from roo_tui.domain.views import Row
    from roo_tui.tui.screens.chat import ChatScreen


class RowActions:
    """Runs the action of a row, named by the row's key."""

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat

    def run(self, key: str, action: str) -> None:
        """Do what a key shown in a row's title stands for."""
        chat = self._chat
        match action:
            case "undo":
                chat.do(lambda engine: engine.undo(parse_entry_ref(key)))
            case "redo":
                chat.do(lambda engine: engine.redo(parse_entry_ref(key)))
            case "append_receipt":
                chat.do(lambda engine: engine.append_receipt(parse_entry_ref(key)), strings.RECEIPT_APPENDED)
            case "condense_instead":
                chat.do(lambda engine: self._condense_instead(engine, key))
            case "profile":
                chat.run_command("profile")
            case "retry":
                chat.do(lambda engine: self._retry(engine, key))
            case "copy":
                chat.do(lambda engine: self._copy(engine, key))

    async def _retry(self, engine: EngineApi, key: str) -> None:
        from roo_tui.domain.views import FailureRow

        row = await _row(engine, key)
        if row is not None and isinstance(row.body, FailureRow) and row.body.title == "Condense failed":
            await engine.condense()
        else:
            await engine.submit("")

    async def _condense_instead(self, engine: EngineApi, key: str) -> None:
        await engine.undo(parse_entry_ref(key))
        await engine.condense()

    async def _copy(self, engine: EngineApi, key: str) -> None:
        from roo_tui.tui.widgets.rows import text_of

        row = await _row(engine, key)
        if row is not None:
            self._chat.app.copy_to_clipboard(text_of(row.body))
            self._chat.tell(strings.COPIED)


async def _row(engine: EngineApi, key: str) -> Row | None:
    return next((row for row in await engine.read.rows() if row.key == key), None)
