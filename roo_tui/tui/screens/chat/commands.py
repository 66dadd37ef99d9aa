"""The functions of the commands in the table, and of the keys in the titles of rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from roo_tui.commands import notice_of
from roo_tui.domain.ids import parse_entry_ref
from roo_tui.engine_api import EngineApi
from roo_tui.tui import strings
from roo_tui.tui.screens.chat import dialogs
from roo_tui.tui.screens.chat.port import ChatPort

if TYPE_CHECKING:  # only a name: importing rows before the first frame would delay it
    from roo_tui.domain.views import Row

Handler = Callable[[ChatPort, str], None]
"""Takes what followed the slash word, blank where a key was pressed; of a row action, the row's key."""


def _opening(dialog: Callable[[ChatPort, str], Awaitable[None]]) -> Handler:
    return lambda chat, arguments: chat.open(lambda: dialog(chat, arguments))


def interrupt(chat: ChatPort, _: str) -> None:
    """Close what is open, else stop the running job, else dismiss the notice."""
    if chat.close_something():
        return
    if chat.engine is not None and chat.engine.cancel():
        chat.show_hint(strings.CANCELLING)
    else:
        chat.dismiss_notice()
    chat.focus_prompt()


def condense(chat: ChatPort, instructions: str) -> None:
    """Condense the context, with instructions for the summary if there are any."""
    from roo_tui.domain.previews import CondenseRequest

    chat.do(lambda engine: engine.condense(CondenseRequest(instructions)))


HANDLERS: Mapping[str, Handler] = {
    "condense": condense,
    "preview": _opening(dialogs.preview_condense),
    "truncate": lambda chat, _: chat.do(lambda engine: engine.truncate()),
    "context": _opening(dialogs.show_context),
    "undo": _opening(dialogs.undo),
    "redo": _opening(dialogs.redo),
    "rewind": _opening(dialogs.rewind),
    "interrupt": interrupt,
    "new_task": lambda chat, _: chat.do(lambda engine: engine.new_task(), notice_of("new_task")),
    "tasks": _opening(dialogs.choose_task),
    "find": _opening(dialogs.find),
    "expand_all": lambda chat, _: chat.fold_rows(expanded=True),
    "fold_all": lambda chat, _: chat.fold_rows(expanded=False),
    "profile": _opening(dialogs.choose_profile),
    "theme": _opening(dialogs.choose_theme),
    "settings": _opening(dialogs.edit_settings),
    "help": _opening(dialogs.show_help),
    "notices": _opening(dialogs.show_notices),
    "copy": lambda chat, _: chat.copy_selection(),
    "suspend": lambda chat, _: chat.suspend(),
    "quit": lambda chat, _: chat.open(chat.quit),
}
"""Every command that works everywhere in the app, by its id."""


# Rows


def _append_receipt(chat: ChatPort, key: str) -> None:
    chat.do(lambda engine: engine.append_receipt(parse_entry_ref(key)), strings.RECEIPT_APPENDED)


def _condense_instead(chat: ChatPort, key: str) -> None:
    async def undo_then_condense(engine: EngineApi) -> None:
        """Undo the truncation first: what it hides could not be summarised."""
        await engine.undo(parse_entry_ref(key))
        await engine.condense()

    chat.do(undo_then_condense)


def _copy(chat: ChatPort, key: str) -> None:
    async def copy(engine: EngineApi) -> None:
        """Copy the row as it is now."""
        from roo_tui.tui.widgets.rows import copy_text

        row = await _row(engine, key)
        if row is not None:
            chat.copy_text(copy_text(row.body))
            chat.tell(strings.COPIED)

    chat.do(copy)


async def _row(engine: EngineApi, key: str) -> Row | None:
    return next((row for row in await engine.read.rows() if row.key == key), None)


ROW_ACTIONS: Mapping[str, Handler] = {
    "undo": lambda chat, key: chat.do(lambda engine: engine.undo(parse_entry_ref(key))),
    "redo": lambda chat, key: chat.do(lambda engine: engine.redo(parse_entry_ref(key))),
    "append_receipt": _append_receipt,
    "condense_instead": _condense_instead,
    "profile": lambda chat, _: chat.run_command("profile"),
    "retry": lambda chat, _: chat.do(lambda engine: engine.submit("")),
    "retry_condense": lambda chat, _: chat.do(lambda engine: engine.condense()),
    "copy": _copy,
}
"""Every action that a row offers, by its name."""
